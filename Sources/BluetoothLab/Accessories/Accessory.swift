/// A simulated peripheral without CoreBluetooth: a value that defines its advertising, its services and its
/// behaviour.
///
/// `World.add(_:named:)` adds an accessory to a world. `HeartRateSensor`, `Flashlight` and others are ready-made. To
/// define another one, write a struct that implements the requirements it needs:
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
///   mutating func started(_ session: inout AccessoryContext) { session.wake(after: .seconds(1)) }
///   mutating func timeReached(_ session: inout AccessoryContext) {
///     count &+= 1
///     session.notify(Self.value)
///     session.wake(after: .seconds(1))
///   }
/// }
/// ```
public protocol Accessory: Sendable {
  /// The advertising while no central is connected.
  var advertising: Advertising { get }
  /// The GATT services, besides the GAP and GATT services, which are added automatically. A service that can't be
  /// served, for example because a user description exceeds 512 octets, stops the program with the reason.
  var services: [AccessoryService] { get }
  /// The value of the GAP Appearance characteristic; 0 means unknown.
  var appearance: UInt16 { get }
  /// Returns the characteristic's value, which answers reads and is sent in notifications and indications.
  func value(of path: CharacteristicPath) -> [UInt8]

  /// Called when the device has been turned on.
  mutating func started(_ session: inout AccessoryContext)
  /// Called when a central has connected.
  mutating func connected(_ session: inout AccessoryContext)
  /// Called when a central has disconnected. Its subscriptions have ended.
  mutating func disconnected(_ reason: HCIErrorCode, _ session: inout AccessoryContext)
  /// Called when the time passed to `AccessoryContext.wake(after:)` has elapsed.
  mutating func timeReached(_ session: inout AccessoryContext)
  /// Called when a central has subscribed to a characteristic or unsubscribed from it.
  mutating func subscriptionChanged(_ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessoryContext)
  /// Handles a write of a characteristic by a central.
  ///
  /// - Throws: the error that answers the central's request.
  mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessoryContext
  ) throws(ATTErrorCode)
}

extension Accessory {
  /// No services.
  public var services: [AccessoryService] { [] }
  /// 0: unknown.
  public var appearance: UInt16 { 0 }
  /// Returns an empty value.
  public func value(of path: CharacteristicPath) -> [UInt8] { [] }
  /// Does nothing.
  public mutating func started(_ session: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func connected(_ session: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func disconnected(_ reason: HCIErrorCode, _ session: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func timeReached(_ session: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessoryContext
  ) {}
  /// Throws `writeNotPermitted`.
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessoryContext
  ) throws(ATTErrorCode) {
    throw .writeNotPermitted
  }
}
