import BluetoothLab

/// The description of a peripheral in a world file, if the file describes it completely: its advertising, its services
/// and its values.
package struct PeripheralDescription: Hashable, Sendable {
  /// A service.
  package struct Service: Hashable, Sendable {
    /// The UUID in the form of the file.
    package var uuid: BluetoothUUID
    /// True for a primary service.
    package var isPrimary: Bool
    /// The indices of the included services.
    package var includes: [Int]
    /// The handle of the declaration; nil: the next one.
    package var handle: UInt16?
    /// The times at which the service is there.
    package var presence: Presence
    /// The characteristics, in the order of the file.
    package var characteristics: [Characteristic]

    /// Returns the characteristics of which a written value of `characteristic` is the value as well.
    package func echoes(of characteristic: BluetoothUUID) -> [BluetoothUUID] {
      characteristics.filter { $0.echo == characteristic && $0.uuid != characteristic }.map(\.uuid)
    }
  }

  /// The times since the start at which a service is there.
  package struct Presence: Hashable, Sendable {
    /// The time from which the service is there; nil: from the start.
    package let from: Duration?
    /// The time at which the service is removed; nil: never. Before `from`, the service is there at the start, too.
    package let until: Duration?

    /// True if the service is there all the time.
    package var isAlways: Bool { from == nil && until == nil }

    /// Returns true if the service is there at a time since the start.
    package func contains(_ age: Duration) -> Bool {
      switch (from ?? .zero, until) {
      case (let from, nil): age >= from
      case (let from, let until?) where from < until: age >= from && age < until
      case (let from, let until?): age >= from || age < until
      }
    }

    /// Returns the next time after `age` at which the service may be added or removed.
    package func next(after age: Duration) -> Duration? {
      [from, until].compactMap { $0 }.filter { $0 > age }.min()
    }
  }

  /// Accesses of a characteristic that the server does not authorize: Insufficient Authorization.
  package struct Refusal: Hashable, Sendable {
    package let accesses: Set<AttributeAccess>
    /// The time since the start from which they are authorized; nil: never.
    package let until: Duration?

    /// Returns true if an access at a time since the start is authorized.
    package func permits(_ access: AttributeAccess, at age: Duration) -> Bool {
      !accesses.contains(access) || until.map { age >= $0 } ?? false
    }
  }

  /// A characteristic.
  package struct Characteristic: Hashable, Sendable {
    /// The UUID in the form of the file.
    package var uuid: BluetoothUUID
    /// The operations that clients may perform on the value.
    package var properties: CharacteristicProperties
    /// The link security that reads, writes and subscriptions require.
    package var protection: CharacteristicProtection
    /// True if the file wants reliable writes.
    package var hasReliableWrite: Bool
    /// The descriptors, besides those that are added automatically.
    package var descriptors: [AccessoryDescriptor]
    /// The values of successive notifications, of which the first one is the value at the beginning; empty: the value
    /// has no octets.
    package var values: [[UInt8]]
    /// The interval between notifications; nil: only a new value is notified.
    package var period: Duration?
    /// The longest value that a client may write, in octets.
    package var maximumLength: Int
    /// The program that the values come from; nil: they come from the file.
    package var program: ValueProgram?
    /// The way in which the program's output is a value.
    package var output: ValueProgram.Output
    /// The characteristic of the same service whose written values are the values of this one; nil: none.
    package var echo: BluetoothUUID?
    /// The accesses that are not authorized; nil: all are.
    package var refusal: Refusal?
    /// The permissions; nil: those that the properties and the protection need.
    package var permissions: AttributePermissions?
    /// The handle of the declaration; nil: the next one.
    package var handle: UInt16?
    /// True if the file shows clients other properties than those that are served.
    package var showsOtherProperties: Bool

    /// True if clients can subscribe to the value.
    package var hasSubscriptions: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
  }

  /// The advertising while no central is connected.
  package var advertising: Advertising
  /// The services, in the order of the file.
  package var services: [Service]
  /// The indices of the services in an order in which each follows those that it includes.
  package var publishingOrder: [Int] = []
  /// True if the file gives the GAP service a handle.
  package var movesSystemServices = false
  /// The connection parameters that the peripheral requests after each connection; nil: none.
  package var preferredParameters: PreferredConnectionParameters?
}

extension WorldFile.Member {
  /// The description of the device; nil: the device is an accessory of the lab, which has a program of its own.
  package var description: PeripheralDescription? {
    switch accessory {
    case let peripheral as DescribedPeripheral: peripheral.description
    case is Broadcaster, is IBeacon: PeripheralDescription(advertising: accessory.advertising, services: [])
    default: nil
    }
  }
}

extension DescribedPeripheral {
  /// The description in the file.
  fileprivate var description: PeripheralDescription {
    var states = characteristics[...]
    let described = zip(services, presences).enumerated().map { index, element in
      let (service, presence) = element
      return PeripheralDescription.Service(
        uuid: service.uuid, isPrimary: service.isPrimary,
        includes: AccessoryService.servicesIncluded(by: index, in: services), handle: service.handle,
        presence: presence,
        characteristics: service.characteristics.compactMap { characteristic in
          states.popFirst().map { Self.description(of: characteristic, $0) }
        })
    }
    return PeripheralDescription(
      advertising: advertising, services: described, publishingOrder: AccessoryService.orderOfInclusion(services),
      movesSystemServices: firstHandle != 1, preferredParameters: preferredParameters)
  }

  private static func description(
    of characteristic: AccessoryCharacteristic<Self>, _ state: Characteristic
  ) -> PeripheralDescription.Characteristic {
    PeripheralDescription.Characteristic(
      uuid: characteristic.uuid, properties: characteristic.properties, protection: characteristic.protection,
      hasReliableWrite: characteristic.hasReliableWrite, descriptors: characteristic.descriptors,
      values: state.values, period: state.period, maximumLength: state.maximumLength, program: state.program,
      output: state.output, echo: state.echo, refusal: state.refusal, permissions: characteristic.permissions,
      handle: characteristic.handle, showsOtherProperties: characteristic.shownProperties != nil)
  }
}
