import BluetoothWire

/// What one activity wants of the radio next. All activities say it in the same words, and one rule decides between them.
struct RadioClaim: Equatable {
  /// What a claim is for. The raw value says how many losses in a row a claim that has none is ahead of one for listening.
  enum Purpose: Int {
    /// Scanning, initiating, and the exchanges that follow from them.
    case listening = 0
    /// A packet on a primary advertising channel.
    case advertising = 1
    /// A packet that was announced, to be sent or to be heard.
    case auxiliary = 2
    /// An event of a periodic advertising train, to be sent or to be heard.
    case periodic = 3
    /// A connection event.
    case connection = 4
  }

  /// What a claim is worth that can't be refused without breaking something, above all others.
  private static let urgency = 1_000

  var purpose: Purpose
  /// When the radio is needed.
  var start: Instant
  /// After this instant it is too late to begin: the chance is lost. Later than `start` for what can wait, and for what
  /// listens in a window.
  var latestStart: Instant
  /// For how long it surely needs the radio once it has begun.
  var shortest: TimeSpan
  /// For how long it needs the radio if others have as much to send as they may.
  var longest: TimeSpan
  /// For how long it would like to have the radio, with what follows soon; whoever keeps it waiting leaves so much room.
  var whole: TimeSpan = .zero
  /// How often in a row the activity did not get the radio.
  var losses = 0
  /// Whether the activity is about to break: a supervision timeout that comes near.
  var isUrgent = false

  /// Until when it can wait without harm. Who begins to listen in the middle of a window may have missed what comes in it.
  var waitsUntil: Instant { purpose == .advertising ? latestStart : start }

  /// Age beats purpose: each loss moves a claim one step up, and having the radio once moves it back.
  var rank: Int { (isUrgent ? Self.urgency : 0) + purpose.rawValue + min(losses, Self.urgency / 2) }

  /// Of two that exclude each other, the one of higher rank gets the radio; of equals, the one that comes first.
  func outranks(_ other: RadioClaim) -> Bool { rank > other.rank }
}
