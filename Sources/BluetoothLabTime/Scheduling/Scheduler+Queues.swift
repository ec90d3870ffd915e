import CAppTime

// The queues that started calls occupy. Work for an occupied queue must not go to libdispatch, which could not start it.

/// The queues that a call occupies while it runs: the queue of the call and the queues that this one targets, without
/// the global queues.
struct QueueUse: Sendable {
  /// The queue of the call.
  let queue: Handle
  private let uses: [(queue: Handle, isExclusive: Bool)]

  /// The maximum number of queues in a chain of targets.
  private static let maximumDepth = 16

  init(_ queue: Handle, isBarrier: Bool) {
    self.queue = queue
    uses = withUnsafeTemporaryAllocation(of: app_time_queue_use.self, capacity: Self.maximumDepth) { buffer in
      let count = app_time_queue_uses(queue.pointer, isBarrier, buffer.baseAddress, Int32(buffer.count))
      return buffer.prefix(Int(count)).map { (Handle($0.queue), $0.exclusive) }
    }
  }

  /// True for the global queues, which nothing occupies.
  var isEmpty: Bool { uses.isEmpty }

  /// True if libdispatch cannot run the two calls at the same time.
  func excludes(_ other: QueueUse) -> Bool {
    uses.contains { use in
      other.uses.contains { $0.queue == use.queue && ($0.isExclusive || use.isExclusive) }
    }
  }

  /// The queues of several calls.
  struct Union {
    private var shared: Set<Handle> = []
    private var exclusive: Set<Handle> = []

    mutating func insert(_ use: QueueUse) {
      for (queue, isExclusive) in use.uses {
        if isExclusive { exclusive.insert(queue) } else { shared.insert(queue) }
      }
    }

    func excludes(_ use: QueueUse) -> Bool {
      use.uses.contains { exclusive.contains($0.queue) || $0.isExclusive && shared.contains($0.queue) }
    }
  }
}

/// A call on a queue that has started and not ended, or that is the next one to start.
struct Occupant: Sendable {
  var id: Int
  let use: QueueUse
  /// The thread that runs the call; nil before the start.
  var participant: Participant?
}

extension Scheduler.State {
  /// True if a call must wait for calls that have started, or for earlier calls that wait.
  func isBlocked(_ use: QueueUse) -> Bool {
    occupants.contains { $0.use.excludes(use) } || blocked.contains { $0.use.excludes(use) }
  }

  /// Adds a call to the occupants.
  ///
  /// - Parameter occupant: The occupant that has kept the queue for the call.
  mutating func enterQueues(_ use: QueueUse, _ id: Int, replacing occupant: Int? = nil) {
    guard !use.isEmpty else { return }
    if let occupant, let index = occupants.lastIndex(where: { $0.id == occupant }) {
      occupants[index].id = id
    } else {
      occupants.append(Occupant(id: id, use: use))
    }
  }

  mutating func setOccupant(_ id: Int, _ participant: Participant) {
    guard let index = occupants.lastIndex(where: { $0.id == id }) else { return }
    occupants[index].participant = participant
  }

  /// Removes the call from the occupants, and queues the work that it has blocked.
  mutating func leaveQueues(_ id: Int) {
    guard let index = occupants.lastIndex(where: { $0.id == id }) else { return }
    occupants.remove(at: index)
    releaseBlocked()
  }

  /// Queues the blocked work that can start. Of several calls that exclude each other, only the first one can start.
  private mutating func releaseBlocked() {
    guard !blocked.isEmpty else { return }
    var earlier = QueueUse.Union()
    for occupant in occupants { earlier.insert(occupant.use) }
    var (remaining, released): ([(work: Work, use: QueueUse)], [Work]) = ([], [])
    for (work, use) in blocked {
      if earlier.excludes(use) {
        remaining.append((work, use))
      } else {
        nextID += 1
        enterQueues(use, nextID)
        released.append(admit(work, nextID))
      }
      earlier.insert(use)
    }
    guard !released.isEmpty else { return }
    blocked = remaining
    // Later calls on the same queues may be in the pool.
    pool.prepend(released)
    progress += 1
  }

  private func admit(_ work: Work, _ occupant: Int) -> Work {
    switch work {
    case .call(let call): return .admitted(call, occupant)
    case .turn(let waiter, _): waiter.occupant = occupant
    default: break
    }
    return work
  }
}
