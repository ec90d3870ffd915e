import BluetoothWire

/// The host's connection establishment state machine. It makes the controller connect to the wanted devices: to a
/// single device by its address, to several through the Filter Accept List · Vol 4, Part E, 7.8.12 to 7.8.17. When
/// connecting by scanning (`connectsByScanning`), it connects to one device whose advertising was received, at the
/// advertised address.
struct HostInitiator {
  private enum Step {
    case add(DeviceAddress)
    case remove(DeviceAddress)
    /// `hasEnded`: the attempt has ended before the controller has answered the command.
    case create(Attempt, hasEnded: Bool)
    case cancel
  }

  private struct Attempt: Equatable {
    var targets: [DeviceAddress]
    /// The address of the first target on the air.
    var address: DeviceAddress?
  }

  /// A wanted device whose advertising was received while connecting by scanning.
  private struct Sighting {
    let identity: DeviceAddress
    var address: DeviceAddress
    /// The time limit of the attempt. A device that is not connected by then has gone, or has changed its address.
    var until: Instant
  }

  /// The method by which the wanted devices are found.
  private enum Method {
    /// The controller finds the devices, by an address or by the Filter Accept List.
    case acceptList
    /// The host scans, and connects to a device after it has received the device's advertising, because the controller
    /// cannot resolve the addresses of all wanted devices.
    case scanning([Sighting])
  }

  /// The progress of the controller towards the wanted state.
  private enum Progress {
    /// The wanted state is unchanged since the last check, which found no command due.
    case settled
    /// The wanted state has changed, so a command may be due.
    case unsettled
    /// The controller executes a command. Another one may be due when it ends.
    case executing(Step)
  }

  private enum Phase {
    case idle
    /// The controller has refused LE Create Connection; the host tries again at the given time.
    case refused(until: Instant)
    /// The controller is initiating. At the time `rotation`, wanted devices outside the accept list take their turn.
    case initiating(Attempt, rotation: Instant?)
    /// The host must cancel the attempt and start it again, because the controller may have stopped it.
    case mustRestart(Attempt, rotation: Instant?)
    /// The attempt is being cancelled, until LE Connection Complete arrives.
    case cancelling(until: Instant?)

    /// The controller's attempt; nil: the controller is not initiating, or the attempt is being cancelled.
    var attempt: Attempt? {
      switch self {
      case .initiating(let attempt, _), .mustRestart(let attempt, _): attempt
      case .idle, .refused, .cancelling: nil
      }
    }

    var deadline: Instant? {
      switch self {
      case .idle: nil
      case .refused(let until): until
      case .initiating(_, let rotation), .mustRestart(_, let rotation): rotation
      case .cancelling(let until): until
      }
    }
  }

  /// The maximum wait for LE Connection Complete after a cancellation.
  private static let cancellationTimeout = TimeSpan.seconds(2)
  /// The duration of an attempt when the accept list is too short for all wanted devices, which then take turns.
  private static let rotationTime = TimeSpan.seconds(5)
  /// The minimum time from a refusal of LE Create Connection to the next attempt. Without this pause, an app that
  /// retries immediately would keep the host and the controller busy forever, and simulated time would not advance.
  static let refusalPause = TimeSpan.milliseconds(100)
  /// The duration of an attempt to connect to a device whose advertising was received. The longest advertising interval
  /// of connectable legacy PDUs is 10.24 s · Vol 4, Part E, 7.8.5.
  static let sightingTime = TimeSpan.seconds(12)

  /// The devices to connect to, in the order of the requests.
  private(set) var requestedDevices: [DeviceAddress] = []
  /// The devices with a link. The controller rejects a second link to a device.
  private var linked: [DeviceAddress] = []
  /// The devices in the controller's accept list; `capacity` is the size of that list.
  private var list: [DeviceAddress] = []
  private var capacity = 1
  private var phase = Phase.idle { didSet { setTimer() } }
  private var progress = Progress.settled
  /// True while connecting is suspended, whatever has been requested.
  private var isPaused = false
  private var method = Method.acceptList
  private var probe = ResolvingListProbe() { didSet { setTimer() } }
  /// The earliest deadline of `phase` and `probe`. It is stored because it is read much more often than it changes.
  private var timer: Instant?

  init(acceptListSize: Int = 0) { capacity = max(1, acceptListSize) }

  private mutating func setTimer() { timer = earliest(phase.deadline, probe.deadline) }

  var deadline: Instant? {
    switch method {
    case .acceptList: timer
    case .scanning(let sightings): sightings.reduce(timer) { earliest($0, $1.until) }
    }
  }

  /// True if the host connects by scanning.
  var connectsByScanning: Bool {
    switch method {
    case .acceptList: false
    case .scanning: true
    }
  }

  /// Chooses the method by which the wanted devices are found.
  mutating func connect(byScanning: Bool) {
    guard byScanning != connectsByScanning else { return }
    method = byScanning ? .scanning([]) : .acceptList
  }

