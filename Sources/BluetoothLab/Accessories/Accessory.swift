/// Something with a radio that the lab plays itself, without CoreBluetooth: a value that says what it advertises and serves,
/// and what it does when something happens.
///
/// `World.add(_:named:)` puts one into a world. `HeartRateSensor`, `Flashlight` and others are ready-made; your own is a
/// struct that has what it needs of this protocol:
///
/// ```swift
/// struct Counter: Accessory {
///   static let value = CharacteristicPath("2A58", of: "1815")
///   var count: UInt8 = 0
///   var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Counter")])) }
///   var services: [AccessoryService] {
///     [AccessoryService("1815", [AccessoryCharacteristic("2A58", [.read, .notify])])]
///   }
///   func value(of path: CharacteristicPath) -> [UInt8] { [count] }
///   mutating func started(_ session: inout AccessorySession) { session.wake(after: .seconds(1)) }
///   mutating func timeReached(_ session: inout AccessorySession) {
///     count &+= 1
///     session.notify(Self.value)
///     session.wake(after: .seconds(1))
///   }
/// }
/// ```
public protocol Accessory: Sendable {
  /// How it advertises when nobody is connected.
  var advertising: Advertising { get }
  /// What it serves. The services of GAP and GATT are there by themselves. A service that can't be served, for example with
  /// a description of more than 512 octets, stops the program with the reason.
  var services: [AccessoryService] { get }
  /// The value of the characteristic GAP Appearance; 0: unknown.
  var appearance: UInt16 { get }
  /// What a central that reads the characteristic gets, and what a notification holds.
  func value(of path: CharacteristicPath) -> [UInt8]

  /// The device has been turned on.
  mutating func started(_ session: inout AccessorySession)
  /// A central has connected.
  mutating func connected(_ session: inout AccessorySession)
  /// A central has gone, and with it its subscriptions.
  mutating func disconnected(_ reason: DisconnectionReason, _ session: inout AccessorySession)
  /// The time has come that `AccessorySession.wake` was asked for.
  mutating func timeReached(_ session: inout AccessorySession)
  /// A central has begun or ended to listen to a characteristic.
  mutating func subscriptionChanged(_ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessorySession)
  /// A central writes a characteristic.
  ///
  /// - Throws: what the central is answered with.
  mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessorySession
  ) throws(AttributeError)
}

extension Accessory {
  /// Nothing.
  public var services: [AccessoryService] { [] }
  /// Unknown.
  public var appearance: UInt16 { 0 }
  /// Nothing.
  public func value(of path: CharacteristicPath) -> [UInt8] { [] }
  /// Does nothing.
  public mutating func started(_ session: inout AccessorySession) {}
  /// Does nothing.
  public mutating func connected(_ session: inout AccessorySession) {}
  /// Does nothing.
  public mutating func disconnected(_ reason: DisconnectionReason, _ session: inout AccessorySession) {}
  /// Does nothing.
  public mutating func timeReached(_ session: inout AccessorySession) {}
  /// Does nothing.
  public mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessorySession
  ) {}
  /// Refuses: Write Not Permitted.
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessorySession
  ) throws(AttributeError) {
    throw .writeNotPermitted
  }
}
