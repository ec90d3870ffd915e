/// A key fob that sounds an alarm when it is told to or when its link is lost: Immediate Alert (0x1802), Link Loss (0x1803)
/// and Tx Power (0x1804).
///
/// It asks for a fast connection when somebody has connected, so that everything is found soon, and for a slow one when that
/// must be over.
public struct KeyFob: Accessory {
  /// How loud · Alert Level, 0x2A06.
  public enum AlertLevel: UInt8, Hashable, Sendable, CaseIterable {
    /// Silence.
    case none = 0
    /// A mild alarm.
    case mild = 1
    /// A loud one.
    case high = 2
  }

  /// Alert Level of Immediate Alert: written, and obeyed at once.
  public static let immediateAlert = CharacteristicPath("2A06", of: "1802")
  /// Alert Level of Link Loss: what the loss of the link is worth.
  public static let linkLoss = CharacteristicPath("2A06", of: "1803")
  /// Tx Power Level.
  public static let transmitPowerLevel = CharacteristicPath("2A07", of: "1804")

  /// What it calls itself.
  public var name: String
  /// What it sounds now.
  public var alert = AlertLevel.none
  /// What it sounds when the link is lost.
  public var linkLossAlert = AlertLevel.none
  /// dBm, −100 to 20; it is what the characteristic says, not what the radio does.
  public var transmitPower: Int8
  /// The connection parameters that it asks for first; nil: none. As every peripheral it asks 5 s after connecting at the
  /// earliest.
  public var fast: ConnectionWish? = ConnectionWish(interval: .milliseconds(15))
  /// The time for which it keeps those parameters.
  public var fastTime: Duration = .seconds(5)
  /// What it asks for then; nil: nothing.
  public var slow: ConnectionWish? = ConnectionWish(
    interval: .milliseconds(500), latency: 4, supervisionTimeout: .seconds(6))

  /// A silent key fob.
  public init(name: String = "Key Fob", transmitPower: Int8 = 0) {
    self.name = name
    self.transmitPower = transmitPower
  }

  /// Connectable, with Flags, services, transmit power and name: 20 ms for 30 s, then 1,022.5 ms.
  public var advertising: Advertising {
    var result = Advertising(
      AdvertisingPayload(
        fitting: [.flags(), .services16([0x1802, 0x1803, 0x1804]), .transmitPower(transmitPower), .name(name)]))
    result.schedule = [.every(.milliseconds(20), for: .seconds(30)), .every(.milliseconds(1_022.5))]
    return result
  }

  /// Generic Keyring.
  public var appearance: UInt16 { 0x0240 }

  /// Immediate Alert, Link Loss and Tx Power.
  public var services: [AccessoryService] {
    [
      AccessoryService("1802", [AccessoryCharacteristic("2A06", .writeWithoutResponse)]),
      AccessoryService("1803", [AccessoryCharacteristic("2A06", [.read, .write])]),
      AccessoryService("1804", [AccessoryCharacteristic("2A07", .read)]),
    ]
  }

  /// One octet each.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.linkLoss: [linkLossAlert.rawValue]
    case Self.transmitPowerLevel: [UInt8(bitPattern: transmitPower)]
    default: []
    }
  }

  /// TGAP(conn_pause_peripheral): so long the request for a fast connection waits · Vol 3, Part C, Appendix A.
  private static let pause = Duration.seconds(5)

  /// Asks for a fast connection.
  public mutating func connected(_ session: inout AccessorySession) {
    alert = .none
    if let fast { session.requestConnection(fast) }
    if slow != nil { session.wake(after: fast == nil ? fastTime : Self.pause + fastTime) }
  }

  /// Asks for a slow connection.
  public mutating func timeReached(_ session: inout AccessorySession) {
    if let slow { session.requestConnection(slow) }
  }

  /// Sounds the alarm if the link was lost, and not ended.
  public mutating func disconnected(_ reason: DisconnectionReason, _ session: inout AccessorySession) {
    session.wake(after: nil)
    if reason == .connectionTimeout { alert = linkLossAlert }
  }

  /// Takes an alert level.
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessorySession
  ) throws(AttributeError) {
    guard value.count == 1, let octet = value.first else { throw .invalidLength }
    guard let level = AlertLevel(rawValue: octet) else { throw .valueNotAllowed }
    switch path {
    case Self.immediateAlert: alert = level
    case Self.linkLoss: linkLossAlert = level
    default: throw .writeNotPermitted
    }
  }
}
