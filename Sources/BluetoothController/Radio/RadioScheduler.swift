// Design: one radio, many activities
//
// A controller's radio does one thing at a time. Every activity that knows in advance when it needs the radio describes
// the need in the same form, a `TimeslotRequest`: the start, the latest start that makes sense, the shortest and the
// longest duration, the purpose, and the number of consecutive losses. The requests of all activities are in one
// `RadioScheduler`: connections, packets of advertising events on the primary channels, auxiliary packets and chains,
// periodic trains, trains to which the device is synchronized, and announced packets to receive. The starts of the
// timeslots are a separate array, so that a search for the next timeslot, or for conflicting timeslots, reads eight
// octets per timeslot. A connection is inspected only when it has changed: `ConnectionTable` notices changes itself.
//
// - Of two conflicting timeslots, the one of higher rank gets the radio. The order is: connection events, periodic
//   events, announced packets, primary advertising, listening. Each consecutive loss raises a timeslot by one rank, and
//   getting the radio resets the rank. Age beats purpose, so no activity starves. A connection whose supervision
//   timeout is less than three intervals away beats every timeslot that is not urgent; so does a synchronization that
//   is less than two intervals away from its timeout.
// - A timeslot that can wait (a packet of an advertising event: half an interval before the event, 10 ms within it) is
//   postponed behind the more important timeslot. Each packet has a separate timeslot, so other activities can have the
//   radio between the channels of an event. Auxiliary packets and chains are placed where the scheduler has free time
//   before they are announced. A peripheral's receive window does not count as time to wait: a peripheral that begins
//   in the middle of the window may have missed the packet.
// - An event with much data to move ends where the next timeslot begins. If that timeslot can wait, the event ends at
//   the latest start of that timeslot.
// - Listening (scanning, initiating) fills the gaps. It is entitled to a quarter of the time in which its windows are
//   open, so a scanner with a small window costs bulk data little. After a long time with too little, listening
//   requests a timeslot of 2.5 ms like any other activity. Periods too short to receive a packet do not count.
// - A central places new anchor points on one grid of 1.25 ms, as far as possible from those of other connections.
//   Links whose intervals divide each other never overlap while there is room, and use the half steps after that. The
//   transmit window leaves the freedom for this.
//
// `Tests/BluetoothControllerTests/RadioArbitrationTests` verifies these rules: 128 connections in both roles beside
// four advertising sets and a scan for half a minute.

import BluetoothWire

/// The timeslots of all activities on the one radio, and the arbitration between them.
///
/// The starts are stored contiguously: a search for the next timeslot, or for conflicting timeslots, reads eight octets per
/// activity. A `SlotMap` would check a generation on each access and read an optional value, which no caller needs: its
/// owner removes an activity once.
struct RadioScheduler {
  /// The index of an activity, valid until the activity is removed.
  struct ActivityID: Hashable {
    fileprivate let index: Int
  }

  /// The result of an arbitration.
  enum Decision {
    /// No activity needs the radio yet.
    case nothing
    /// The activity gets the radio.
    case begin(ActivityID, RadioActivity)
    /// The activity has missed its latest start, and requests its next timeslot.
    case lose(ActivityID, RadioActivity)
  }

  private struct Entry {
    var activity: RadioActivity
    var timeslot: TimeslotRequest?
  }

  /// The start of each activity's timeslot; `distantFuture` without a timeslot.
  private var starts: [Instant] = []
  private var entries: [Entry] = []
  private var vacant: [Int] = []
  /// The time at which the first timeslot begins.
  private(set) var next = Instant.distantFuture

  mutating func add(_ activity: RadioActivity) -> ActivityID {
    let entry = Entry(activity: activity, timeslot: nil)
    guard let index = vacant.popLast() else {
      starts.append(.distantFuture)
      entries.append(entry)
      return ActivityID(index: entries.count - 1)
    }
    entries[index] = entry
    return ActivityID(index: index)
  }

  mutating func remove(_ activityID: ActivityID) {
    self[activityID] = nil
    vacant.append(activityID.index)
  }

  /// Replaces the index of the activity.
  mutating func rename(_ activityID: ActivityID, _ activity: RadioActivity) {
    entries[activityID.index].activity = activity
  }

  mutating func removeAll() { self = RadioScheduler() }

  /// The timeslot of the activity; nil: none. An activity that has the radio has no timeslot.
  subscript(activityID: ActivityID) -> TimeslotRequest? {
    get { entries[activityID.index].timeslot }
    set {
      entries[activityID.index].timeslot = newValue
      setStart(activityID.index, newValue?.start ?? .distantFuture)
    }
  }

  /// The only activity with a timeslot; nil if there is none or more than one.
  var onlyActivity: RadioActivity? {
    var result: Int?
    for index in starts.indices where starts[index] != .distantFuture {
      guard result == nil else { return nil }
      result = index
    }
    return result.map { entries[$0].activity }
  }

