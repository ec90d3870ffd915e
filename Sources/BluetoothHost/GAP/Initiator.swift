import BluetoothWire

/// Keeps the controller connecting to the devices that are waited for: to one by its address, to several through the
/// Filter Accept List · Vol 4, Part E, 7.8.12 to 7.8.17.
struct Initiator {
  private enum Step {
    case add(DeviceAddress)
    case remove(DeviceAddress)
    case create([DeviceAddress])
    case cancel
  }

  private enum Phase {
    case idle
    case initiating([DeviceAddress])
    /// Until LE Connection Complete has come.
    case cancelling(until: Instant?)
  }

  /// How long LE Connection Complete may take after a cancellation.
  private static let cancellationTimeout = TimeSpan.seconds(2)
  /// How long some devices are waited for where the accept list has no room for all.
  private static let rotationTime = TimeSpan.seconds(5)

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
  /// When those that the accept list has no room for take their turn.
  private var rotation: Instant?

  init(acceptListSize: Int = 0) { capacity = max(1, acceptListSize) }

  var deadline: Instant? {
    if case .cancelling(let until) = phase { return until }
    return rotation
  }

  mutating func connect(to address: DeviceAddress) {
    guard !wanted.contains(address) else { return }
    wanted.append(address)
    isDirty = true
  }

  mutating func cancel(_ address: DeviceAddress) {
    wanted.removeAll { $0 == address }
    isDirty = true
  }

  mutating func linkCameAbout(_ address: DeviceAddress) {
    linked.append(address)
    isDirty = true
  }

  mutating func linkEnded(_ address: DeviceAddress) {
    if let index = linked.firstIndex(of: address) { linked.remove(at: index) }
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
    inFlight = nil
    rotation = nil
    isDirty = true
  }

  /// There may be a next command.
  var hasWork: Bool { isDirty && inFlight == nil }

  /// The next command; nil: there is nothing to do now.
  mutating func next(_ commands: InitiatingCommands, at now: Instant) -> HCI.Command? {
    guard hasWork else { return nil }
    let eligible = self.eligible
    let targets = Array(eligible.prefix(capacity))
    switch phase {
    case .cancelling: return nil
    case .initiating(let current):
      if current == targets {
        isDirty = false
        rotation = eligible.count > targets.count ? rotation ?? now + Self.rotationTime : nil
        return nil
      }
      rotation = nil
      phase = .cancelling(until: nil)
      inFlight = .cancel
      return .leCreateConnectionCancel
    case .idle:
      guard let first = targets.first else {
        isDirty = false
        return nil
      }
      if targets.count > 1, let command = nextForList(targets) { return command }
      inFlight = .create(targets)
      endedEarly = false
      return commands.create(first, usesAcceptList: targets.count > 1)
    }
  }

  /// Those that can be connected to.
  private var eligible: [DeviceAddress] { isPaused ? [] : wanted.filter { !linked.contains($0) } }

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
    case .create(let targets):
      guard status == .success else {
        wanted.removeAll { targets.contains($0) }
        return targets
      }
      phase = endedEarly ? .idle : .initiating(targets)
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
    case (.initiating(let current), _): targets = current
    case (_, .create(let current)?): targets = current
    default: targets = []
    }
    attemptEnded()
    // That is what a cancelled attempt ends with.
    guard status != .unknownConnectionIdentifier else { return [] }
    let failed = targets.filter { $0 == address }
    let lost = failed.isEmpty ? targets : failed
    wanted.removeAll { lost.contains($0) }
    return lost
  }

  /// LE Connection Complete with a link in the central role. The result says whether the device is still wanted.
  mutating func attemptSucceeded(_ address: DeviceAddress) -> Bool {
    attemptEnded()
    guard let index = wanted.firstIndex(of: address) else { return false }
    wanted.remove(at: index)
    return true
  }

  private mutating func attemptEnded() {
    if case .create? = inFlight { endedEarly = true }
    phase = .idle
    rotation = nil
    isDirty = true
  }

  mutating func timeReached(_ now: Instant) {
    guard let deadline, deadline <= now else { return }
    guard case .initiating(let targets) = phase else {
      attemptEnded()
      return
    }
    rotation = nil
    wanted = wanted.filter { !targets.contains($0) } + wanted.filter { targets.contains($0) }
    isDirty = true
  }
}