  /// The received advertising of wanted devices; always empty unless the host connects by scanning.
  private var sightings: [Sighting] {
    switch method {
    case .acceptList: []
    case .scanning(let sightings): sightings
    }
  }

  private mutating func removeSightings(where isRemoved: (Sighting) -> Bool) {
    guard case .scanning(var sightings) = method, !sightings.isEmpty else { return }
    // Without a second reference, the array is not copied.
    method = .scanning([])
    sightings.removeAll(where: isRemoved)
    method = .scanning(sightings)
  }

  /// Records that a command may be due.
  private mutating func noteChange() {
    switch progress {
    case .settled: progress = .unsettled
    case .unsettled, .executing: break
    }
  }

  mutating func connect(to address: DeviceAddress) {
    guard !requestedDevices.contains(address) else { return }
    requestedDevices.append(address)
    noteChange()
  }

  mutating func cancel(_ address: DeviceAddress) {
    requestedDevices.removeAll { $0 == address }
    removeSightings { $0.identity == address }
    noteChange()
  }

  /// Chooses the targets again after address resolution may have changed.
  mutating func reconsider() { noteChange() }

  /// Tells the initiator whether an attempt relies on a resolving list that the controller has not proved to work.
  mutating func rely(onUnprovenList relies: Bool, at now: Instant) { probe.update(relies: relies, at: now) }

  /// True while the host connects by scanning in order to test the controller's resolving list.
  var probesResolvingList: Bool { probe.listens }

  /// Handles an advertisement of a connectable device while connecting by scanning.
  mutating func heard(_ identity: DeviceAddress, at address: DeviceAddress, _ now: Instant) {
    guard case .scanning(var sightings) = method, requestedDevices.contains(identity), !linked.contains(identity)
    else { return }
    method = .scanning([])
    defer { method = .scanning(sightings) }
    let until = now + Self.sightingTime
    if let index = sightings.firstIndex(where: { $0.identity == identity }) {
      sightings[index].until = until
      guard sightings[index].address != address else { return }
      sightings[index].address = address
    } else {
      sightings.append(Sighting(identity: identity, address: address, until: until))
    }
    noteChange()
  }

  /// True if the host must scan, because it connects by scanning and has not received advertising of a wanted device
  /// yet.
  var listens: Bool {
    guard case .scanning(let sightings) = method, !isPaused, isIdle, sightings.isEmpty else { return false }
    return requestedDevices.contains { !linked.contains($0) }
  }

  mutating func linkCreated(_ address: DeviceAddress) {
    linked.append(address)
    removeSightings { $0.identity == address }
    noteChange()
  }

  mutating func linkEnded(_ address: DeviceAddress) {
    if let index = linked.firstIndex(of: address) { linked.remove(at: index) }
    noteChange()
  }

  /// Starts the attempt again after a link was created without the host's knowledge, which may have ended the
  /// attempt.
  mutating func restart() {
    switch phase {
    case .initiating(let attempt, let rotation): phase = .mustRestart(attempt, rotation: rotation)
    case .mustRestart: break
    case .idle, .refused, .cancelling: return
    }
    noteChange()
  }

  /// Suspends or resumes connecting.
  mutating func pause(_ isPaused: Bool) {
    guard self.isPaused != isPaused else { return }
    self.isPaused = isPaused
    noteChange()
  }

  /// True if the controller neither connects nor executes a connection command.
  var isQuiet: Bool { isIdle && !isExecuting }

  private var isExecuting: Bool {
    switch progress {
    case .settled, .unsettled: false
    case .executing: true
    }
  }

  private var isIdle: Bool {
    switch phase {
    case .idle, .refused: true
    case .initiating, .mustRestart, .cancelling: false
    }
  }

  /// Forgets the controller's state after a reset, or because the controller has not accepted any command; the wanted
  /// devices stay.
  mutating func forgetController() {
    phase = .idle
    progress = .unsettled
    probe = ResolvingListProbe()
    removeSightings { _ in true }
  }

  /// True if a next command may be due.
  var hasWork: Bool {
    switch progress {
    case .settled, .executing: false
    case .unsettled: true
    }
  }

  /// Returns the next command; nil: no command is due now.
  mutating func next(_ commands: InitiatingCommands, at now: Instant) -> HCI.Command? {
    guard hasWork else { return nil }
    let eligible = self.eligible
    let targets = Array(eligible.prefix(connectsByScanning ? 1 : capacity))
    let attempt = Attempt(targets: targets, address: targets.first.map { self.address(of: $0) })
    switch phase {
    case .cancelling: return nil
    case .initiating(let current, let rotation) where current == attempt:
      progress = .settled
      let takesTurns = eligible.count > targets.count
      phase = .initiating(current, rotation: takesTurns ? rotation ?? now + Self.rotationTime : nil)
      return nil
    case .initiating, .mustRestart:
      phase = .cancelling(until: nil)
      progress = .executing(.cancel)
      return .leCreateConnectionCancel
    case .refused:
      progress = .settled
      return nil
    case .idle:
      guard let address = attempt.address else {
        progress = .settled
        return nil
      }
      if targets.count > 1, let command = nextForList(targets) { return command }
      progress = .executing(.create(attempt, hasEnded: false))
      return commands.create(address, usesAcceptList: targets.count > 1)
    }
  }

