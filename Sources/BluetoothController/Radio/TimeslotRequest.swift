import BluetoothWire

/// The next request of one activity for the radio. All activities use this form, and one rule decides between them.
struct TimeslotRequest: Equatable {
  /// The purpose of a timeslot. The raw value is the number of consecutive losses with which a timeslot for listening ranks
  /// equal to a timeslot for this purpose without losses.
  enum Purpose: Int {
    /// Scanning, initiating, and the exchanges that follow from them.
    case listening = 0
    /// A packet on a primary advertising channel.
    case advertising = 1
    /// The transmission or reception of an announced auxiliary packet.
    case auxiliary = 2
    /// The transmission or reception of an event of a periodic advertising train.
    case periodic = 3
    /// A connection event.
    case connection = 4
  }

  /// The rank that an urgent timeslot, whose refusal would break the activity, has above all others.
  private static let urgency = 1_000

  var purpose: Purpose
  /// The time at which the radio is needed.
  var start: Instant
  /// The latest time at which the activity can begin; after it, the timeslot is lost. It is later than `start` for
  /// activities that can wait, and for activities that listen in a window.
  var latestStart: Instant
  /// The time for which the activity certainly needs the radio once it has begun.
  var shortest: TimeSpan
  /// The time for which the activity needs the radio if its peers send as much as they may.
  var longest: TimeSpan
  /// The desired time, including packets that follow soon. Activities that delay this one leave this much time for it.
  var whole: TimeSpan = .zero
  /// The number of consecutive times that the activity did not get the radio.
  var losses = 0
  /// True if the activity is about to fail: a supervision timeout is near.
  var isUrgent = false

  /// The time until which the activity can wait without harm. Listening that begins in the middle of a window may
  /// have missed the packet in it.
  var waitsUntil: Instant { purpose == .advertising ? latestStart : start }

  /// The rank of the timeslot. Each loss raises the rank by one, so a timeslot that has waited long enough outranks timeslots
  /// for a higher purpose; a grant resets the losses.
  var rank: Int { (isUrgent ? Self.urgency : 0) + purpose.rawValue + min(losses, Self.urgency / 2) }

  /// True if this timeslot has the higher rank, so that it gets the radio if both exclude each other. At equal rank, the
  /// timeslot that comes first gets the radio.
  func outranks(_ other: TimeslotRequest) -> Bool { rank > other.rank }
}
