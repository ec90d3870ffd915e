import CAppTime
import Synchronization

extension Scheduler {
  // MARK: Driving

  /// Calls a function with the calling thread as the driver. A unit of work that drives leaves the outer driver in
  /// place.
  private func drive(_ body: (Participant) throws(AppTimeError) -> Void) throws(AppTimeError) {
    guard let activation: Int = state.withLock({ $0.isActive ? $0.activation : nil }) else { throw .notActive }
    let me = adopt(activation: activation)
    enum Role { case outermost, nested, refused }
    let role: Role = state.withLock { state in
      if state.driver === me || (me.activation == nil && state.driver != nil) { return .nested }
      guard state.driver == nil else { return .refused }
      state.driver = me
      state.unitsAtInstant = 0
      // A test body that runs an idle app makes progress.
      state.progress += 1
      return .outermost
    }
    switch role {
    case .refused: throw .busy
    case .nested: return try body(me)
    case .outermost: break
    }
    defer { leave(me) }
    // After an error, the thread that kept the token must return it first.
    if me.isTokenMissing { try awaitToken(me, isWatched: true) }
    return try body(me)
  }

  private func leave(_ me: Participant) {
    state.withLock { state in
      state.driver = nil
      if !state.isAtRest || !state.requests.isEmpty { wakeServer(&state) }
    }
  }

  /// Returns the participant of the calling thread. A thread of the test becomes a participant.
  @discardableResult
  func adopt(activation: Int) -> Participant {
    if let current = Participant.current, current.holdsToken,
      current.activation == nil || current.activation == activation
    {
      return current
    }
    let me = Participant(isMain: app_time_is_on_main_queue())
    me.activation = activation
    me.holdsToken = true
    Participant.current = me
    return me
  }

  /// Runs the app's work until it is at rest.
  private func settle(_ me: Participant) throws(AppTimeError) {
    while true {
      try runPool(me)
      if state.withLock({ !$0.main.isEmpty && !$0.isMainBlocked }) {
        try onMain(me) { self.runMainWork() }
      } else if me.isMain, app_time_is_main_thread(), !app_time_main_thread_has_exited(), me.previousHolder == nil {
        // Work can reach the real main queue from outside, for example from a dispatch source.
        _ = app_time_drain_main_queue()
      }
      let limit: (items: Int, held: [String])? = state.withLock { state in
        guard state.unitsAtInstant > state.limits.unitsPerInstant else { return nil }
        // Reset the count, so that the next call can continue.
        state.unitsAtInstant = 0
        return (state.limits.unitsPerInstant, state.held)
      }
      if let limit { throw .neverRests(items: limit.items, held: limit.held) }
      let isAtRest = state.withLock { state in
        guard state.isAtRest else { return false }
        state.counters.settles += 1
        return true
      }
      if isAtRest { return }
    }
  }

  /// Alternates between rest and the earliest timer or event, up to and including an instant.
  ///
  /// - Parameters:
  ///   - batchCondition: The condition in a form that any thread may call; nil: there is none. With it, several events
  ///     can follow each other on the main thread.
  ///   - condition: Ends the run early if it returns true at rest.
  private func run(
    _ me: Participant, until target: Int64, source: (any EventSource)?, batchCondition: (@Sendable () -> Bool)? = nil,
    unless condition: () -> Bool = { false }
  ) throws(AppTimeError) {
    var (waited, progress) = (0.0, -1)
    while true {
      try settle(me)
      if condition() { return }
      let timer = nextTimer
      // An event that a callback holds up must end before the next one.
      let mayStep = state.withLock { !$0.isStepping }
      let event = mayStep ? source?.nextEvent : nil
      guard let instant = [timer, event].compactMap({ $0 }).min(), instant <= target else {
        guard target != .max else { return }
        if mayStep { source?.timePassed(to: target) }
        guard app_time_now() < target else { return }
        setNow(target)
        continue
      }
      if let source, mayStep, source.isWaiting, event == instant {
        try wait(for: source, &waited, &progress)
        continue
      }
      state.withLock { if instant < app_time_now(), event == instant { $0.counters.lateEvents += 1 } }
      setNow(instant)
      if let source, let event, event <= timer ?? .max {
        try step(source, me, until: target, batchCondition)
      } else {
        if mayStep { source?.timePassed(to: instant) }
        fireTimer()
      }
    }
  }

