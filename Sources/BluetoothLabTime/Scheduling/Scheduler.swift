import CAppTime
import Foundation
import Synchronization

/// Collects the app's work and executes it one unit at a time. A unit is a Swift job, a block of a queue, or a timer that
/// fires.
///
/// The scheduler has two queues of units: the work of the main queue, and the pool, which has all other work (Swift jobs
/// and the blocks of other queues). The driver executes both until the app is at rest: no unit is left that can run at
/// the present instant. The driver is the thread that called `settle`, or for asynchronous callers the server, a thread
/// of the scheduler that executes their requests. Swift jobs run on worker threads, blocks on their real queues, and the
/// work of the main queue on the real main queue, so that isolation checks behave as in production. Only the thread that
/// holds the token runs; see `Participant`.
final class Scheduler: Sendable {
  static let shared = Scheduler()

  struct State {
    var isActive = false
    /// Counts activations.
    var activation = 0
    var limits = AppTimeLimits()
    var counters = AppTimeCounters()

    var pool = Fifo<Work>()
    var main = Fifo<Work>()
    var timers = AppTimerHeap()

    /// The outermost participant that runs the app's work.
    var driver: Participant?
    /// The event source of the innermost `run`, and true while the source executes an event.
    var source: (any EventSource)?
    var isStepping = false
    /// The participants that block the main thread while they wait for the token, innermost last.
    var waitingMain: [Participant] = []
    /// True while the work of the main queue blocks its thread.
    var isMainBlocked = false
    var idleWorkers: [Participant] = []
    var idleBlockThreads: [Participant] = []
    /// The units of work that have started and not ended, for error messages.
    var running: [(id: Int, work: String, isStarted: Bool)] = []
    var nextID = 0
    /// Changes whenever work starts, ends or is added.
    var progress = 0
    var unitsAtInstant = 0

    /// True once an asynchronous call has started the server.
    var isServed = false
    var requests = Fifo<Request>()

    var timerSources: [Handle: TimerSource] = [:]
    var descriptors: [Int32: (arming: Int, deadline: Int64)] = [:]
    var suspensions: [Handle: (count: Int, calls: [QueueCall])] = [:]
    var groupNotifications: [Handle: [QueueCall]] = [:]
    var waiters: [Waiter] = []
    var observedBlocks: [Handle: Int] = [:]

    /// The last message about a test whose body waits.
    var report: String?
    /// The calls on queues that have started and not ended.
    var occupants: [Occupant] = []
    /// The work for queues that `occupants` and earlier blocked work keep, in order.
    var blocked: [(work: Work, use: QueueUse)] = []

    var isAtRest: Bool { pool.isEmpty && (main.isEmpty || isMainBlocked) }

    /// The work that has not ended, for error messages.
    var held: [String] {
      running.map { "\($0.isStarted ? "running" : "not started by libdispatch"): \($0.work)" }
        + waiters.map { "waiting: a thread in \($0.participant.reason)" }
        + blocked.map { "behind a blocked thread: \($0.work.description)" }.prefix(20)
        + (pool.all + main.all).map { "queued: \($0.description)" }.prefix(20)
    }
  }

  /// A call of an asynchronous function, which the server executes.
  struct Request: Sendable {
    let target: Int64?
    let source: (any EventSource)?
    let condition: (@Sendable () -> Bool)?
    let continuation: UnsafeContinuation<AppTimeError?, Never>
  }

  let state = Mutex(State())
  /// Wakes the server when it has requests or work. The baton of the server's participant only passes the token.
  let serverWakeUp = Baton()

  // MARK: Adding work

  /// True if the calling thread holds the token.
  var ownsThread: Bool {
    guard let participant = Participant.current, participant.holdsToken else { return false }
    return participant.activation == nil || participant.activation == state.withLock { $0.activation }
  }

  /// Adds work. Returns false if virtual time is not active.
  func add(_ work: Work, isMain: Bool) -> Bool {
    let isOwn = Participant.current?.holdsToken ?? false
    return state.withLock { state in
      guard state.isActive else { return false }
      add(work, isMain: isMain, to: &state)
      if !isOwn { state.counters.foreignWakeUps += 1 }
      return true
    }
  }

