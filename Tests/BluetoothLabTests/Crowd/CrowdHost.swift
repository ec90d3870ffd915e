import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import DequeModule

/// A device whose host uses all HCI procedures at times that its seed determines, and complains about every incorrect
/// event. Confined to its world.
final class CrowdHost: WorldDevice {
  /// The maximum duration of a procedure. A device runs one procedure after the other, up to seven. Each ends within 40
  /// s (Vol 6, Part B, 5.2), or at an instant that a slow link with latency reaches in the same time, or the link ends.
  private static let longestProcedure = TimeSpan.seconds(290)

  struct Advertiser {
    var address: HCI.PeerAddress
    var sid: UInt8
    var secondaryPHY: UInt8
  }

  let name: String
  let number: Int
  let address: UInt64
  /// The key that generates the device's private addresses; 0: it uses none.
  let key: UInt128
  /// True if faults are planned between the host and its controller, or on the air in its name.
  let isSpoiled: Bool
  let notes: CrowdNotes
  let pool: PacketPool
  private var station: ControllerStation
  var random: RandomStream
  let isLegacy: Bool
  let advertises: Bool
  let scans: Bool

  var connections: [CrowdLink] = []
  var isAdvertising = false
  var isTraining = false
  var isScanning = false
  var initiatingSince: Instant?
  var synchronizingSince: Instant?
  var syncs: [HCI.SyncHandle] = []
  /// The connectable devices, and those with periodic advertising, that were heard last.
  var connectable: [Advertiser] = []
  var periodic: [Advertiser] = []

  /// The devices that the host knows; empty until it has met them.
  var circle: [Acquaintance] = []
  /// The known devices that may use their identity address, and those on the filter accept list.
  var tolerated: Set<UInt64> = []
  var accepted: Set<UInt64> = []
  /// True if the current activity is restricted to devices of the filter accept list.
  var (scansForAccepted, initiatesToAccepted, advertisesToAccepted) = (false, false, false)

  private var commands: Deque<HCI.Command> = []
  private var data: Deque<HCI.ACLData> = []
  /// The command that the controller has not answered.
  private var unanswered: (command: HCI.Command, since: Instant)?
  private var nextAction: Instant
  private var isOn = true

  init(
    _ name: String, number: Int, isSpoiled: Bool, configuration: ControllerConfiguration, radio: RadioID,
    environment: DeviceEnvironment, generator: RandomStream, pool: PacketPool, notes: CrowdNotes, at now: Instant
  ) {
    self.name = name
    self.number = number
    self.isSpoiled = isSpoiled
    self.notes = notes
    self.pool = pool
    address = configuration.address.value
    // Not every device can resolve a private address, but devices with faults must be identifiable.
    key = number % 3 == 0 && !isSpoiled ? UInt128(number + 1) &* 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835 : 0
    if isSpoiled { notes.spoiledAddresses.insert(address) }
    notes.introduce(number, Acquaintance(address: HCI.PeerAddress(configuration.address), key: key))
    station = ControllerStation(
      Controller(configuration: configuration, random: generator.split("controller"), pool: pool),
      StationSettings(of: radio, in: environment, named: name))
    random = generator.split("host")
    isLegacy = number % 4 == 3
    advertises = number % 5 != 0
    scans = number % 5 < 3
    nextAction = now + .milliseconds(Int64(random.next() % 3_000))
    deadline = nextAction
    start()
  }

  /// Returns a number below `limit`.
  func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

  func send(_ command: HCI.Command) { commands.append(command) }

  // MARK: SimulatedDevice

  private(set) var deadline: Instant?