  /// The wanted devices that an attempt may target now.
  private var eligible: [DeviceAddress] {
    if isPaused { return [] }
    let free = requestedDevices.filter { !linked.contains($0) }
    switch method {
    case .acceptList: return free
    case .scanning(let sightings): return free.filter { identity in sightings.contains { $0.identity == identity } }
    }
  }

  /// Returns the address at which the host connects to a device: the advertised address, or the identity if none was
  /// received.
  private func address(of identity: DeviceAddress) -> DeviceAddress {
    sightings.first { $0.identity == identity }?.address ?? identity
  }

  /// Returns the next command that brings the accept list closer to exactly `targets`; nil: the list matches.
  private mutating func nextForList(_ targets: [DeviceAddress]) -> HCI.Command? {
    if let stale = list.first(where: { !targets.contains($0) }) {
      progress = .executing(.remove(stale))
      return .leRemoveDeviceFromFilterAcceptList(HCI.PeerAddress(stale))
    }
    if let missing = targets.first(where: { !list.contains($0) }) {
      progress = .executing(.add(missing))
      return .leAddDeviceToFilterAcceptList(HCI.PeerAddress(missing))
    }
    return nil
  }

  /// Handles the end of a command. Returns the devices whose connection attempts it has failed.
  mutating func ended(_ status: HCI.ErrorCode, at now: Instant) -> [DeviceAddress] {
    let former = progress
    progress = .unsettled
    guard case .executing(let step) = former else { return [] }
    switch step {
    case .add(let address):
      // The list is shorter than the controller claims.
      if status == .success { list.append(address) } else { capacity = max(1, list.count) }
    case .remove(let address): list.removeAll { $0 == address }
    case .create(let attempt, let hasEnded):
      guard status == .success else {
        phase = .refused(until: now + Self.refusalPause)
        give(up: attempt.targets)
        return attempt.targets
      }
      phase = hasEnded ? .idle : .initiating(attempt, rotation: nil)
    case .cancel:
      guard case .cancelling = phase else { break }
      // A refusal means that nothing can be cancelled: LE Connection Complete has arrived already, or will not
      // arrive.
      phase = status == .success ? .cancelling(until: now + Self.cancellationTimeout) : .idle
    }
    return []
  }

  /// Handles LE Connection Complete without a link. Returns the devices whose connection attempts have failed.
  mutating func attemptFailed(_ status: HCI.ErrorCode, _ address: DeviceAddress?) -> [DeviceAddress] {
    var targets: [DeviceAddress] = []
    if let attempt = phase.attempt {
      targets = attempt.targets
    } else if case .executing(.create(let attempt, _)) = progress {
      targets = attempt.targets
    }
    attemptEnded()
    // This is the regular end of a cancelled attempt.
    guard status != .unknownConnectionIdentifier else { return [] }
    let failed = targets.filter { $0 == address }
    let lost = failed.isEmpty ? targets : failed
    give(up: lost)
    return lost
  }

  private mutating func give(up lost: [DeviceAddress]) {
    requestedDevices.removeAll { lost.contains($0) }
    removeSightings { lost.contains($0.identity) }
  }

  /// Handles LE Connection Complete with a link in the central role. Returns true if the device is still wanted, by
  /// its current identity or by its address on the air.
  mutating func attemptSucceeded(_ identity: DeviceAddress, at address: DeviceAddress) -> Bool {
    attemptEnded()
    let isWanted = requestedDevices.contains { $0 == identity || $0 == address }
    give(up: [identity, address])
    return isWanted
  }

  private mutating func attemptEnded() {
    if case .executing(.create(let attempt, _)) = progress { progress = .executing(.create(attempt, hasEnded: true)) }
    // The pause after a refusal goes on.
    if !isIdle { phase = .idle }
    noteChange()
  }

  mutating func timeReached(_ now: Instant) {
    guard let deadline, deadline <= now else { return }
    if probe.timeReached(now) { noteChange() }
    if sightings.contains(where: { $0.until <= now }) {
      removeSightings { $0.until <= now }
      noteChange()
    }
    guard let due = phase.deadline, due <= now else { return }
    switch phase {
    case .idle: break
    case .refused: phase = .idle
    case .cancelling: attemptEnded()
    case .initiating(let attempt, _):
      phase = .initiating(attempt, rotation: nil)
      rotate(attempt)
    case .mustRestart(let attempt, _):
      phase = .mustRestart(attempt, rotation: nil)
      rotate(attempt)
    }
    noteChange()
  }

  /// Lets the wanted devices outside an attempt take their turn.
  private mutating func rotate(_ attempt: Attempt) {
    requestedDevices =
      requestedDevices.filter { !attempt.targets.contains($0) }
      + requestedDevices.filter { attempt.targets.contains($0) }
  }
}