  func add(_ work: Work, isMain: Bool, to state: inout State) {
    if isMain {
      state.main.append(work)
    } else {
      state.pool.append(work)
    }
    state.progress += 1
    wakeServer(&state)
  }

  func wakeServer(_ state: inout State) {
    if state.isServed, state.driver == nil { serverWakeUp.signal() }
  }

  /// Adds a timer. Returns false if virtual time is not active.
  func addTimer(deadline: Int64, _ action: TimerAction) -> Bool {
    state.withLock { state in
      guard state.isActive else { return false }
      guard deadline != .max else { return true }
      state.timers.insert(deadline: max(deadline, app_time_now()), action: action)
      return true
    }
  }

  // MARK: Taking work

  private func take(isMain: Bool) -> (id: Int, work: Work)? {
    state.withLock { state in
      guard state.unitsAtInstant <= state.limits.unitsPerInstant, !(isMain && state.isMainBlocked),
        let work = isMain ? state.main.popFirst() : state.pool.popFirst()
      else { return nil }
      return (begin(work, &state), work)
    }
  }

  func begin(_ work: Work, _ state: inout State) -> Int {
    state.unitsAtInstant += 1
    state.counters.units += 1
    state.progress += 1
    state.nextID += 1
    state.running.append((state.nextID, work.description, true))
    return state.nextID
  }

  private func setStarted(_ id: Int, _ isStarted: Bool, _ state: inout State) {
    guard let index = state.running.lastIndex(where: { $0.id == id }) else { return }
    state.running[index].isStarted = isStarted
  }

  private func end(_ id: Int) {
    state.withLock { state in
      state.leaveQueues(id)
      state.progress += 1
      // The work that started last usually ends first.
      if let index = state.running.lastIndex(where: { $0.id == id }) { state.running.remove(at: index) }
    }
  }

  // MARK: Running work

