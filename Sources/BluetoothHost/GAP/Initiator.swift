import BluetoothWire

/// Keeps the controller connecting to the devices that are waited for: to one by its address, to several through the
/// Filter Accept List · Vol 4, Part E, 7.8.12 to 7.8.17. By ear, to one who was heard, at the address that it has then.
struct Initiator {
  private enum Step {
    case add(DeviceAddress)
    case remove(DeviceAddress)
    case create(Attempt)
    case cancel
  }

  private struct Attempt: Equatable {
    var targets: [DeviceAddress]
    /// The first one's address on the air.
    var address: DeviceAddress?
  }

  /// Somebody who is waited for was heard.
  private struct Sighting {
    let identity: DeviceAddress
    var address: DeviceAddress
    /// If nothing comes of it by then, it has gone, or changed its address.
    var until: Instant
  }

  private enum Phase {
    case idle
    case initiating(Attempt)
    /// Until LE Connection Complete has come.
    case cancelling(until: Instant?)
  }

  /// How long LE Connection Complete may take after a cancellation.
  private static let cancellationTimeout = TimeSpan.seconds(2)
  /// How long some devices are waited for where the accept list has no room for all.
  private static let rotationTime = TimeSpan.seconds(5)
  /// How long one who was heard is tried: the longest advertising interval of connectable legacy PDUs is 10.24 s · Vol 4,
  /// Part E, 7.8.5.
  static let sightingTime = TimeSpan.seconds(12)

  /// In the order in which they were asked for.
  private(set) var wanted: [DeviceAddress] = []
  /// Those that a link exists to: the controller refuses a second one.
  private var linked: [DeviceAddress] = []
  /// What the accept list holds, and how much it can.
  private var list: [DeviceAddress] = []
  private var capacity = 1
  private var phase = Phase.idle
  private var inFlight: Step?
  /// The attempt ended before the controller has answered the command that began it.
  private var endedEarly = false
  /// Something has changed since nothing was to be done.
  private var isDirty = false
  private var isPaused = false
  /// Cancels the attempt and begins it again, because the controller may have stopped it.
  private var restarts = false
  /// The controller would not know all who are waited for: this host listens for them itself, and has them connected to when
  /// it hears them.
  var isByEar = false {
    didSet { if !isByEar, oldValue { sightings.removeAll() } }
  }
  private var sightings: [Sighting] = []
  /// When those that the accept list has no room for take their turn.
  private var rotation: Instant? { didSet { alarm = earliest(rotation, doubt.deadline) } }
  private var doubt = ListDoubt() { didSet { alarm = earliest(rotation, doubt.deadline) } }
  /// Stored: it is asked for much more often than it changes.
  private var alarm: Instant?

  init(acceptListSize: Int = 0) { capacity = max(1, acceptListSize) }

  var deadline: Instant? {
    let next = if case .cancelling(let until) = phase { earliest(until, doubt.deadline) } else { alarm }
    return sightings.isEmpty ? next : sightings.reduce(next) { earliest($0, $1.until) }
  }

  mutating func connect(to address: DeviceAddress) {
    guard !wanted.contains(address) else { return }
    wanted.append(address)
    isDirty = true
  }

  mutating func cancel(_ address: DeviceAddress) {
    wanted.removeAll { $0 == address }
    sightings.removeAll { $0.identity == address }
    isDirty = true
  }

  /// Who is known by which address may be otherwise now.
  mutating func reconsider() { isDirty = true }

  /// Whether the controller is relied upon to know somebody who is waited for, and has never shown that it does.
  mutating func rely(onUnprovenList relies: Bool, at now: Instant) { doubt.update(relies: relies, at: now) }

  /// Whether those who are waited for are to be connected to by ear for a while, to find out about the controller.
  var isInDoubt: Bool { doubt.listens }

  /// By ear: somebody advertises whom one can connect to.
  mutating func heard(_ identity: DeviceAddress, at address: DeviceAddress, _ now: Instant) {
    guard wanted.contains(identity), !linked.contains(identity) else { return }
    let until = now + Self.sightingTime
    if let index = sightings.firstIndex(where: { $0.identity == identity }) {
      sightings[index].until = until
      guard sightings[index].address != address else { return }
      sightings[index].address = address
    } else {
      sightings.append(Sighting(identity: identity, address: address, until: until))
    }
    isDirty = true
  }

  /// Nobody can be connected to before somebody is heard.
  var listens: Bool {
    guard isByEar, !isPaused, case .idle = phase, sightings.isEmpty else { return false }
    return wanted.contains { !linked.contains($0) }
  }

  mutating func linkCameAbout(_ address: DeviceAddress) {
    linked.append(address)
    sightings.removeAll { $0.identity == address }
    isDirty = true
  }

  mutating func linkEnded(_ address: DeviceAddress) {
    if let index = linked.firstIndex(of: address) { linked.remove(at: index) }
    isDirty = true
  }

  /// A link has come about without the host's knowledge, and may have ended the attempt.
  mutating func restart() {
    guard case .initiating = phase else { return }
    restarts = true
    isDirty = true
  }

  /// Nobody is connected to, or those that are wanted are again.
  mutating func pause(_ isPaused: Bool) {
    guard self.isPaused != isPaused else { return }
    self.isPaused = isPaused
    isDirty = true
  }

  /// The controller does nothing for it.
  var isQuiet: Bool {
    if case .idle = phase { inFlight == nil } else { false }
  }

