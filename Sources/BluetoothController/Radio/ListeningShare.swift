import BluetoothWire

/// How much of the radio the scanner and the initiator have had, and how much they should have had.
///
/// They fill the gaps. Where gaps are rare, because a connection has much to move or because there are many connections,
/// they are owed a quarter of the time in which their windows are open: what moves bulk data leaves them so much, and after
/// a long time without they have a claim like everybody else. A scanner with a small window takes accordingly little.
struct ListeningShare {
  private static let divisor: Int64 = 4
  /// Nobody runs up more debt than this, nor more credit.
  private static let largestDebt = TimeSpan.milliseconds(60)
  private static let largestCredit = TimeSpan.milliseconds(30)
  /// In a stretch shorter than the longest legacy advertising packet hardly anything can be heard.
  private static let deafness = TimeSpan.microseconds(376)
  /// So much debt is worth a loss.
  private static let debtPerLoss = TimeSpan.milliseconds(5)
  /// The least debt that makes a stretch of listening a claim, and how long that is.
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
  /// More than zero: too little listening so far.
  private var owed = TimeSpan.zero
  /// Until when listening is not given up for what does not outrank it.
  private var held: (claim: RadioClaim, end: Instant)?

  /// Counts the time until now.
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

  /// What the time from now on counts as.
  mutating func enter(_ state: State, at now: Instant) {
    guard state != self.state else { return }
    pass(until: now)
    self.state = state
    held = nil
    guard case .listening = state else { return }
    deafness = Self.deafness
    guard owed >= Self.threshold else { return }
    let claim = RadioClaim(
      purpose: .listening, start: now, latestStart: now, shortest: Self.stretch, longest: Self.stretch,
      losses: Int(owed.nanoseconds / Self.debtPerLoss.nanoseconds))
    held = (claim, now + Self.stretch)
  }

  /// What others have to outrank in order to interrupt.
  func holder(at now: Instant) -> (claim: RadioClaim, end: Instant)? {
    guard let held, now < held.end else { return nil }
    return held
  }

  /// How long before its end an event that could fill `interval` leaves the radio.
  func reserve(in interval: TimeSpan) -> TimeSpan {
    max(.zero, min(owed + interval / Self.divisor, interval / 2))
  }
}
