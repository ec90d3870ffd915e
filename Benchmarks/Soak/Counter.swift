import BluetoothLab

/// An accessory that notifies a number, which grows by 1 each time. The value contains the number's complement, so that
/// a reader can distinguish altered values from wrong ones.
struct Counter: Accessory {
  static let path = CharacteristicPath("2A58", of: "1815")

  var name: String
  /// The time between two notifications.
  var period: Duration
  private(set) var count: UInt32 = 0

  init(name: String, period: Duration) {
    self.name = name
    self.period = period
  }

  var advertising: Advertising {
    var result = Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x1815]), .name(name)]))
    result.schedule = [.every(.milliseconds(100), for: .seconds(30)), .every(.milliseconds(1_022.5))]
    return result
  }

  var services: [AccessoryService] { [AccessoryService("1815", [AccessoryCharacteristic("2A58", [.read, .notify])])] }

  func value(of path: CharacteristicPath) -> [UInt8] { Self.encode(count) }

  mutating func started(_ session: inout AccessoryContext) { session.wake(after: period) }

  mutating func subscriptionChanged(_ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessoryContext) {
    // Discovery has ended, so a slow connection suffices.
    guard isOn else { return }
    session.requestConnection(
      PreferredConnectionParameters(interval: .milliseconds(500), latency: 4, supervisionTimeout: .seconds(6)))
  }

  mutating func timeReached(_ session: inout AccessoryContext) {
    count += 1
    session.notify(Self.path)
    session.wake(after: period)
  }

  static func encode(_ count: UInt32) -> [UInt8] { octets(count) + octets(~count) }

  private static func octets(_ number: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }

  /// Returns nil if the value was altered in transit.
  static func decode(_ octets: [UInt8]) -> UInt32? {
    guard octets.count == 8 else { return nil }
    let count = octets.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return encode(count) == octets ? count : nil
  }
}