  /// Waits a little in real time for work outside the scheduler's control, up to the limit of a stall.
  private func wait(for source: any EventSource, _ waited: inout Double, _ progress: inout Int) throws(AppTimeError) {
    app_time_real_sleep(1_000_000)
    let (now, limit, held) = state.withLock { ($0.progress, $0.limits.stallSeconds, $0.held) }
    waited = now == progress ? waited + 0.001 : 0
    progress = now
    guard waited < limit else { throw .stalled(seconds: limit, held: ["the world is held (World.hold)"] + held) }
  }

  /// Executes one event. A callback that blocks its thread can hold it up: the event then ends later, and `isStepping`
  /// stays true until then.
  ///
  /// If another thread drives, the main thread gets the token for the event. With a `batchCondition` it also executes
  /// the events that follow while the app stays at rest, because passing the token takes longer than most events.
  private func step(
    _ source: any EventSource, _ me: Participant, until target: Int64, _ batchCondition: (@Sendable () -> Bool)?
  ) throws(AppTimeError) {
    beginStep()
    let batch = Batch()
    let body = {
      self.finishStep(source)
      guard !me.isMain, let batchCondition else { return }
      for _ in 0..<Self.maximumBatch {
        guard batch.isAwaited.load(ordering: .acquiring), self.canGoOn(source), !batchCondition(),
          self.beginNextStep(source, until: target)
        else { return }
        self.finishStep(source)
      }
    }
    guard source.needsMainQueue else { return body() }
    do throws(AppTimeError) {
      try onMain(me, body)
    } catch {
      batch.isAwaited.store(false, ordering: .releasing)
      state.withLock { $0.isStepping = false }
      throw error
    }
  }

  /// The events that the main thread executes with the token once.
  private final class Batch: Sendable {
    /// False once the driver has given up waiting for an event: another thread may drive when that event ends.
    let isAwaited = Atomic(true)
  }

  /// The maximum number of events that the main thread executes after the first one. Its other work, for example that
  /// of dispatch sources, waits meanwhile.
  private static let maximumBatch = 100

  private func beginStep() {
    state.withLock { state in
      state.isStepping = true
      state.progress += 1
    }
  }

  private func finishStep(_ source: any EventSource) {
    source.step()
    state.withLock { $0.isStepping = false }
  }

  /// Returns true if the app is at rest, and the source does not wait for other work.
  private func canGoOn(_ source: any EventSource) -> Bool {
    let isAtRest = state.withLock { state in
      guard state.isAtRest, !state.isStepping else { return false }
      state.counters.settles += 1
      return true
    }
    return isAtRest && !source.isWaiting
  }

  /// Moves the time to the next event of the source, and begins the event. Returns false if the run ends before it, or
  /// if a timer of the app comes first.
  private func beginNextStep(_ source: any EventSource, until target: Int64) -> Bool {
    guard let event = source.nextEvent, event <= target, event <= nextTimer ?? .max else { return false }
    setNow(event)
    beginStep()
    return true
  }

  func settle() throws(AppTimeError) {
    try drive { me throws(AppTimeError) in try settle(me) }
  }

  /// - Parameters:
  ///   - batchCondition: The condition in a form that any thread may call; nil: there is none.
  ///   - condition: Ends the run early if it returns true at rest.
  func run(
    until target: Int64, source: (any EventSource)?, batchCondition: (@Sendable () -> Bool)? = nil,
    unless condition: () -> Bool = { false }
  ) throws(AppTimeError) {
    guard app_time_is_active() else { throw .notActive }
    let now = app_time_now()
    guard target >= now else { throw .timeRunsForward(now: now, target: target) }
    try drive { me throws(AppTimeError) in
      let outer = state.withLock { state in
        defer { state.source = source }
        return state.source
      }
      defer { state.withLock { $0.source = outer } }
      try run(me, until: target, source: source, batchCondition: batchCondition, unless: condition)
    }
  }

  /// Drives the app while the calling thread, which has no other thread to pass the token to, is blocked.
  ///
  /// - Parameter condition: Ends the wait if it returns true. Not called again after that.
  /// - Returns: True if the condition became true.
  func runWhileBlocked(_ me: Participant, until target: Int64, unless condition: () -> Bool) -> Bool {
    let (wasBlocked, source, isStepping) = state.withLock { state in
      defer { if me.isMain { state.isMainBlocked = true } }
      return (state.isMainBlocked, state.source, state.isStepping)
    }
    defer { state.withLock { $0.isMainBlocked = wasBlocked } }
    var isSatisfied = false
    // A source cannot execute an event inside another event.
    try? run(
      me, until: target, source: isStepping ? nil : source,
      unless: {
        isSatisfied = condition()
        return isSatisfied
      })
    return isSatisfied
  }

  // MARK: Time

