import BluetoothLab
import BluetoothProfiles

/// An accessory that notifies a number, which increases by 1 each time. The value also contains the number's bitwise
/// complement, so that a reader can distinguish values altered by faults from values in the wrong order.
struct Counter: Accessory {
  /// The number and its complement.
  struct Value: AttributeValue {
    var count: UInt32

    init(count: UInt32) { self.count = count }

    /// Throws an error if the value was altered in transit.
    init(from reader: inout ValueReader) throws(ValueError) {
      count = try reader.uint32()
      guard try reader.uint32() == ~count else { throw .outOfRange(field: "Complement") }
    }

    func write(to writer: inout ValueWriter) {
      writer.integer(count)
      writer.integer(~count)
    }
  }

  static let value = Characteristic<Value>(0x2A58, of: 0x1815)

  var name: String
  /// The time between two notifications.
  var period: Duration
  private(set) var count: UInt32 = 0

  init(name: String, period: Duration) {
    self.name = name
    self.period = period
  }

  var advertising: Advertising {
    var result = Advertising(AdvertisingPayload(fitting: [.flags(), .services([0x1815]), .name(name)]))
    result.schedule = [.every(.milliseconds(100), for: .seconds(30)), .every(.milliseconds(1_022.5))]
    return result
  }

  var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        0x1815, [AccessoryCharacteristic(Self.value, [.read, .notify], value: { Value(count: $0.count) })])
    ]
  }

  mutating func started(in context: inout AccessoryContext) { context.wake(after: period) }

  mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    // Discovery has ended, so a slow connection suffices.
    guard isOn else { return }
    context.requestConnection(
      PreferredConnectionParameters(interval: .milliseconds(500), latency: 4, supervisionTimeout: .seconds(6)))
  }

  mutating func timeReached(in context: inout AccessoryContext) {
    count += 1
    context.notify(Self.value)
    context.wake(after: period)
  }

  /// Returns nil if the value was altered in transit.
  static func decode(_ octets: [UInt8]) -> UInt32? { (try? Value(octets))?.count }
}
