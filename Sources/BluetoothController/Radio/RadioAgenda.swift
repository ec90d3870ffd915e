import BluetoothWire

/// What all activities want of the one radio, and who gets it.
///
/// The starts lie side by side: finding the next one, or those in one's way, reads eight octets for each activity.
struct RadioAgenda {
  /// An activity's place, as long as it is there.
  struct Place: Hashable {
    fileprivate let index: Int
  }

  /// What is to be done now.
  enum Decision {
    /// Nobody needs the radio yet.
    case nothing
    /// The activity has the radio.
    case begin(Place, RadioActivity)
    /// The activity's chance is gone; it says what it wants next.
    case lose(Place, RadioActivity)
  }

  private struct Entry {
    var activity: RadioActivity
    var claim: RadioClaim?
  }

  /// `distantFuture` where nothing is wanted.
  private var starts: [Instant] = []
  private var entries: [Entry] = []
  private var vacant: [Int] = []
  /// When the first claim begins.
  private(set) var next = Instant.distantFuture

  mutating func add(_ activity: RadioActivity) -> Place {
    let entry = Entry(activity: activity, claim: nil)
    guard let index = vacant.popLast() else {
      starts.append(.distantFuture)
      entries.append(entry)
      return Place(index: entries.count - 1)
    }
    entries[index] = entry
    return Place(index: index)
  }

  mutating func remove(_ place: Place) {
    self[place] = nil
    vacant.append(place.index)
  }

  /// The activity has another number from now on.
  mutating func rename(_ place: Place, _ activity: RadioActivity) { entries[place.index].activity = activity }

  mutating func removeAll() { self = RadioAgenda() }

  /// What the activity in this place wants; nil: nothing. An activity that has the radio wants nothing.
  subscript(place: Place) -> RadioClaim? {
    get { entries[place.index].claim }
    set {
      entries[place.index].claim = newValue
      setStart(place.index, newValue?.start ?? .distantFuture)
    }
  }

  /// The activity that alone wants something; nil: there is none, or there are several.
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

  // MARK: Who gets the radio

  /// Decides for a radio that is free, or that somebody uses who gives way to claims that outrank `holder`.
  mutating func decide(at now: Instant, holder: (claim: RadioClaim, end: Instant)? = nil) -> Decision {
    while next <= now {
      var best: Int?
      for index in starts.indices where starts[index] <= now {
        guard let claim = entries[index].claim else { continue }
        if claim.latestStart < now { return .lose(Place(index: index), entries[index].activity) }
        if let other = best, let rival = entries[other].claim, !isBefore(claim, rival) { continue }
        best = index
      }
      guard let best, let claim = entries[best].claim else { return .nothing }
      if let free = wait(for: claim, of: best, at: now, holder: holder) {
        guard free > now, free <= claim.latestStart else { return .lose(Place(index: best), entries[best].activity) }
        entries[best].claim?.start = free
        setStart(best, free)
      } else {
        return .begin(Place(index: best), entries[best].activity)
      }
    }
    return .nothing
  }

  /// Of two claims that are due, the more important one; of equals, the one that can't wait as long.
  private func isBefore(_ claim: RadioClaim, _ other: RadioClaim) -> Bool {
    claim.rank == other.rank ? claim.latestStart < other.latestStart : claim.rank > other.rank
  }

  /// When the radio may be free for a claim that is in the way of a more important one; nil: now.
  private func wait(
    for claim: RadioClaim, of index: Int, at now: Instant, holder: (claim: RadioClaim, end: Instant)?
  ) -> Instant? {
    if let holder, holder.end > now, !claim.outranks(holder.claim) { return holder.end }
    return rival(of: claim, until: now + claim.longest, except: index)?.end
  }

  /// The first claim that outranks `claim` and can't wait until `end`, and when it will have had the radio.
  private func rival(of claim: RadioClaim, until end: Instant, except own: Int?) -> (start: Instant, end: Instant)? {
    let end = end + LL.interFrameSpace
    var result: (start: Instant, end: Instant)?
    for index in starts.indices where starts[index] < end && index != own {
      guard let other = entries[index].claim, other.waitsUntil < end, other.outranks(claim) else { continue }
      if let found = result, found.start <= other.start { continue }
      result = (other.start, other.start + other.shortest)
    }
    return result
  }

  /// Whether an exchange that nobody could plan may have the radio now: nothing more important needs it meanwhile.
  func admits(_ claim: RadioClaim) -> Bool {
    rival(of: claim, until: claim.start + claim.longest, except: nil) == nil
  }

  /// Until when an activity that begins now and surely needs the radio until `end` may go on with what can wait: until
  /// somebody else needs the radio. Those who can wait themselves get it shortly before `next`, when the activity would
  /// begin anew.
  func limit(end: Instant, next: Instant) -> Instant {
    var result = Instant.distantFuture
    for index in starts.indices where starts[index] < min(result, next) {
      guard let claim = entries[index].claim else { continue }
      var start = claim.start
      if claim.waitsUntil > start {
        start = min(claim.waitsUntil, max(start, next - claim.whole))
      }
      if start - LL.interFrameSpace >= end { result = min(result, start - LL.interFrameSpace) }
    }
    return result
  }

  /// The first instant from `start` on at which `length` fits between the claims that can't wait, if there is one before
  /// `end`; else `start`.
  func gap(of length: TimeSpan, from start: Instant, before end: Instant) -> Instant {
    var start = start
    var candidate = start
    var isMoved = true
    while isMoved {
      isMoved = false
      for index in starts.indices where starts[index] < candidate + length {
        guard let claim = entries[index].claim, claim.purpose != .advertising else { continue }
        let over = claim.start + claim.shortest + LL.interFrameSpace
        guard over > candidate, claim.start - LL.interFrameSpace < candidate + length else { continue }
        candidate = over
        isMoved = true
      }
      guard candidate < end else { return start }
    }
    start = candidate
    return start
  }
}
