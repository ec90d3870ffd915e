import BluetoothController
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothWire

/// What all devices of one world have in common. Confined to the world, where nobody is called while something of it is
/// accessed.
package final class DeviceEnvironment: @unchecked Sendable {
  /// Who has packets between hosts and controllers go astray; nil: nobody.
  @exclusivity(unchecked) package var faults: (any HCIFaults)?
  /// Where packets between hosts and controllers are written to; nil: nowhere.
  package private(set) var capture: WorldCapture?

  package init() {}

  /// Has everything written to `capture` from now on, or (nil) nothing.
  package func setCapture(_ capture: WorldCapture?, deviceNames: [String], in engine: WorldEngine) {
    self.capture = capture
    engine.observer = capture
    for (index, name) in deviceNames.enumerated() {
      let device = capture?.device(named: name)
      engine.withDevice(RadioID(index: index)) { $0.setCapture(device) }
    }
  }
}

/// A device of a world that has a controller. Confined to the world.
package protocol WorldDevice: Participant {
  func setCapture(_ capture: DeviceCapture?)
  /// By which others know it; nil: it is not known.
  var identityAddress: DeviceAddress? { get }
  /// The controller loses everything that it had and says so: Hardware Error · Vol 4, Part E, 7.7.16.
  func failController(at now: Instant)
  /// The seconds of its sleep clock are longer by this from now on.
  func setClockDrift(partsPerBillion: Int64)
  /// What its radio was used for until now.
  func uses(at now: Instant) -> RadioUses
  /// What has happened on its connections: those that have ended lately, and then those that there are.
  var links: [LinkReport] { get }
  /// Switches the device's Bluetooth on or off, as a user does in the settings.
  func setPower(_ on: Bool, at now: Instant)
  /// Forgets all devices that it has bonded with, as a user does in the settings.
  func forgetBonds(at now: Instant)
  /// Has something done to its host, which is on if the device is; false: it has none that could.
  func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool
  /// The bonds that it keeps, by address.
  var bondRecords: [BondRecord] { get }
  /// Forgets one device; nothing if there is no bond with it.
  func forgetBond(_ identity: DeviceAddress, at now: Instant)
  /// How many bonds it has room for.
  var bondLimit: Int { get }
  /// Takes in a bond from elsewhere.
  func importBond(_ record: BondRecord, at now: Instant)
}

extension WorldDevice {
  package var identityAddress: DeviceAddress? { nil }
  package func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool { false }
  package var bondRecords: [BondRecord] { [] }
  package var bondLimit: Int { 0 }
  package func forgetBond(_ identity: DeviceAddress, at now: Instant) {}
  package func importBond(_ record: BondRecord, at now: Instant) {}
}

extension WorldEngine {
  /// Has something done to a device that has a controller.
  package func withDevice(_ radio: RadioID, _ body: (any WorldDevice) -> Void) {
    with(radio) { participant in
      if let device = participant as? any WorldDevice { body(device) }
    }
  }
}
