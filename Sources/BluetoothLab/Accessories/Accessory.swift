import BluetoothProfiles

/// A simulated peripheral without CoreBluetooth: a value that defines its advertising, its services and its
/// behaviour.
///
/// `World.add(_:named:)` adds an accessory to a world. `HeartRateSensor`, `Flashlight` and others are ready-made. To
/// define another one, write a struct that implements the requirements it needs:
///
/// ```swift
/// struct Doorbell: Accessory {
///   static let immediateAlert: BluetoothUUID = 0x1802
///   static let alert = Characteristic<AlertLevel>(of: immediateAlert)
///   var level = AlertLevel.noAlert
///   var charge: UInt8 = 100
///
///   var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Doorbell")])) }
///   var services: [AccessoryService<Doorbell>] {
///     [
///       AccessoryService(
///         Self.immediateAlert,
///         [AccessoryCharacteristic(Self.alert, .write, written: { bell, level, _ in bell.level = level })]),
///       .battery(level: \.charge),
///     ]
///   }
///
///   mutating func started(in context: inout AccessoryContext) { context.wake(after: .seconds(60)) }
///   mutating func timeReached(in context: inout AccessoryContext) {
///     charge -= 1
///     context.notify(BatteryPack.batteryLevel)
///     if charge > 0 { context.wake(after: .seconds(60)) }
///   }
/// }
/// ```
public protocol Accessory: Sendable {
  /// The advertising while no central is connected.
  var advertising: Advertising { get }
  /// The GATT services, besides the GAP and GATT services, which are added automatically. They are read once, when the
  /// device is turned on. A service that can't be served, for example because a user description exceeds 512 octets,
  /// stops the program with the reason.
  var services: [AccessoryService<Self>] { get }
  /// The value of the GAP Appearance characteristic.
  var appearance: Appearance { get }
  /// The handle of the declaration of the GAP service, 1 to 65,000, which the GATT service follows. `Device.serve` uses
  /// the services of its device instead.
  var firstHandle: UInt16 { get }

  /// Called when the device has been turned on.
  mutating func started(in context: inout AccessoryContext)
  /// Called when a central has connected.
  mutating func connected(in context: inout AccessoryContext)
  /// Called when a central has disconnected. Its subscriptions have ended.
  ///
  /// - Parameters:
  ///   - reason: the reason for the disconnection, as the controller reports it.
  ///   - context: the state of the accessory's connections, and its actions.
  mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext)
  /// Called when the time passed to `AccessoryContext.wake(after:)` has elapsed.
  mutating func timeReached(in context: inout AccessoryContext)
  /// Called after `AccessoryDevice.update(_:)` or `act(_:)` has changed the accessory, for example to apply a new
  /// interval.
  mutating func updated(in context: inout AccessoryContext)
  /// Called when a central has subscribed to a characteristic or unsubscribed from it. Other centrals may still be
  /// subscribed: `AccessoryContext.hasSubscribers(_:)`.
  mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext)
  /// Called when a notification has been passed to the controller, or a client has confirmed an indication: there is
  /// room for one more. The client is `AccessoryContext.client`.
  mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext)
  /// Called when a write of `AccessoryContext.writeToCentrals(_:of:)` to one central, `AccessoryContext.client`, has
  /// ended. A write without a response has ended when it has been passed to the controller.
  ///
  /// - Parameters:
  ///   - characteristic: the characteristic of the central's server.
  ///   - error: the reason why the value was not written; nil: it was written.
  ///   - context: the state of the accessory's connections, and its actions.
  mutating func centralWriteEnded(
    of characteristic: CharacteristicPath, because error: CentralWriteError?, in context: inout AccessoryContext)
}

extension Accessory {
  /// No services.
  public var services: [AccessoryService<Self>] { [] }
  /// 0: unknown.
  public var appearance: Appearance { Appearance(rawValue: 0) }
  /// 1, the first handle.
  public var firstHandle: UInt16 { 1 }
  /// Does nothing.
  public mutating func started(in context: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func connected(in context: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func timeReached(in context: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func updated(in context: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {}
  /// Does nothing.
  public mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {}
  /// Does nothing.
  public mutating func centralWriteEnded(
    of characteristic: CharacteristicPath, because error: CentralWriteError?, in context: inout AccessoryContext
  ) {}
}
