// Overview
//
// A controller has two sides: HCI towards the host, and the link layer towards the radio. BluetoothController is a
// complete one, with one radio for all activities: advertising, scanning, initiating, connections, encryption, privacy
// and periodic trains.
//
// The idea: `Controller` is a few values that own their state. `AdvertisingEngine`, `ScanningEngine`,
// `InitiatingEngine`, `PeriodicSyncs` and `ConnectionTable` are the states of the link layer. `RadioControl` is the
// radio that they share, and `LocalDevice` has the rest that they share: addresses, features, sleep clock, filters,
// events for the host. The controller passes packets, radio events and times to them. A state gets what it needs of the
// others as `inout` parameters, and returns its next `RadioStep`.
//
// One radio does one thing at a time, so every activity that knows in advance when it needs the radio says so in the
// same form, a `TimeslotRequest`, and one `RadioScheduler` decides. Its rules are in `RadioScheduler.swift`.
//
// Callers: BluetoothSimulation's `ControllerStation` owns a controller and connects it with a host and a radio. The
// module calls BluetoothCrypto and BluetoothWire, and describes its use of the radio with BluetoothRadio's values.
//
// Invariants:
// - The controller has no clock and no randomness of its own: both are arguments.
// - What it claims is true: features, supported commands and event masks each follow from one place
//   (`Controller+Commands.swift`).
// - Everything that a peer can make grow has a limit, and a full buffer leads to the link layer's flow control, not to
//   loss.
// - A controller reports the keys of its sessions to a `SessionObserver`, and without one to no one.
// - The folders use each other in one direction only; `FolderTests` has the table.
//
// Where to begin: `receive`, `radio` and `timeReached` in this file; `RadioScheduler.swift`; then one state:
// `Connection.swift` with `EventSchedule.swift`, `LinkARQ.swift` and `ControlProcedures.swift`. Further rules are at
// the head of `ScanningEngine.swift`, `Encryption.swift` and `ResolvingList.swift`.
//
// Specification: Vol 6, Part B (link layer); Vol 4, Part E (HCI); Vol 6, Part B, 5.1 (control procedures).

import BluetoothRadio
import BluetoothWire