  /// The controller has forgotten all, or never taken anything; what is wanted stays.
  mutating func forgetController() {
    phase = .idle
    restarts = false
    inFlight = nil
    rotation = nil
    doubt = ListDoubt()
    sightings.removeAll()
    isDirty = true
  }

  /// There may be a next command.
  var hasWork: Bool { isDirty && inFlight == nil }

  /// The next command; nil: there is nothing to do now.
  mutating func next(_ commands: InitiatingCommands, at now: Instant) -> HCI.Command? {
    guard hasWork else { return nil }
    let eligible = self.eligible
    let targets = Array(eligible.prefix(isByEar ? 1 : capacity))
    let attempt = Attempt(targets: targets, address: targets.first.map { self.address(of: $0) })
    switch phase {
    case .cancelling: return nil
    case .initiating(let current):
      if current == attempt, !restarts {
        isDirty = false
        rotation = eligible.count > targets.count ? rotation ?? now + Self.rotationTime : nil
        return nil
      }
      rotation = nil
      restarts = false
      phase = .cancelling(until: nil)
      inFlight = .cancel
      return .leCreateConnectionCancel
    case .idle:
      guard let address = attempt.address else {
        isDirty = false
        return nil
      }
      if targets.count > 1, let command = nextForList(targets) { return command }
      inFlight = .create(attempt)
      endedEarly = false
      return commands.create(address, usesAcceptList: targets.count > 1)
    }
  }

  /// Those that can be connected to.
  private var eligible: [DeviceAddress] {
    if isPaused { return [] }
    let free = wanted.filter { !linked.contains($0) }
    return isByEar ? free.filter { identity in sightings.contains { $0.identity == identity } } : free
  }

  /// What a device is called on the air, as far as this host has to know.
  private func address(of identity: DeviceAddress) -> DeviceAddress {
    sightings.first { $0.identity == identity }?.address ?? identity
  }

  /// The next change that makes the accept list hold `targets` and nothing else.
  private mutating func nextForList(_ targets: [DeviceAddress]) -> HCI.Command? {
    if let stale = list.first(where: { !targets.contains($0) }) {
      inFlight = .remove(stale)
      return .leRemoveDeviceFromFilterAcceptList(HCI.PeerAddress(stale))
    }
    if let missing = targets.first(where: { !list.contains($0) }) {
      inFlight = .add(missing)
      return .leAddDeviceToFilterAcceptList(HCI.PeerAddress(missing))
    }
    return nil
  }

  /// The command has ended. The result is the devices that could not be connected to because of it.
  mutating func ended(_ status: HCI.ErrorCode, at now: Instant) -> [DeviceAddress] {
    let step = inFlight
    inFlight = nil
    isDirty = true
    switch step {
    case .add(let address):
      // The list is shorter than it was said to be.
      if status == .success { list.append(address) } else { capacity = max(1, list.count) }
    case .remove(let address): list.removeAll { $0 == address }
    case .create(let attempt):
      guard status == .success else {
        give(up: attempt.targets)
        return attempt.targets
      }
      phase = endedEarly ? .idle : .initiating(attempt)
    case .cancel:
      guard case .cancelling = phase else { break }
      // Refused: there is nothing to cancel, so LE Connection Complete has come or will not come.
      phase = status == .success ? .cancelling(until: now + Self.cancellationTimeout) : .idle
    case nil: break
    }
    return []
  }

  /// LE Connection Complete without a link. The result is the devices that could not be connected to because of it.
  mutating func attemptFailed(_ status: HCI.ErrorCode, _ address: DeviceAddress?) -> [DeviceAddress] {
    let targets: [DeviceAddress]
    switch (phase, inFlight) {
    case (.initiating(let current), _): targets = current.targets
    case (_, .create(let current)?): targets = current.targets
    default: targets = []
    }
    attemptEnded()
    // That is what a cancelled attempt ends with.
    guard status != .unknownConnectionIdentifier else { return [] }
    let failed = targets.filter { $0 == address }
    let lost = failed.isEmpty ? targets : failed
    give(up: lost)
    return lost
  }

  private mutating func give(up lost: [DeviceAddress]) {
    wanted.removeAll { lost.contains($0) }
    sightings.removeAll { lost.contains($0.identity) }
  }

  /// LE Connection Complete with a link in the central role. The result says whether the device is still wanted, by the name
  /// that it has now or by its address on the air.
  mutating func attemptSucceeded(_ identity: DeviceAddress, at address: DeviceAddress) -> Bool {
    attemptEnded()
    let isWanted = wanted.contains { $0 == identity || $0 == address }
    give(up: [identity, address])
    return isWanted
  }

  private mutating func attemptEnded() {
    if case .create? = inFlight { endedEarly = true }
    phase = .idle
    restarts = false
    rotation = nil
    isDirty = true
  }

  mutating func timeReached(_ now: Instant) {
    guard let deadline, deadline <= now else { return }
    if doubt.timeReached(now) { isDirty = true }
    if sightings.contains(where: { $0.until <= now }) {
      sightings.removeAll { $0.until <= now }
      isDirty = true
    }
    switch phase {
    case .idle: break
    case .cancelling(let until): if let until, until <= now { attemptEnded() }
    case .initiating(let attempt):
      guard let rotation, rotation <= now else { break }
      self.rotation = nil
      wanted = wanted.filter { !attempt.targets.contains($0) } + wanted.filter { attempt.targets.contains($0) }
      isDirty = true
    }
  }
}