  func timeReached(_ now: Instant) {
    var arrived: [HCI.Packet] = []
    station.timeReached(now) { arrived.append($0) }
    for packet in arrived { receive(packet, at: now) }
    if nextAction <= now {
      nextAction = now + .milliseconds(Int64(3_000 + random.next() % 12_000))
      if isOn { act(at: now) }
    }
    exchange(at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    station.radio(event, at: now)
    exchange(at: now)
  }

  func takeRadioCommand() -> RadioCommand? { station.takeRadioCommand() }
  func processRequests(at now: Instant) { exchange(at: now) }

  // MARK: WorldDevice

  func forgetBonds(at now: Instant) {}
  func setPower(_ on: Bool, at now: Instant) { isOn = on }
  func setCapture(_ capture: DeviceCapture?) { station.setCapture(capture) }
  func uses(at now: Instant) -> RadioTimeAccount { station.uses(at: now) }
  var links: [LinkReport] { station.controller.links }
  var attempts: [AttemptReport] { station.controller.attempts }
  func hasAddress(_ address: DeviceAddress) -> Bool { station.controller.hasAddress(address) }
  func setClockDrift(partsPerBillion: Int64) {
    station.controller.setSleepClockDrift(partsPerBillion: partsPerBillion)
  }
  func failController(at now: Instant) {
    station.controller.fail(at: now)
    exchange(at: now)
  }

  // MARK: Between host and controller

  private func exchange(at now: Instant) {
    while true {
      while let packet = takePacket(at: now) { station.receive(packet, at: now) }
      var arrived: [HCI.Packet] = []
      guard station.sendPacket(at: now, toHost: { arrived.append($0) }) else { break }
      // The host looks at the controller's links, so it receives when the station is free again.
      for packet in arrived { receive(packet, at: now) }
    }
    if let unanswered, !isSpoiled { complain("\(unanswered.command) is not answered at once", at: now) }
    deadline = earliest(station.deadline, nextAction)
  }

  private func takePacket(at now: Instant) -> HCI.Packet? {
    guard unanswered == nil, let command = commands.popFirst() else { return data.popFirst().map { .acl($0) } }
    unanswered = (command, now)
    return command.packet(in: pool)
  }

  func complain(_ text: String, at now: Instant) {
    if !isSpoiled { notes.complain("\(name): \(text)", at: now) }
  }

  private func receive(_ packet: HCI.Packet, at now: Instant) {
    switch packet {
    case .command: complain("the controller sends a command", at: now)
    case .acl(let packet): receive(packet, at: now)
    case .event(let code, let parameters):
      guard let event = try? HCI.Event(code: code, parameters: parameters) else {
        return complain("event \(code) can't be read", at: now)
      }
      if !answer(event, at: now) { handle(event, at: now) }
    }
  }

  /// Returns true if the event answers the pending command.
  private func answer(_ event: HCI.Event, at now: Instant) -> Bool {
    let (opcode, status): (HCI.Opcode, HCI.ErrorCode?)
    switch event {
    case .commandComplete(_, let answered, let result): (opcode, status) = (answered, result.status)
    case .commandStatus(let result, _, let answered): (opcode, status) = (answered, result)
    default: return false
    }
    guard let (command, _) = unanswered, command.opcode == opcode else {
      complain("an answer to \(opcode) that was not asked for", at: now)
      return true
    }
    unanswered = nil
    guard status == .success else {
      if Self.mustSucceed(command) { complain("\(command) fails: \(event)", at: now) }
      return true
    }
    if let (handle, procedure) = command.procedure, let index = index(of: handle) {
      connections[index].begin(procedure, at: now)
    }
    switch command {
    case .leCreateConnection, .leExtendedCreateConnection: initiatingSince = now
    case .lePeriodicAdvertisingCreateSync: synchronizingSince = now
    default: break
    }
    noteFilter(of: command)
    return true
  }

  // MARK: Data

  /// Sends a frame to the controller, unless it already has enough.
  func sendFrame(on index: Int) {
    guard connections.reduce(0, { $0 + $1.inFlight }) < 16 else { return }
    connections[index].sent += 1
    connections[index].inFlight += 1
    notes.streams[connections[index].stream].sent += 1
    let frame = CrowdFrame(stream: connections[index].stream, number: connections[index].sent)
    data.append(
      HCI.ACLData(handle: connections[index].handle, boundary: .firstNonFlushable, payload: ByteSlice(frame.octets)))
  }

  private func receive(_ packet: HCI.ACLData, at now: Instant) {
    guard let index = index(of: packet.handle) else { return complain("data of no connection", at: now) }
    if packet.boundary == .firstFlushable { connections[index].assembly.removeAll(keepingCapacity: true) }
    connections[index].assembly += packet.payload.bytes
    guard let length = CrowdFrame.length(ofFrameBeginning: connections[index].assembly),
      connections[index].assembly.count >= length
    else { return }
    defer { connections[index].assembly.removeAll(keepingCapacity: true) }
    guard let frame = CrowdFrame(octets: connections[index].assembly), Int(frame.stream) < notes.streams.count else {
      return spoil(connections[index], "a frame that nobody has sent", at: now)
    }
    let stream = Int(frame.stream)
    if isSpoiled { notes.streams[stream].isSpoiled = true }
    guard !notes.streams[stream].isSpoiled else { return }
    if Int(frame.number) != notes.streams[stream].received + 1 {
      complain("frame \(frame.number) of \(stream) after \(notes.streams[stream].received)", at: now)
    }
    notes.streams[stream].received = Int(frame.number)
    notes.done(connections[index].isEncrypted ? "encrypted data" : "data")
  }

  private func spoil(_ link: CrowdLink, _ text: String, at now: Instant) {
    if !isSpoiled, !notes.spoiledAddresses.contains(link.peer) { complain(text, at: now) }
  }

  // MARK: Links

  func index(of handle: HCI.ConnectionHandle) -> Int? { connections.firstIndex { $0.handle == handle } }

  /// Resets the state after a start, or when the controller has lost everything.
  func forget() {
    connections.removeAll()
    (isAdvertising, isTraining, isScanning) = (false, false, false)
    (initiatingSince, synchronizingSince) = (nil, nil)
    syncs.removeAll()
    circle.removeAll()
    tolerated.removeAll()
    accepted.removeAll()
    (scansForAccepted, initiatesToAccepted, advertisesToAccepted) = (false, false, false)
    data.removeAll()
    commands.removeAll()
    unanswered = nil
  }

  /// Complains about procedures that take too long.
  func checkProcedures(at now: Instant) {
    for link in connections {
      for (procedure, since) in link.pending where now - since > Self.longestProcedure {
        complain("\(procedure) on \(link.handle) has not ended since \(since.sinceZero.duration)", at: now)
        if let index = index(of: link.handle) { connections[index].end(procedure) }
      }
    }
    // A host that loses commands starts again.
    if let unanswered, now - unanswered.since > .seconds(5) {
      forget()
      start()
    }
  }
}