  private mutating func setStart(_ index: Int, _ start: Instant) {
    let previous = starts[index]
    guard start != previous else { return }
    starts[index] = start
    if start <= next {
      next = start
    } else if previous == next {
      next = starts.min() ?? .distantFuture
    }
  }

  // MARK: Arbitration

  /// Decides which activity gets the radio. The radio is free, or its present owner yields to timeslots that outrank
  /// `holder`.
  mutating func decide(at now: Instant, holder: (timeslot: TimeslotRequest, end: Instant)? = nil) -> Decision {
    while next <= now {
      var best: Int?
      for index in starts.indices where starts[index] <= now {
        guard let timeslot = entries[index].timeslot else { continue }
        if timeslot.latestStart < now { return .lose(ActivityID(index: index), entries[index].activity) }
        if let other = best, let rival = entries[other].timeslot, !isBefore(timeslot, rival) { continue }
        best = index
      }
      guard let best, let timeslot = entries[best].timeslot else { return .nothing }
      if let free = wait(for: timeslot, of: best, at: now, holder: holder) {
        guard free > now, free <= timeslot.latestStart else {
          return .lose(ActivityID(index: best), entries[best].activity)
        }
        entries[best].timeslot?.start = free
        setStart(best, free)
      } else {
        return .begin(ActivityID(index: best), entries[best].activity)
      }
    }
    return .nothing
  }

  /// True if `timeslot` is the more important of two due timeslots or, at equal rank, can wait less.
  private func isBefore(_ timeslot: TimeslotRequest, _ other: TimeslotRequest) -> Bool {
    timeslot.rank == other.rank ? timeslot.latestStart < other.latestStart : timeslot.rank > other.rank
  }

  /// Returns the time at which the radio may be free, for a timeslot that conflicts with a more important timeslot; nil: the
  /// radio is free now.
  private func wait(
    for timeslot: TimeslotRequest, of index: Int, at now: Instant, holder: (timeslot: TimeslotRequest, end: Instant)?
  ) -> Instant? {
    if let holder, holder.end > now, !timeslot.outranks(holder.timeslot) { return holder.end }
    return rival(of: timeslot, until: now + timeslot.longest, except: index)?.end
  }

  /// Returns the start and the end of the first timeslot that outranks `timeslot` and can't wait until `end`.
  private func rival(of timeslot: TimeslotRequest, until end: Instant, except own: Int?) -> (
    start: Instant, end: Instant
  )? {
    let end = end + LL.interFrameSpace
    var result: (start: Instant, end: Instant)?
    for index in starts.indices where starts[index] < end && index != own {
      guard let other = entries[index].timeslot, other.waitsUntil < end, other.outranks(timeslot) else { continue }
      if let found = result, found.start <= other.start { continue }
      result = (other.start, other.start + other.shortest)
    }
    return result
  }

  /// True if an unplanned exchange may have the radio now: no more important timeslot needs the radio during the exchange.
  func admits(_ timeslot: TimeslotRequest) -> Bool {
    rival(of: timeslot, until: timeslot.start + timeslot.longest, except: nil) == nil
  }

  /// Returns the time until which an activity that begins now may continue with work that can wait: the time at which
  /// another activity needs the radio. The activity needs the radio at least until `end`. Other activities that can
  /// wait get the radio shortly before `next`, the next start of this activity.
  func limit(end: Instant, next: Instant) -> Instant {
    var result = Instant.distantFuture
    for index in starts.indices where starts[index] < min(result, next) {
      guard let timeslot = entries[index].timeslot else { continue }
      var start = timeslot.start
      if timeslot.waitsUntil > start {
        start = min(timeslot.waitsUntil, max(start, next - timeslot.whole))
      }
      if start - LL.interFrameSpace >= end { result = min(result, start - LL.interFrameSpace) }
    }
    return result
  }

  /// Returns the first instant from `start` on at which `length` fits between the timeslots that can't wait (all timeslots
  /// except advertising), if this instant is before `end`; else `start`.
  func gap(of length: TimeSpan, from start: Instant, before end: Instant) -> Instant {
    var start = start
    var candidate = start
    var isMoved = true
    while isMoved {
      isMoved = false
      for index in starts.indices where starts[index] < candidate + length {
        guard let timeslot = entries[index].timeslot, timeslot.purpose != .advertising else { continue }
        let over = timeslot.start + timeslot.shortest + LL.interFrameSpace
        guard over > candidate, timeslot.start - LL.interFrameSpace < candidate + length else { continue }
        candidate = over
        isMoved = true
      }
      guard candidate < end else { return start }
    }
    start = candidate
    return start
  }
}