  var nextTimer: Int64? {
    state.withLock { state in
      while let first = state.timers.first, Self.isStale(first.action, state) { _ = state.timers.removeFirst() }
      return state.timers.first?.deadline
    }
  }

  private static func isStale(_ action: TimerAction, _ state: State) -> Bool {
    switch action {
    case .push: false
    case .source(let source, let arming): source.arming != arming || source.isCancelled
    case .descriptor(let descriptor, let arming): state.descriptors[descriptor]?.arming != arming
    case .expire(let waiter): waiter.result != nil
    }
  }

  /// Moves virtual time forward. An event that is late because the main thread was blocked does not move it back.
  func setNow(_ instant: Int64) {
    state.withLock { state in
      guard instant > app_time_now() else { return }
      app_time_set_now(instant)
      state.unitsAtInstant = 0
    }
  }

  /// Fires the earliest timer. Returns false if there is none.
  @discardableResult
  func fireTimer() -> Bool {
    guard let deadline = nextTimer else { return false }
    setNow(deadline)
    state.withLock { state in
      guard let action = state.timers.removeFirst()?.action else { return }
      state.counters.timers += 1
      // A timer counts as a unit of work, so that a timer without a delay cannot run forever.
      state.unitsAtInstant += 1
      switch action {
      case .push(let work, let isMain):
        add(work, isMain: isMain, to: &state)
      case .source(let source, _):
        expire(source, &state)
      case .descriptor(let descriptor, _):
        state.descriptors[descriptor]?.deadline = .max
        add(.runLoopTimer(descriptor), isMain: true, to: &state)
      case .expire(let waiter):
        finish(waiter, .expired, &state)
      }
    }
    return true
  }

  // MARK: Asynchronous callers

  /// Passes a request to the server and waits for its end.
  ///
  /// - Parameters:
  ///   - target: The instant to run to, or nil to settle only.
  ///   - condition: Ends the run early if it returns true at rest. The server calls it while the caller waits.
  func request(
    until target: Int64?, source: (any EventSource)?, unless condition: (@Sendable () -> Bool)? = nil,
    isolation: isolated (any Actor)?
  ) async throws(AppTimeError) {
    startServer()
    let error: AppTimeError? = await withUnsafeContinuation(isolation: isolation) { continuation in
      let isActive = state.withLock { state in
        guard state.isActive else { return false }
        state.isServed = true
        state.progress += 1
        state.requests.append(Request(target: target, source: source, condition: condition, continuation: continuation))
        wakeServer(&state)
        return true
      }
      if !isActive { continuation.resume(returning: .notActive) }
    }
    // If the server resumes the continuation before the task has suspended, the task continues on its thread without the
    // token. It yields until the scheduler runs it as a unit of work, so that it does not call the app beside the
    // server. A task with a custom executor never becomes a unit of work, so the number of attempts is limited.
    var attempts = 1_000
    while error == nil, !ownsThread, app_time_is_active(), attempts > 0 {
      await Task.yield()
      attempts -= 1
    }
    if let error { throw error }
  }

  func startServer() {
    _ = Self.serverThread
  }

  private static let serverThread: Void = app_time_start_thread({ _ in Scheduler.shared.serve() }, nil)

  /// Executes requests, and runs the app's work between them with time stopped.
  private func serve() {
    var server = Participant()
    server.holdsToken = true
    Participant.current = server
    while true {
      serverWakeUp.wait()
      let isDriver = state.withLock { state in
        guard state.isActive, state.isServed, state.driver == nil else { return false }
        state.driver = server
        state.unitsAtInstant = 0
        return true
      }
      guard isDriver else { continue }
      while let failure = serveRequests(server) {
        guard case .stalled = failure else { continue }
        // The thread that does not make progress keeps the token of the old participant. The test body goes on.
        server = Participant()
        server.holdsToken = true
        Participant.current = server
        state.withLock { $0.driver = server }
      }
      leave(server)
    }
  }

  /// Executes requests until none is left.
  ///
  /// - Returns: The error that ended the last request, or nil if the app is at rest without a request.
  private func serveRequests(_ server: Participant) -> AppTimeError? {
    while true {
      var failure: AppTimeError?
      do throws(AppTimeError) {
        try settle(server)
      } catch {
        failure = error
      }
      guard let request = state.withLock({ $0.requests.popFirst() }) else { return failure }
      if failure == nil, let target = request.target {
        do throws(AppTimeError) {
          let condition = request.condition ?? { false }
          try run(until: target, source: request.source, batchCondition: condition, unless: condition)
        } catch {
          failure = error
        }
      }
      request.continuation.resume(returning: failure)
      if let failure { return failure }
    }
  }
}