/// A Bluetooth LE controller: the device side of HCI and a link layer over one radio · Vol 4, Part E; Vol 6, Part B.
///
/// The owner passes in packets from the host, radio events and the time. The controller returns `deadline`, the time of
/// the next call, and queues packets for the host until the owner takes them. Each engine (advertising, scanning,
/// initiating, connections) is a value that owns its state; the controller passes events to the engines, together with
/// the state of other engines that they need.
///
/// Functions that only read are `mutating`, too: for a non-mutating call on a value that is being changed, the
/// compiler copies the whole value.
package struct Controller: ~Copyable {
  var device: LocalDevice
  var radioControl = RadioControl()
  var host = HostSettings()
  var cryptography = Cryptography()
  var advertising = AdvertisingEngine()
  var scanning = ScanningEngine()
  var initiating = InitiatingEngine()
  /// The periodic advertising trains that the controller receives.
  var syncs = PeriodicSyncs()
  var connections = ConnectionTable()

  /// Creates a controller.
  ///
  /// - Parameters:
  ///   - random: the source of all randomness in this controller.
  ///   - pool: the source of the packets' octets; it belongs to the controller's executor.
  package init(configuration: ControllerConfiguration, random: RandomStream, pool: PacketPool) {
    device = LocalDevice(configuration: configuration, random: random, pool: pool)
  }

  /// Processes a packet from the host. Returns true if the packet may have changed anything other than the packets
  /// queued for the host; false if the host only asked for information.
  @discardableResult
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) -> Bool {
    switch packet {
    case .command(let opcode, let parameters): if !command(opcode, parameters, at: now) { return false }
    case .acl(let data): connections.send(data, device: &device, at: now)
    // Only controllers send events.
    case .event: return false
    }
    settle(at: now)
    return true
  }

  /// Processes an event of the radio.
  package mutating func radio(_ event: RadioEvent, at now: Instant) {
    radioControl.take(event)
    passToRadioOwner(event, at: now)
    settle(at: now)
  }

  /// Runs everything that is due. The owner calls this function when `deadline` has come.
  package mutating func timeReached(_ now: Instant) {
    if radioControl.timerEnds(at: now) { timerEnded(at: now) }
    connections.checkDeadlines(at: now, into: &device.output)
    advertising.checkDeadlines(device: &device, radio: &radioControl, at: now)
    scanning.checkDeadline(initiating: &initiating, radio: &radioControl, into: &device.output, at: now)
    syncs.checkDeadlines(radio: &radioControl, into: &device.output, at: now)
    settle(at: now)
  }

  /// The time of the next call of `timeReached`; nil if none is needed before another event.
  package var deadline: Instant? {
    mutating get {
      var result = min(radioControl.deadline, connections.deadline, advertising.deadline)
      result = min(result, scanning.deadline, syncs.deadline)
      return result == .distantFuture ? nil : result
    }
  }

  /// Returns the next packet for the host, in order; nil if there is none.
  package mutating func takePacket() -> HCI.Packet? { device.output.takePacket() }

  /// The number of packets queued for the host. While the host does not read, the numbers of data packets and
  /// advertising reports are limited; the number of events that peers cause on a link is not.
  package var waitingPackets: Int { mutating get { device.output.packets.count } }

  /// Stops accepting data from the peers on these links, and accepts data on all other links. The controller does not
  /// acknowledge the data, so the peers retransmit it: the link layer's flow control · Vol 6, Part B, 4.5.9. The
  /// connections stay up, and link layer procedures continue.
  package mutating func holdLinks(_ links: [HCI.ConnectionHandle]) { device.output.heldLinks = links }

  /// The number of the host's ACL packets that are not completely acknowledged.
  package var heldPackets: Int { mutating get { connections.heldPackets } }

  /// Returns the radio's next command; nil: the radio continues with the present one.
  package mutating func takeRadioCommand() -> RadioCommand? { radioControl.takeCommand() }

  /// Restores the state after power on, with nothing on the air · Vol 4, Part E, 7.3.2.
  mutating func reset() {
    device.reset()
    host = HostSettings()
    cryptography = Cryptography()
    advertising.reset()
    scanning.reset()
    initiating.reset()
    syncs = PeriodicSyncs()
    connections.reset()
    radioControl.reset()
  }

  // MARK: Observation

  /// The reports of the established connections that have ended recently, followed by the present connections.
  package var links: [LinkReport] { mutating get { connections.links } }

  /// The connection attempts by peer and role.
  package var attempts: [AttemptReport] { mutating get { connections.attempts.entries } }

  /// Returns true if the device itself uses this address, apart from private addresses.
  package mutating func hasAddress(_ address: DeviceAddress) -> Bool {
    address == device.configuration.address || address == device.randomAddress
  }

  /// Returns the statistics of a connection so far, or of the last established connection with this handle that has
  /// ended; nil: neither is known.
  package mutating func linkStatistics(of handle: HCI.ConnectionHandle) -> ConnectionStatistics? {
    connections.statistics(of: handle)
  }

  /// Reports the keys of sessions that begin from now on to `observer`; nil: no reports.
  package mutating func setSessionObserver(_ observer: (any SessionObserver)?) { device.output.sessions = observer }

  /// The present purpose of the radio. A packet that is still being sent when its activity has ended belongs to the
  /// purpose of that activity.
  package enum RadioPurpose: Hashable, Sendable {
    case advertising, scanning, connections
  }

  /// The present purpose; nil: the same as before, or none.
  package var radioPurpose: RadioPurpose? {
    mutating get {
      switch radioControl.owner {
      case .free, .finishing: nil
      case .listening, .scanRequest, .connecting: .scanning
      case .activity(.connection): .connections
      case .activity(.advertising), .activity(.auxiliaryAdvertising), .activity(.periodicAdvertising): .advertising
      case .activity(.auxiliaryReception), .activity(.periodicSync): .scanning
      }
    }
  }

  // MARK: Repeated advertising

  /// Returns the advertising of a set whose event is due at `now`, if this is the only activity of the controller and
  /// has no limit; nil otherwise. The owner can compute its events without running the controller. See
  /// `CulledTransmitters`.
  package mutating func repeatedAdvertising(at now: Instant) -> RepeatedAdvertising? {
    guard case .advertising(let index)? = radioControl.onlyActivity(at: now), !scanning.isEnabled, !initiating.isActive,
      connections.isEmpty, device.resolvingList.isEmpty, device.output.isEmpty, syncs.deadline == .distantFuture
    else { return nil }
    return advertising.repeatedAdvertising(of: index)
  }

  /// Counts an event of the set in `repeatedAdvertising` that the owner has run, and that has ended at `end`.
  package mutating func endEvent(at end: Instant) {
    guard case .advertising(let index)? = radioControl.scheduler.onlyActivity else { return }
    advertising.endEvent(index, at: end, random: &device.random, radio: &radioControl)
  }

  /// Skips all events of the set in `repeatedAdvertising` that end at `limit` or before, and returns their packets;
  /// nil: none.
  package mutating func skip(until limit: Instant) -> SkippedPackets? {
    guard case .advertising(let index)? = radioControl.scheduler.onlyActivity else { return nil }
    return advertising.skip(index, until: limit, random: &device.random, radio: &radioControl)
  }
}
