import BluetoothController
import BluetoothRadio
import BluetoothWire

/// The part of a simulated device that lies below its host: a controller, its HCI link to the host, and the account of
/// its radio's time.
///
/// The device's host may be a daemon, a host without apps, a test's script or another program. The station passes
/// packets to the host by nonescaping closures, which need no allocation. The closures must not use the station.
///
/// Functions that only read are `mutating`, like those of `Controller`.
package struct ControllerStation: ~Copyable {
  package var controller: Controller
  private var wire: HCIWire
  /// The time of the latest event.
  package private(set) var latest = Instant.zero
  private var uses = RadioTimeAccount()

  package init(_ controller: consuming Controller, _ settings: StationSettings) {
    self.controller = controller
    wire = HCIWire(of: settings.device, in: settings.environment, capture: settings.capture)
    self.controller.setSessionObserver(settings.capture?.sessionObserver)
    if let drift = settings.clockDrift { self.controller.setSleepClockDrift(partsPerBillion: drift) }
  }

  /// Replaces the capture; nil: none.
  package mutating func setCapture(_ capture: DeviceCapture?) {
    wire.capture = capture
    controller.setSessionObserver(capture?.sessionObserver)
  }

  // MARK: HCI

  /// Carries a packet from the host to the controller. Returns false if the packet only queried the controller, so that
  /// only packets for the host have been added.
  @discardableResult
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) -> Bool {
    latest = now
    // A delayed packet changes the deadline.
    var hasChanged = wire.isDisturbed
    wire.carry(packet, isFromHost: true, at: now) {
      if controller.receive($0, at: now) { hasChanged = true }
    }
    return hasChanged
  }

  /// Carries the controller's next packet to the host. Returns false if the controller has none.
  ///
  /// - Parameter arrive: takes the packets that the host receives now: one packet, unless a fault applies.
  package mutating func sendPacket(at now: Instant, toHost arrive: (HCI.Packet) -> Void) -> Bool {
    latest = now
    guard let packet = controller.takePacket() else { return false }
    wire.carry(packet, isFromHost: false, at: now, arrive)
    return true
  }

  // MARK: Time and radio

  /// The next call of `timeReached`; nil: none.
  package var deadline: Instant? { mutating get { earliest(wire.deadline, controller.deadline) } }

  /// Delivers the delayed packets that are due, and runs everything that is due in the controller.
  ///
  /// - Parameter arrive: takes the packets that the host receives now.
  package mutating func timeReached(_ now: Instant, toHost arrive: (HCI.Packet) -> Void) {
    latest = now
    wire.timeReached(now, atController: { controller.receive($0, at: now) }, atHost: arrive)
    if let deadline = controller.deadline, deadline <= now { controller.timeReached(now) }
  }

  /// Processes an event of the device's radio.
  package mutating func radio(_ event: RadioEvent, at now: Instant) {
    latest = now
    uses.noteEnd(at: now)
    controller.radio(event, at: now)
  }

  /// Returns the next command for the device's radio; nil: the radio continues.
  package mutating func takeRadioCommand() -> RadioCommand? {
    guard let command = controller.takeRadioCommand() else { return nil }
    uses.note(command, for: controller.radioPurpose, at: latest)
    return command
  }

  /// Returns the use of the device's radio until now.
  package mutating func uses(at now: Instant) -> RadioTimeAccount {
    var result = uses
    result.count(until: now)
    return result
  }

  /// Returns the advertising that begins now, if the controller does nothing else until it is changed from outside; see
  /// `SimulatedDevice.repeatedAdvertising`.
  ///
  /// - Parameter hostDeadline: the next deadline of the host; nil: none.
  package mutating func repeatedAdvertising(at now: Instant, hostDeadline: Instant?) -> RepeatedAdvertising? {
    guard var advertising = controller.repeatedAdvertising(at: now) else { return nil }
    advertising.until = earliest(wire.deadline, hostDeadline)
    return advertising
  }

  /// Counts an event of the controller's advertising that the engine has run; see `SimulatedDevice.endEvent`.
  package mutating func endEvent(_ packets: SkippedPackets) {
    controller.endEvent(at: packets.end)
    uses.skip(packets)
    latest = packets.end
  }

  /// Skips all events of the controller's advertising that end at `limit` or before; see `SimulatedDevice.skip`.
  package mutating func skip(until limit: Instant) -> SkippedPackets? {
    guard let skipped = controller.skip(until: limit) else { return nil }
    uses.skip(skipped)
    latest = skipped.end
    return skipped
  }
}

/// The settings of a device's controllers. The settings exist before the first controller is created, and outlive each
/// controller.
package struct StationSettings {
  let device: RadioID
  let environment: DeviceEnvironment
  package var capture: DeviceCapture?
  /// The sleep clock's drift in parts per billion; nil: the drift of the controller's configuration.
  package var clockDrift: Int64?

  /// - Parameter name: names the device's interface in captures.
  package init(of device: RadioID, in environment: DeviceEnvironment, named name: String) {
    self.device = device
    self.environment = environment
    capture = environment.capture?.device(named: name)
  }
}
