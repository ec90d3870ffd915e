import BluetoothRadio
import BluetoothWire

/// The control of the radio: its present owner, the timeslots of the activities that wait for it, listening in the gaps
/// between them, and the next command.
///
/// Functions that only read are `mutating`, too: for a non-mutating call on a value that is being changed, the compiler
/// copies the whole value.
struct RadioControl: ~Copyable {
  /// The timeslots of all activities.
  var scheduler = RadioScheduler()
  private var listening = ListeningBudget()
  private var plan = ListeningPlan()
  private(set) var owner = RadioOwner.free
  /// The time at which the present owner continues.
  private var timer: Instant?
  private(set) var isTransmitting = false
  /// The time at which listening resumes.
  private var windowOpens: Instant?
  private var command: RadioCommand?

  /// Restores the state after power on, and stops the radio.
  mutating func reset() {
    scheduler.removeAll()
    listening = ListeningBudget()
    plan = ListeningPlan()
    owner = .free
    timer = nil
    windowOpens = nil
    order(.stop)
  }

  // MARK: Commands and events

  /// Sets the radio's next command.
  mutating func order(_ command: RadioCommand) {
    if case .transmit = command { isTransmitting = true } else { isTransmitting = false }
    self.command = command
  }

  /// Returns the radio's next command; nil: the radio continues with the present one.
  mutating func takeCommand() -> RadioCommand? { command.take() }

  /// Processes an event of the radio before its owner does.
  mutating func take(_ event: RadioEvent) {
    guard case .transmitted = event else { return }
    isTransmitting = false
    if case .finishing = owner { owner = .free }
  }

  /// The next time at which the radio must be used or its owner continues; `distantFuture`: none.
  var deadline: Instant {
    mutating get {
      var result = timer ?? .distantFuture
      if owner.isInterruptible { result = min(result, scheduler.next) }
      if case .free = owner { result = min(result, windowOpens ?? .distantFuture) }
      return result
    }
  }

  /// Returns true, once, if the timer of the present owner has expired.
  mutating func timerEnds(at now: Instant) -> Bool {
    guard let timer, timer <= now else { return false }
    self.timer = nil
    return true
  }

  // MARK: Present owner

  /// Gives the radio to an activity, which removes its timeslot.
  mutating func begin(_ activity: RadioActivity) { owner = .activity(activity) }

  /// Gives the radio to an unplanned exchange, which begins after the interframe space.
  mutating func begin(_ exchange: RadioOwner, after now: Instant) {
    owner = exchange
    timer = now + LL.interFrameSpace
  }

  /// Performs the next step of the present owner. Returns the activity if it has released the radio.
  mutating func perform(_ step: RadioStep) -> RadioActivity? {
    timer = nil
    switch step {
    case .command(let command): order(command)
    case .wait(let until): timer = until
    case .done:
      let previous = owner
      owner = .free
      if case .activity(let activity) = previous { return activity }
    }
    return nil
  }

  /// Releases the radio.
  mutating func release() { owner = .free }

  /// Takes the radio from the present owner. A packet that is being sent is completed.
  mutating func abandon() {
    timer = nil
    if isTransmitting {
      owner = .finishing
    } else {
      owner = .free
      order(.stop)
    }
  }

  /// Takes the radio from the activity if it has the radio.
  mutating func abandon(_ activity: RadioActivity) {
    if owner.isActivity(activity) { abandon() }
  }

  /// Replaces the index of the activity if the activity has the radio.
  mutating func rename(_ activity: RadioActivity, _ new: RadioActivity) {
    if owner.isActivity(activity) { owner = .activity(new) }
  }

  // MARK: Arbitration

  /// Decides which activity gets the radio, which is free or listening.
  mutating func decide(at now: Instant) -> RadioScheduler.Decision {
    if case .listening = owner { return scheduler.decide(at: now, holder: listening.holder(at: now)) }
    return scheduler.decide(at: now)
  }

  /// True if an unplanned exchange, which answers a packet that was just received, may have the radio for `length`.
  mutating func mayAnswer(for length: TimeSpan, losses: Int, at now: Instant) -> Bool {
    scheduler.admits(
      TimeslotRequest(
        purpose: .listening, start: now, latestStart: now, shortest: length, longest: length, losses: losses))
  }

  /// Returns the latest end of a connection event with much data that begins now. The event needs the radio at least
  /// until `end`; the connection's next event is `interval` later.
  mutating func limit(end: Instant, interval: TimeSpan, at now: Instant) -> Instant {
    let next = now + interval
    let limit = scheduler.limit(end: end, next: next)
    listening.pass(until: now)
    let reserve = listening.reserve(in: interval)
    return reserve > .zero && plan.isOpen(at: next - reserve) ? min(limit, next - reserve) : limit
  }

  /// Returns the activity whose timeslot is due, if the radio is free and has no other timeslot, timer or command; nil
  /// otherwise.
  mutating func onlyActivity(at now: Instant) -> RadioActivity? {
    guard scheduler.next <= now, case .free = owner, timer == nil, windowOpens == nil, command == nil else {
      return nil
    }
    return scheduler.onlyActivity
  }

  // MARK: Listening

  /// Sets the windows in which the scanner and the initiator listen.
  mutating func setWindows(scanner: ByPrimaryPHY<ScanWindows>, initiator: ByPrimaryPHY<ScanWindows>) {
    plan.setScanner(scanner)
    plan.setInitiator(initiator)
  }

  /// Listens on the primary channels while no activity needs the radio.
  mutating func listen(at now: Instant) {
    windowOpens = nil
    if case .listening = owner { return }
    // The time before the next timeslot would be too short to receive anything.
    guard plan.isWanted, scheduler.next - now > LL.interFrameSpace else { return }
    guard let slot = plan.slot(at: now) else {
      let next = plan.next(after: now)
      windowOpens = next == .distantFuture ? nil : next
      return
    }
    owner = .listening(on: slot.channel)
    listen(on: slot.channel, phy: slot.phy, until: slot.end)
  }

  /// Listens for advertisers and their responses.
  mutating func listen(on channel: RadioChannel, phy: RadioPHY, until: Instant) {
    order(
      .receive(
        on: channel, phy: phy, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit, until: until)
    )
  }

  /// Records the state of listening from now on: listening, waiting for the radio, or without an open window.
  mutating func accountListening(at now: Instant) {
    if case .listening = owner {
      listening.enter(.listening, at: now)
    } else {
      listening.enter(plan.isOpen(at: now) ? .waiting : .closed, at: now)
    }
  }
}