  /// The executor argument for a job that belongs to no serial executor.
  private static let genericExecutor = unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)

  /// Passes the token to another thread and waits until it comes back.
  private func handOver(from me: Participant, isWatched: Bool, to start: () -> Void) throws(AppTimeError) {
    if me.isMain { state.withLock { $0.waitingMain.append(me) } }
    defer {
      if me.isMain { state.withLock { _ = $0.waitingMain.popLast() } }
    }
    me.holdsToken = false
    start()
    try awaitToken(me, isWatched: isWatched)
  }

  /// Waits for the token. A watched wait fails if nothing makes progress.
  func awaitToken(_ me: Participant, isWatched: Bool) throws(AppTimeError) {
    repeat {
      if isWatched {
        try watchedWait(me)
      } else {
        me.baton.wait()
      }
      me.holdsToken = true
    } while runDelegatedBatch(me)
    me.isTokenMissing = false
  }

  /// Runs work of the main queue that another participant has delegated, because `me` blocks the main thread. Returns
  /// false if there is none.
  private func runDelegatedBatch(_ me: Participant) -> Bool {
    guard let batch = me.delegatedBatch.take() else { return false }
    batch.body()
    me.holdsToken = false
    batch.previousHolder.baton.signal()
    return true
  }

  private func watchedWait(_ me: Participant) throws(AppTimeError) {
    var (progress, limit) = state.withLock { ($0.progress, $0.limits.stallSeconds) }
    // Short waits, because a debugger can stop the process for longer than the limit.
    let tick = 0.1
    var idle = 0.0
    while !me.baton.wait(nanoseconds: Int64(tick * 1e9)) {
      let (now, held) = state.withLock { ($0.progress, $0.held) }
      idle = now == progress ? idle + tick : 0
      progress = now
      if idle >= limit {
        me.holdsToken = true
        me.isTokenMissing = true
        throw .stalled(seconds: limit, held: held)
      }
    }
  }

  /// Runs one unit of the pool on the thread that it belongs to. Throws only if `isWatched` is true.
  func run(_ work: Work, id: Int, from me: Participant, isWatched: Bool) throws(AppTimeError) {
    switch work {
    case .job(let job):
      job.runSynchronously(on: Self.genericExecutor)
      noteEnd()
      end(id)
    case .call(let call):
      try run(call, id: id, from: me, isWatched: isWatched)
    case .admitted(let call, let occupant):
      try run(call, id: id, occupant: occupant, from: me, isWatched: isWatched)
    case .resume(let participant):
      end(id)
      try handOver(from: me, isWatched: isWatched) { participant.grant(from: me) }
    case .turn(let waiter, _):
      state.withLock { state in
        waiter.result = .satisfied
        state.waiters.removeAll { $0 === waiter }
      }
      end(id)
      try handOver(from: me, isWatched: isWatched) { waiter.participant.grant(from: me) }
    case .synchronousCall, .runLoopTimer, .runLoopBlock:
      preconditionFailure("work of the main queue in the pool")
    }
  }

  /// Runs a call on its queue, or keeps it until the queue is free.
  ///
  /// - Parameter occupant: The occupant that keeps the queue for the call; nil if the call was not blocked before.
  private func run(
    _ call: QueueCall, id: Int, occupant: Int? = nil, from me: Participant, isWatched: Bool
  ) throws(AppTimeError) {
    let use = QueueUse(call.queue, isBarrier: call.isBarrier)
    let isHeld = state.withLock { state in
      if occupant == nil, state.isBlocked(use) {
        state.blocked.append((.call(call), use))
        return true
      }
      guard state.suspensions[call.queue] != nil else {
        setStarted(id, false, &state)
        state.enterQueues(use, id, replacing: occupant)
        return false
      }
      state.suspensions[call.queue]?.calls.append(call)
      if let occupant { state.leaveQueues(occupant) }
      return true
    }
    if isHeld { return end(id) }
    let hasBlockedThreads = state.withLock { !$0.waiters.isEmpty }
    try handOver(from: me, isWatched: isWatched) {
      let start = BlockStart(call: call, id: id, previousHolder: me)
      let context = Unmanaged.passRetained(start).toOpaque()
      guard hasBlockedThreads else {
        return app_time_real_async(
          call.queue.pointer, context, { Scheduler.shared.runBlock(BlockStart.take($0)) }, call.isBarrier)
      }
      // libdispatch adds one thread a second to a global queue whose threads are blocked. A synchronous call of another
      // thread starts at once.
      app_time_start_thread(
        {
          let start = BlockStart.take($0)
          let queue = start.call.queue.pointer
          // The call releases the queue, which the function uses until it returns.
          app_time_retain(queue)
          app_time_real_sync(
            queue, Unmanaged.passRetained(start).toOpaque(), { Scheduler.shared.runBlock(BlockStart.take($0)) },
            start.call.isBarrier)
          app_time_release(queue)
        }, context)
    }
  }

  private final class BlockStart: Sendable {
    let call: QueueCall
    let id: Int
    let previousHolder: Participant

    init(call: QueueCall, id: Int, previousHolder: Participant) {
      self.call = call
      self.id = id
      self.previousHolder = previousHolder
    }

    static func take(_ context: UnsafeMutableRawPointer?) -> BlockStart {
      Unmanaged<BlockStart>.fromOpaque(context!).takeRetainedValue()
    }
  }

  /// Runs a block on the thread of its queue.
  private func runBlock(_ start: BlockStart) {
    let participant = state.withLock { state in
      setStarted(start.id, true, &state)
      let participant = state.idleBlockThreads.popLast() ?? Participant()
      state.setOccupant(start.id, participant)
      return participant
    }
    let previous = Participant.current
    Participant.current = participant
    participant.queue = start.call.queue
    participant.previousHolder = start.previousHolder
    participant.holdsToken = true
    start.call.run()
    noteEnd(of: start.call)
    end(start.id)
    Participant.current = previous
    participant.queue = nil
    // Only the previousHolder may use the participant again before this point.
    participant.giveBack()
    state.withLock { $0.idleBlockThreads.append(participant) }
  }

  /// Passes the token to a worker thread, which runs the pool until it is empty.
  private func runOnWorker(from me: Participant) throws(AppTimeError) {
    try handOver(from: me, isWatched: true) {
      let worker = state.withLock { $0.idleWorkers.popLast() } ?? startWorker()
      worker.grant(from: me)
    }
  }

  private func startWorker() -> Participant {
    let worker = Participant()
    app_time_start_thread(
      { Scheduler.shared.work(Unmanaged<Participant>.fromOpaque($0!).takeRetainedValue()) },
      Unmanaged.passRetained(worker).toOpaque())
    return worker
  }

  private func work(_ me: Participant) {
    while true {
      me.baton.wait()
      Participant.current = me
      while me.holdsToken, let (id, work) = take(isMain: false) {
        // `run` throws only if `isWatched` is true.
        try? run(work, id: id, from: me, isWatched: false)
      }
      let holdsToken = me.holdsToken
      state.withLock { $0.idleWorkers.append(me) }
      // Without the token, another participant may already have passed it to this thread again.
      if holdsToken { me.giveBack() }
    }
  }

  /// Runs the pool until it is empty.
  func runPool(_ me: Participant) throws(AppTimeError) {
    while true {
      enum Next {
        case none
        case worker
        case here(Int, Work)
      }
      let next: Next = state.withLock { state in
        guard state.unitsAtInstant <= state.limits.unitsPerInstant, let first = state.pool.first else { return .none }
        if case .job = first { return .worker }
        _ = state.pool.popFirst()
        return .here(begin(first, &state), first)
      }
      switch next {
      case .none: return
      case .worker: try runOnWorker(from: me)
      case .here(let id, let work): try run(work, id: id, from: me, isWatched: true)
      }
    }
  }

  /// Runs the work of the main queue until none is left. The calling thread must be in the main queue's context.
  func runMainWork() {
    while let (id, work) = take(isMain: true) {
      switch work {
      case .job(let job):
        job.runSynchronously(on: MainActor.sharedUnownedExecutor)
        noteEnd()
      case .call(let call):
        call.run()
        noteEnd(of: call)
      case .synchronousCall(let call, let caller):
        call.run()
        state.withLock { add(.resume(caller), isMain: false, to: &$0) }
      case .runLoopTimer(let descriptor):
        app_time_real_timer_descriptor(descriptor, 1, true)
        _ = RunLoop.current.run(mode: .default, before: .distantPast)
      case .runLoopBlock:
        _ = RunLoop.current.run(mode: .default, before: .distantPast)
      case .resume, .turn, .admitted:
        preconditionFailure("work of the pool in the main queue")
      }
      end(id)
    }
  }

  /// A function to call in the context of the main queue. Unchecked, because only the thread that has taken the batch calls `body`,
  /// while the thread that made the batch waits.
  final class MainBatch: @unchecked Sendable {
    let body: () -> Void
    let previousHolder: Participant
    let isInline: Bool
    private let isTaken = Mutex(false)

    /// Returns true for the first caller only: a batch that was given up never runs.
    func take() -> Bool {
      isTaken.withLock { isTaken in
        defer { isTaken = true }
        return !isTaken
      }
    }

    init(body: @escaping () -> Void, previousHolder: Participant, isInline: Bool) {
      self.body = body
      self.previousHolder = previousHolder
      self.isInline = isInline
    }

    func run() {
      guard take() else { return }
      let main = Participant(isMain: true)
      main.queue = .mainQueue
      let previous = Participant.current
      Participant.current = main
      main.holdsToken = true
      if !isInline { main.previousHolder = previousHolder }
      body()
      Participant.current = previous
      main.giveBack()
    }
  }

  /// Calls a function in the context of the main queue and waits for its end.
  func onMain(_ me: Participant, _ body: @escaping () -> Void) throws(AppTimeError) {
    if me.isMain { return body() }
    let isInline = app_time_main_thread_has_exited()
    let batch = MainBatch(body: body, previousHolder: me, isInline: isInline)
    if let main = state.withLock({ $0.waitingMain.last }) {
      return try handOver(from: me, isWatched: true) {
        main.delegatedBatch = batch
        main.baton.signal()
      }
    }
    let context = Unmanaged.passRetained(batch).toOpaque()
    let function: app_time_function = { Unmanaged<MainBatch>.fromOpaque($0!).takeRetainedValue().run() }
    guard !isInline else {
      // The main queue runs on pool threads, so the real call runs the batch on this thread.
      me.holdsToken = false
      app_time_real_sync(app_time_main_queue(), context, function, false)
      me.holdsToken = true
      return
    }
    do throws(AppTimeError) {
      try handOver(from: me, isWatched: true) {
        app_time_real_async(app_time_main_queue(), context, function, false)
      }
    } catch {
      _ = batch.take()
      throw error
    }
  }
}
