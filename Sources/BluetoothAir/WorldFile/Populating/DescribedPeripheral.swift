import BluetoothLab
import BluetoothProfiles

/// A peripheral that a world file describes completely. GATT clients may write the values of its characteristics, and
/// the peripheral notifies subscribed clients of values periodically.
struct DescribedPeripheral: Accessory {
  /// A characteristic, and the sequence of its values.
  struct Characteristic: Hashable, Sendable {
    let path: CharacteristicPath
    /// The index of the service. Several services may have one UUID.
    let service: Int
    /// The values of successive notifications; after the last one, the first one follows.
    let values: [[UInt8]]
    /// The interval between periodic notifications; nil: only a write to the value causes a notification.
    let period: Duration?
    /// The longest value that a client may write, in octets.
    let maximumLength: Int
    /// True if the value can be notified, indicated or broadcast.
    let sendsUpdates: Bool
    /// The program that gives the values when `ble serve` plays the peripheral. In a world, no program runs.
    let program: ValueProgram?
    /// The way in which the program's output is a value.
    let output: ValueProgram.Output
    /// The characteristic of the same service whose written values are the values of this one; nil: none.
    let echo: BluetoothUUID?
    /// The accesses that are not authorized; nil: all are.
    let refusal: Refusal?

    fileprivate(set) var value: [UInt8]
    private var next = 1
    /// The time of the next notification; nil if no client is subscribed.
    fileprivate var due: Duration?

    init(
      path: CharacteristicPath, service: Int, values: [[UInt8]], period: Duration?, maximumLength: Int,
      sendsUpdates: Bool, program: ValueProgram? = nil, output: ValueProgram.Output = .text, echo: BluetoothUUID? = nil,
      refusal: Refusal? = nil
    ) {
      (self.path, self.service, self.values, self.period) = (path, service, values, period)
      (self.maximumLength, self.sendsUpdates) = (maximumLength, sendsUpdates)
      (self.program, self.output, self.echo, self.refusal) = (program, output, echo, refusal)
      value = values.first ?? []
    }

    /// Advances to the next value. If the file defines at most one value, the current value stays, even if a client has
    /// written the value.
    fileprivate mutating func advance() {
      guard values.count > 1 else { return }
      value = values[next % values.count]
      next += 1
    }
  }

  /// Accesses that the server does not authorize.
  typealias Refusal = PeripheralDescription.Refusal

  /// The times since the start at which a service is there.
  typealias Presence = PeripheralDescription.Presence

  var advertising = Advertising()
  private(set) var services: [AccessoryService<Self>] = []
  /// The presence of each service.
  private(set) var presences: [Presence] = []
  var firstHandle: UInt16 = 1
  /// The time at which the device was turned on.
  private var start = Duration.zero
  var appearance = Appearance(rawValue: 0)
  /// The connection parameters that the peripheral requests after each connection; nil: none.
  var preferredParameters: PreferredConnectionParameters?
  private(set) var characteristics: [Characteristic] = []

  /// The number of characteristics that have been added.
  var count: Int { characteristics.count }

  /// Returns the number of characteristics with this UUID in all services with that UUID.
  func number(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> Int {
    characteristics.filter { $0.path.characteristic == characteristic && $0.path.service == service }.count
  }

  mutating func add(_ characteristic: Characteristic) { characteristics.append(characteristic) }

  mutating func add(_ service: AccessoryService<Self>, _ presence: Presence) {
    services.append(service)
    presences.append(presence)
  }

  /// Returns the definition of the characteristic that will be added at `index`.
  static func definition(
    _ path: CharacteristicPath, _ properties: CharacteristicProperties, at index: Int
  ) -> AccessoryCharacteristic<Self> {
    var definition = AccessoryCharacteristic<Self>(
      octetsOf: path, properties, read: { $0.characteristics[index].value },
      write: { (peripheral, octets, context) throws(ATTErrorCode) in
        try peripheral.write(octets, at: index, &context)
      })
    definition.authorize = { peripheral, access, context in
      peripheral.characteristics[index].refusal?.permits(access, at: context.now - peripheral.start) ?? true
    }
    return definition
  }

  mutating func started(in context: inout AccessoryContext) {
    start = context.now
    updateServices(&context)
    schedule(&context)
  }

  /// Adds and removes the services whose time has come. Those whose presence has not changed stay as they are.
  private func updateServices(_ context: inout AccessoryContext) {
    for (index, presence) in presences.enumerated() where !presence.isAlways {
      context.setService(at: index, isPresent: presence.contains(context.now - start))
    }
  }

  /// The services that come and go after the start, in the order of `updateServices`.
  var changes: [(index: Int, isPresent: Bool)] {
    Set(presences.flatMap { [$0.from, $0.until].compactMap { $0 } }).sorted().flatMap { age in
      presences.indices.filter { !presences[$0].isAlways }.map { ($0, presences[$0].contains(age)) }
    }
  }

  mutating func connected(in context: inout AccessoryContext) {
    if let preferredParameters { context.requestConnection(preferredParameters) }
  }

  mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    schedule(&context)
  }

  mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) { schedule(&context) }

  mutating func timeReached(in context: inout AccessoryContext) {
    updateServices(&context)
    for index in characteristics.indices {
      guard let due = characteristics[index].due, due <= context.now else { continue }
      characteristics[index].due = nil
      characteristics[index].advance()
      context.notify(characteristics[index].path)
    }
    schedule(&context)
  }

  /// Schedules the next notification and the next change of a service. A period begins when a client subscribes, and after each notification.
  private mutating func schedule(_ context: inout AccessoryContext) {
    let age = context.now - start
    var next = presences.compactMap { $0.next(after: age) }.min().map { start + $0 }
    for index in characteristics.indices {
      guard let period = characteristics[index].period, context.subscriptions.contains(characteristics[index].path)
      else {
        characteristics[index].due = nil
        continue
      }
      let due = characteristics[index].due ?? context.now + period
      characteristics[index].due = due
      next = min(next ?? due, due)
    }
    context.wake(after: next.map { $0 - context.now })
  }

  private mutating func write(
    _ value: [UInt8], at index: Int, _ context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard value.count <= characteristics[index].maximumLength else { throw .invalidAttributeValueLength }
    let (uuid, service) = (characteristics[index].path.characteristic, characteristics[index].service)
    let echoes = characteristics.indices.filter {
      $0 != index && characteristics[$0].echo == uuid && characteristics[$0].service == service
    }
    for index in [index] + echoes {
      characteristics[index].value = value
      if characteristics[index].sendsUpdates { context.notify(characteristics[index].path) }
    }
  }
}
