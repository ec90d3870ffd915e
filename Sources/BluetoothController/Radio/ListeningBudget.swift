import BluetoothWire

/// The radio time that the scanner and the initiator have received, and the time to which they are entitled.
///
/// Listening fills the gaps between timeslots. If gaps are rare, because of bulk data or many connections, listening is
/// entitled to a quarter of the time in which scan windows are open: bulk transfers leave this share free, and after a
/// long wait listening gets a timeslot like other activities. A smaller scan window gives a smaller share.
struct ListeningBudget {
  private static let divisor: Int64 = 4
  /// The limits of debt and credit.
  private static let largestDebt = TimeSpan.milliseconds(60)
  private static let largestCredit = TimeSpan.milliseconds(30)
  /// The start of each stretch of listening that does not count: a stretch shorter than the longest legacy advertising
  /// packet rarely receives a packet.
  private static let deafness = TimeSpan.microseconds(376)
  /// The debt that counts as one loss.
  private static let debtPerLoss = TimeSpan.milliseconds(5)
  /// The least debt that turns a stretch of listening into a timeslot, and the length of that stretch.
  private static let threshold = TimeSpan.milliseconds(20)
  private static let stretch = TimeSpan.microseconds(2_500)

  enum State {
    /// No window is open.
    case closed
    case waiting
    case listening
  }

  private var state = State.closed
  private var since = Instant.zero
  private var deafness = TimeSpan.zero
  /// The listening time that is owed; positive if there was too little listening so far.
  private var owed = TimeSpan.zero
  /// The timeslot of the present stretch of listening, which only timeslots of higher rank interrupt before `end`.
  private var held: (timeslot: TimeslotRequest, end: Instant)?

  /// Accounts for the time until now.
  mutating func pass(until now: Instant) {
    let elapsed = now - since
    since = now
    switch state {
    case .closed: return
    case .waiting: owed += elapsed / Self.divisor
    case .listening:
      let deaf = min(elapsed, deafness)
      deafness -= deaf
      owed += elapsed / Self.divisor - (elapsed - deaf)
    }
    owed = min(Self.largestDebt, max(.zero - Self.largestCredit, owed))
  }

  /// Sets the state of listening from now on.
  mutating func enter(_ state: State, at now: Instant) {
    guard state != self.state else { return }
    pass(until: now)
    self.state = state
    held = nil
    guard case .listening = state else { return }
    deafness = Self.deafness
    guard owed >= Self.threshold else { return }
    let timeslot = TimeslotRequest(
      purpose: .listening, start: now, latestStart: now, shortest: Self.stretch, longest: Self.stretch,
      losses: Int(owed.nanoseconds / Self.debtPerLoss.nanoseconds))
    held = (timeslot, now + Self.stretch)
  }

  /// Returns the timeslot that other activities must outrank to interrupt listening.
  func holder(at now: Instant) -> (timeslot: TimeslotRequest, end: Instant)? {
    guard let held, now < held.end else { return nil }
    return held
  }

  /// Returns the time at the end of `interval` that a connection event, which could fill the interval, leaves for
  /// listening.
  func reserve(in interval: TimeSpan) -> TimeSpan {
    max(.zero, min(owed + interval / Self.divisor, interval / 2))
  }
}
