import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// An observer of the calls and callbacks of the apps on a world's devices. Confined to the world.
package protocol CallObserver: AnyObject {
  /// Called when the daemon takes an app's call. `text` is the method with the arguments that distinguish the call.
  func call(_ text: String, on device: RadioID, at now: Instant)
  /// Called when the daemon has an event that leads to a callback, before the app gets it.
  func callback(_ text: String, on device: RadioID, at now: Instant)
}

/// The settings shared by all devices of one world. Confined to the world, which makes no calls while this object is
/// being accessed.
package final class DeviceEnvironment: @unchecked Sendable {
  /// The fault injector for packets between hosts and controllers; nil: no faults.
  @exclusivity(unchecked) package var faults: (any HCIFaults)?
  /// The time of the world's start, in seconds since 2001-01-01 00:00:00 UTC.
  package var epoch: Int64 = 0
  /// The capture that records packets between hosts and controllers; nil: none.
  package private(set) var capture: WorldCapture?
  /// The observer of the calls and callbacks of apps; nil: none.
  @exclusivity(unchecked) package var callObserver: (any CallObserver)?
  /// The observers of packets between hosts and controllers, by device; nil: none, as in most worlds.
  @exclusivity(unchecked) private var hciObservers: [RadioID: any HCIObserver]?

  private let bound: WorldBound

  package init(in bound: WorldBound) { self.bound = bound }

  /// Sets the observer of the packets between the host and the controller of a device; nil: none.
  func setHCIObserver(_ observer: (any HCIObserver)?, of device: RadioID) {
    bound.check()
    var observers = hciObservers ?? [:]
    observers[device] = observer
    hciObservers = observers.isEmpty ? nil : observers
  }

  /// Passes a packet to the observer of its device, if there is one.
  @inline(__always)
  func observe(_ packet: HCI.Packet, isFromHost: Bool, on device: RadioID) {
    bound.check()
    if let hciObservers { hciObservers[device]?.packet(packet, isFromHost: isFromHost) }
  }

  /// Writes all following packets to `capture`, or to none if it is nil.
  package func setCapture(_ capture: WorldCapture?, deviceNames: [String], in engine: WorldEngine) {
    bound.check()
    self.capture = capture
    engine.observer = capture
    for (index, name) in deviceNames.enumerated() {
      let device = capture?.device(named: name)
      engine.withDevice(RadioID(index: index)) { $0.setCapture(device) }
    }
  }
}

/// A device of a world that has a controller. Confined to the world.
package protocol WorldDevice: SimulatedDevice {
  func setCapture(_ capture: DeviceCapture?)
  /// Sets the observer of the packets between host and controller; nil: none.
  func setHCIObserver(_ observer: (any HCIObserver)?)
  /// The address by which other devices know this device; nil: unknown.
  var identityAddress: DeviceAddress? { get }
  /// Returns true if the device uses or has used this address on the air.
  func hasAddress(_ address: DeviceAddress) -> Bool
  /// Makes the controller lose all its state and send a Hardware Error event · Vol 4, Part E, 7.7.16.
  func failController(at now: Instant)
  /// Sets the drift of the device's sleep clock: from now on its seconds are longer by `partsPerBillion`.
  func setClockDrift(partsPerBillion: Int64)
  /// Returns the use of the device's radio until now.
  func uses(at now: Instant) -> RadioTimeAccount
  /// The reports of the device's connections: recently ended ones first, then the current ones.
  var links: [LinkReport] { get }
  /// The device's connection attempts by peer and role.
  var attempts: [AttemptReport] { get }
  /// True if the device's Bluetooth is on; nil: unknown, because its host belongs to another program.
  var isPowered: Bool? { get }
  /// Switches the device's Bluetooth on or off, as a user does in the settings.
  func setPower(_ on: Bool, at now: Instant)
  /// Switches the device off, as for a restart, which `setPower` completes. Returns true if Bluetooth was on.
  func restart(at now: Instant) -> Bool
  /// Forgets all bonds, as a user does in the settings.
  func forgetBonds(at now: Instant)
  /// Forgets all bonds and gives all peers new identifiers, as a user does in the settings.
  func resetNetworkSettings(at now: Instant)
  /// The notifications that accessories get, oldest first.
  var notifications: [SystemNotification] { get }
  /// The actions on notifications that accessories have performed, oldest first.
  var notificationActions: [NotificationAction] { get }
  /// Adds a notification, or replaces the one with the same identifier.
  func post(_ notification: SystemNotification, at now: Instant)
  /// Removes a notification.
  func removeNotification(_ identifier: String, at now: Instant)
  /// Allows or denies a bonded accessory to get notifications.
  func setNotificationSharing(_ isAllowed: Bool, with identity: DeviceAddress, at now: Instant)
  /// Adds a server of services that the system of the device provides.
  func serve(_ server: any SystemServer, at now: Instant)
  /// Calls `body`, which changes values of such a server, with the device's host.
  func changeServices(at now: Instant, _ body: (inout Host) -> Void)
  /// Allows or denies an app the use of Bluetooth, as a user does in the settings.
  func setAccess(_ isAllowed: Bool, ofApp app: String, at now: Instant)
  /// Calls `body` with the device's host, which is on if the device is. Returns false if the device has no accessible
  /// host.
  func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool
  /// The stored bonds, by address.
  var bondRecords: [BondRecord] { get }
  /// Forgets the bond with one device, if there is one.
  func forgetBond(_ identity: DeviceAddress, at now: Instant)
  /// The maximum number of bonds.
  var bondLimit: Int { get }
  /// Imports a bond from another source.
  func importBond(_ record: BondRecord, at now: Instant)
}

extension WorldDevice {
  package var identityAddress: DeviceAddress? { nil }
  package var isPowered: Bool? { nil }
  package func setHCIObserver(_ observer: (any HCIObserver)?) {}
  package func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool { false }
  package var bondRecords: [BondRecord] { [] }
  package var bondLimit: Int { 0 }
  package func restart(at now: Instant) -> Bool { false }
  package func resetNetworkSettings(at now: Instant) {}
  package var notifications: [SystemNotification] { [] }
  package var notificationActions: [NotificationAction] { [] }
  package func post(_ notification: SystemNotification, at now: Instant) {}
  package func removeNotification(_ identifier: String, at now: Instant) {}
  package func setNotificationSharing(_ isAllowed: Bool, with identity: DeviceAddress, at now: Instant) {}
  package func serve(_ server: any SystemServer, at now: Instant) {}
  package func changeServices(at now: Instant, _ body: (inout Host) -> Void) {}
  package func setAccess(_ isAllowed: Bool, ofApp app: String, at now: Instant) {}
  package func forgetBond(_ identity: DeviceAddress, at now: Instant) {}
  package func importBond(_ record: BondRecord, at now: Instant) {}
}

extension WorldEngine {
  /// Calls `body` with the device of that radio, if it has a controller.
  package func withDevice(_ radio: RadioID, _ body: (any WorldDevice) -> Void) {
    with(radio) { device in
      if let device = device as? any WorldDevice { body(device) }
    }
  }
}
