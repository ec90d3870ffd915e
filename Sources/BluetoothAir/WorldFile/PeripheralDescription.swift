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
    /// The included services, which precede this one.
    package var includes: [BluetoothUUID]
    /// The characteristics, in the order of the file.
    package var characteristics: [Characteristic]

    /// Returns the characteristics of which a written value of `characteristic` is the value as well.
    package func echoes(of characteristic: BluetoothUUID) -> [BluetoothUUID] {
      characteristics.filter { $0.echo == characteristic && $0.uuid != characteristic }.map(\.uuid)
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

    /// True if clients can subscribe to the value.
    package var hasSubscriptions: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }
  }

  /// The advertising while no central is connected.
  package var advertising: Advertising
  /// The services, in the order of the file.
  package var services: [Service]
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
    let services = services.map { service in
      PeripheralDescription.Service(
        uuid: service.uuid, isPrimary: service.isPrimary, includes: service.includes,
        characteristics: service.characteristics.compactMap { characteristic in
          states.popFirst().map { Self.description(of: characteristic, $0) }
        })
    }
    return PeripheralDescription(
      advertising: advertising, services: services, preferredParameters: preferredParameters)
  }

  private static func description(
    of characteristic: AccessoryCharacteristic<Self>, _ state: Characteristic
  ) -> PeripheralDescription.Characteristic {
    PeripheralDescription.Characteristic(
      uuid: characteristic.uuid, properties: characteristic.properties, protection: characteristic.protection,
      hasReliableWrite: characteristic.hasReliableWrite, descriptors: characteristic.descriptors,
      values: state.values, period: state.period, maximumLength: state.maximumLength, program: state.program,
      output: state.output, echo: state.echo)
  }
}
