/// A key fob that sounds an alarm on command or when its link is lost: Immediate Alert (0x1802), Link Loss (0x1803)
/// and Tx Power (0x1804).
///
/// After a central connects, the key fob requests a short connection interval, which speeds up service discovery, and
/// later a long one.
public struct KeyFob: Accessory {
  /// The loudness of an alarm · Alert Level, 0x2A06.
  public enum AlertLevel: UInt8, Hashable, Sendable, CaseIterable {
    /// No alarm.
    case none = 0
    /// A mild alarm.
    case mild = 1
    /// A loud alarm.
    case high = 2
  }

  /// Alert Level of Immediate Alert: a write starts or stops the alarm at once.
  public static let immediateAlert = CharacteristicPath("2A06", of: "1802")
  /// Alert Level of Link Loss: the alarm to sound when the link is lost.
  public static let linkLoss = CharacteristicPath("2A06", of: "1803")
  /// Tx Power Level.
  public static let transmitPowerLevel = CharacteristicPath("2A07", of: "1804")

  /// The advertised name.
  public var name: String
  /// The alarm that sounds now.
  public var alert = AlertLevel.none
  /// The alarm that starts when the link is lost.
  public var linkLossAlert = AlertLevel.none
  /// The value of Tx Power Level, −100 to 20 dBm. It does not set the radio's transmit power.
  public var transmitPower: Int8
  /// The connection parameters requested first; nil for none. Like every peripheral, the key fob waits at least 5 s
  /// after the connection.
  public var fast: PreferredConnectionParameters? = PreferredConnectionParameters(interval: .milliseconds(15))
  /// The time for which the key fob keeps the parameters in `fast`.
  public var fastTime: Duration = .seconds(5)
  /// The connection parameters requested after `fastTime`; nil for none.
  public var slow: PreferredConnectionParameters? = PreferredConnectionParameters(
    interval: .milliseconds(500), latency: 4, supervisionTimeout: .seconds(6))

  /// Creates a key fob whose alarm is off.
  public init(name: String = "Key Fob", transmitPower: Int8 = 0) {
    self.name = name
    self.transmitPower = transmitPower
  }

  /// Connectable advertising with Flags, service UUIDs, transmit power and name: every 20 ms for 30 s, then every
  /// 1,022.5 ms.
  public var advertising: Advertising {
    var result = Advertising(
      AdvertisingPayload(
        fitting: [.flags(), .services16([0x1802, 0x1803, 0x1804]), .transmitPower(transmitPower), .name(name)]))
    result.schedule = [.every(.milliseconds(20), for: .seconds(30)), .every(.milliseconds(1_022.5))]
    return result
  }

  /// Generic Keyring.
  public var appearance: UInt16 { 0x0240 }

  /// The Immediate Alert, Link Loss and Tx Power services.
  public var services: [AccessoryService] {
    [
      AccessoryService("1802", [AccessoryCharacteristic("2A06", .writeWithoutResponse)]),
      AccessoryService("1803", [AccessoryCharacteristic("2A06", [.read, .write])]),
      AccessoryService("1804", [AccessoryCharacteristic("2A07", .read)]),
    ]
  }

  /// Returns the value in one octet.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.linkLoss: [linkLossAlert.rawValue]
    case Self.transmitPowerLevel: [UInt8(bitPattern: transmitPower)]
    default: []
    }
  }

  /// TGAP(conn_pause_peripheral): the delay before the request for a fast connection · Vol 3, Part C, Appendix A.
  private static let pause = Duration.seconds(5)

  /// Requests the parameters in `fast`, and schedules those in `slow`.
  public mutating func connected(_ session: inout AccessoryContext) {
    alert = .none
    if let fast { session.requestConnection(fast) }
    if slow != nil { session.wake(after: fast == nil ? fastTime : Self.pause + fastTime) }
  }

  /// Requests the parameters in `slow`.
  public mutating func timeReached(_ session: inout AccessoryContext) {
    if let slow { session.requestConnection(slow) }
  }

  /// Sounds `linkLossAlert` if the link was lost (Connection Timeout), not if it was terminated.
  public mutating func disconnected(_ reason: HCIErrorCode, _ session: inout AccessoryContext) {
    session.wake(after: nil)
    if reason == .connectionTimeout { alert = linkLossAlert }
  }

  /// Stores an alert level.
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard value.count == 1, let octet = value.first else { throw .invalidAttributeValueLength }
    guard let level = AlertLevel(rawValue: octet) else { throw .valueNotAllowed }
    switch path {
    case Self.immediateAlert: alert = level
    case Self.linkLoss: linkLossAlert = level
    default: throw .writeNotPermitted
    }
  }
}
