import CAppTime
import Synchronization

// The calls that the interposed C functions make while virtual time is active.

extension Scheduler {
  static func setHooks() {
    var hooks = app_time_hooks(
      enqueue: { queue, function, context, isBarrier in
        Scheduler.shared.add(
          QueueCall(queue: Handle(queue!), function: function!, context: context, isBarrier: isBarrier))
      },
      sync: { queue, function, context, isBarrier in
        Scheduler.shared.callSynchronously(Handle(queue!), function!, context, isBarrier: isBarrier)
      },
      sync_ended: { Scheduler.shared.synchronousCallEnded(Int($0)) },
      after: { deadline, queue, function, context in
        let call = QueueCall(queue: Handle(queue!), function: function!, context: context)
        let isAdded = Scheduler.shared.addTimer(
          deadline: deadline, .push(.call(call), isMain: call.queue == .mainQueue))
        if !isAdded { call.passOn(after: deadline) }
      },
      timer_source_created: { Scheduler.shared.timerSourceCreated(Handle($0!), queue: Handle($1!)) },
      timer_source_armed: { Scheduler.shared.arm(Handle($0!), deadline: $1, interval: $2) },
      timer_source_handler: { source, isCancellation, block in
        Scheduler.shared.setHandler(
          of: Handle(source!), isCancellation: isCancellation, block: block.map(Handle.init))
      },
      source_cancelled: { Scheduler.shared.sourceCancelled(Handle($0!)) },
      suspension_changed: { Scheduler.shared.suspensionChanged(Handle($0!), by: Int($1)) },
      target_changed: { object, queue in
        guard let queue else { return }
        Scheduler.shared.targetChanged(Handle(object!), to: Handle(queue))
      },
      group_notify: { group, queue, function, context in
        Scheduler.shared.notify(
          QueueCall(queue: Handle(queue!), function: function!, context: context), afterGroup: Handle(group!))
      },
      group_left: { Scheduler.shared.groupLeft(Handle($0!)) },
      block_notify: { block, queue, notification in
        Scheduler.shared.notify(notification!, on: Handle(queue!), afterBlock: Handle(block!))
      },
      wait: { object, isGroup, deadline in
        switch Scheduler.shared.wait(for: Handle(object!), isGroup: isGroup, deadline: deadline) {
        case .satisfied: 0
        case .expired: 1
        case .released: -1
        }
      },
      semaphore_signalled: { Scheduler.shared.finishWaiters(of: Handle($0!), limit: 1) },
      timer_descriptor: { Scheduler.shared.arm(descriptor: $0, deadline: $1) },
      owns_thread: { Scheduler.shared.ownsThread },
      sleep: { Scheduler.shared.sleep($0) }
    )
    app_time_set_hooks(&hooks)
  }

  // MARK: Calls on queues

  private func add(_ call: QueueCall) {
    if !add(.call(call), isMain: call.queue == .mainQueue) { call.passOn() }
  }

  /// Prepares or executes a synchronous call.
  ///
  /// - Returns: -1 if the call has returned. Otherwise the real function must execute the call; a positive value is the
  ///   identifier for `synchronousCallEnded`.
  private func callSynchronously(
    _ queue: Handle, _ function: @escaping app_time_function, _ context: UnsafeMutableRawPointer?, isBarrier: Bool
  ) -> Int64 {
    guard ownsThread, let me = Participant.current, me.queue != queue else { return 0 }
    guard queue == .mainQueue else {
      runCalls(on: queue, me)
      return enter(QueueUse(queue, isBarrier: isBarrier), me)
    }
    guard !me.isMain else { return 0 }
    let call = QueueCall(queue: queue, function: function, context: context)
    guard me.previousHolder != nil else {
      // The driver itself calls. Earlier work of the main queue runs first.
      do throws(AppTimeError) {
        try onMain(me) {
          self.runMainWork()
          call.run()
        }
        return -1
      } catch {
        // The call may still run later, and its closure must not be used after the caller has returned.
        fatalError("A synchronous call on the main queue did not return. \(error.description)")
      }
    }
    let isAdded = state.withLock { state in
      guard state.isActive else { return false }
      add(.synchronousCall(call, caller: me), isMain: true, to: &state)
      return true
    }
    if isAdded, me.park(reason: "a synchronous call on the main queue") { return -1 }
    app_time_release(queue.pointer)
    return 0
  }

  /// Waits until a synchronous call on a queue can start, and notes that it occupies the queue.
  ///
  /// - Returns: The identifier for `synchronousCallEnded`, or 0.
  private func enter(_ use: QueueUse, _ me: Participant) -> Int64 {
    guard !use.isEmpty else { return 0 }
    let (isBlocked, isDeadlock) = state.withLock { state in
      (state.isBlocked(use), state.occupants.contains { $0.participant === me && $0.use.excludes(use) })
    }
    // libdispatch reports the deadlock of a thread with itself.
    guard !isDeadlock else { return 0 }
    if isBlocked {
      if me.previousHolder == nil {
        _ = runWhileBlocked(me, until: .max, unless: { state.withLock { !$0.isBlocked(use) } })
      } else {
        let waiter = Waiter(object: nil, isGroup: false, deadline: .max, participant: me)
        let result = park(
          me, waiter, reason: "a synchronous call on queue \"\(use.queue.label)\"", turn: use)
        guard result == .satisfied else { return 0 }
        return state.withLock { state in
          guard let occupant = waiter.occupant else { return 0 }
          state.setOccupant(occupant, me)
          return Int64(occupant)
        }
      }
    }
    return state.withLock { state in
      guard state.isActive else { return 0 }
      state.nextID += 1
      state.enterQueues(use, state.nextID)
      state.setOccupant(state.nextID, me)
      return Int64(state.nextID)
    }
  }

  private func synchronousCallEnded(_ id: Int) {
    state.withLock { state in
      state.leaveQueues(id)
      wakeServer(&state)
    }
  }

  /// Runs the queued calls of a queue, so that a synchronous call comes after them.
  private func runCalls(on queue: Handle, _ me: Participant) {
    while true {
      let next: (id: Int, work: Work)? = state.withLock { state in
        let work = state.pool.popFirst { work in
          switch work {
          case .call(let call), .admitted(let call, _): call.queue == queue
          case .turn(_, let use): use.queue == queue
          default: false
          }
        }
        return work.map { (begin($0, &state), $0) }
      }
      // `run` throws only if `isWatched` is true.
      guard let next, (try? run(next.work, id: next.id, from: me, isWatched: false)) != nil else { return }
      if state.withLock({ $0.suspensions[queue] != nil }) { return }
    }
  }

  private func suspensionChanged(_ object: Handle, by change: Int) {
    state.withLock { state in
      if let source = state.timerSources[object] {
        let wasSuspended = source.isSuspended
        if source.isInactive, change <= 0 {
          source.isInactive = false
        } else {
          source.suspensions += change
        }
        if wasSuspended, !source.isSuspended { resume(source, &state) }
        return
      }
      guard change != 0, change > 0 || state.suspensions[object] != nil else { return }
      state.suspensions[object, default: (0, [])].count += change
      guard let suspension = state.suspensions[object], suspension.count == 0 else { return }
      state.suspensions[object] = nil
      // The calls that came later may be in the pool.
      state.pool.prepend(suspension.calls.map(Work.call))
      state.progress += 1
      wakeServer(&state)
    }
  }

  // MARK: Timer sources

  private func timerSourceCreated(_ source: Handle, queue: Handle) {
    let entry = TimerSource(source: source, queue: queue)
    state.withLock { state in
      guard state.isActive else { return }
      state.timerSources[source] = entry
    }
    app_time_set_finalizer(source.pointer, Unmanaged.passRetained(entry).toOpaque()) {
      Scheduler.shared.forget(Unmanaged<TimerSource>.fromOpaque($0!).takeRetainedValue())
    }
  }

  /// Drops the entry of a source that was destroyed. Its handlers are released outside the lock, because they may own
  /// objects of the app.
  private func forget(_ entry: TimerSource) {
    let handlers: [Handle] = state.withLock { state in
      entry.arming += 1
      // libdispatch calls finalizers after it has freed the source, so a new source may have the same address.
      if state.timerSources[entry.source] === entry { state.timerSources[entry.source] = nil }
      defer { (entry.eventHandler, entry.cancelHandler) = (nil, nil) }
      return [entry.eventHandler, entry.cancelHandler].compactMap { $0 }
    }
    for handler in handlers { app_time_release_block(handler.pointer) }
  }

  private func arm(_ source: Handle, deadline: Int64, interval: UInt64) -> Bool {
    state.withLock { state in
      guard let entry = state.timerSources[source] else { return false }
      entry.interval = interval
      entry.isExpired = false
      schedule(entry, deadline: deadline, &state)
      return true
    }
  }

  private func schedule(_ source: TimerSource, deadline: Int64, _ state: inout State) {
    source.arming += 1
    source.deadline = deadline
    guard deadline != .max else { return }
    state.timers.insert(
      deadline: max(deadline, app_time_now()), action: .source(source, arming: source.arming))
  }

  private func setHandler(of source: Handle, isCancellation: Bool, block: Handle?) -> Bool {
    let copy = block.map { Handle(app_time_copy_block($0.pointer)) }
    let (isTaken, old): (Bool, Handle?) = state.withLock { state in
      guard let entry = state.timerSources[source] else { return (false, copy) }
      let handler: ReferenceWritableKeyPath<TimerSource, Handle?> = isCancellation ? \.cancelHandler : \.eventHandler
      defer { entry[keyPath: handler] = copy }
      return (true, entry[keyPath: handler])
    }
    if let old { app_time_release_block(old.pointer) }
    return isTaken
  }

  /// Queues the event handler of a source whose timer expired.
  func expire(_ source: TimerSource, _ state: inout State) {
    if source.interval > 0, source.interval < UInt64(Int64.max) {
      schedule(source, deadline: source.deadline.addingSaturated(Int64(source.interval)), &state)
    } else {
      schedule(source, deadline: .max, &state)
    }
    if source.isSuspended {
      source.isExpired = true
    } else {
      callHandler(of: source, &state)
    }
  }

  private func callHandler(of source: TimerSource, _ state: inout State) {
    let function: app_time_function = { context in
      let source = Unmanaged<TimerSource>.fromOpaque(context!).takeRetainedValue()
      let handler: Handle? = Scheduler.shared.state.withLock { _ in
        source.isPending = false
        // A block that replaces its own handler must not free it while it runs.
        return source.isCancelled ? nil : source.eventHandler.map { Handle(app_time_copy_block($0.pointer)) }
      }
      if let handler { app_time_run_block(handler.pointer) }
    }
    // As in libdispatch, the timer has one event that waits, however often it expires meanwhile.
    guard !source.isPending else { return }
    source.isPending = true
    let call = QueueCall(
      queue: source.queue, function: function, context: Unmanaged.passRetained(source).toOpaque())
    add(.call(call), isMain: source.queue == .mainQueue, to: &state)
  }

  private func sourceCancelled(_ source: Handle) {
    let handler: Handle? = state.withLock { state in
      guard let entry = state.timerSources[source], !entry.isCancelled else { return nil }
      entry.isCancelled = true
      entry.arming += 1
      if !entry.isSuspended { callCancelHandler(of: entry, &state) }
      defer { entry.eventHandler = nil }
      return entry.eventHandler
    }
    // libdispatch also releases the handlers of a cancelled source: a handler often refers to its source, and the two
    // would keep each other alive. A handler that is running has a copy of the block.
    if let handler { app_time_release_block(handler.pointer) }
  }

  private func callCancelHandler(of source: TimerSource, _ state: inout State) {
    guard let handler = source.cancelHandler else { return }
    source.cancelHandler = nil
    let call = QueueCall(queue: source.queue, function: { app_time_run_block($0) }, context: handler.pointer)
    add(.call(call), isMain: source.queue == .mainQueue, to: &state)
  }

  private func resume(_ source: TimerSource, _ state: inout State) {
    if source.isCancelled {
      callCancelHandler(of: source, &state)
    } else if source.isExpired {
      source.isExpired = false
      callHandler(of: source, &state)
    }
  }

  private func targetChanged(_ object: Handle, to queue: Handle) {
    let old: Handle? = state.withLock { state in
      guard let source = state.timerSources[object] else { return nil }
      defer { source.queue = queue }
      app_time_retain(queue.pointer)
      return source.queue
    }
    if let old { app_time_release(old.pointer) }
  }

  // MARK: Run loop timers

  private func arm(descriptor: Int32, deadline: Int64) {
    state.withLock { state in
      let arming = (state.descriptors[descriptor]?.arming ?? 0) + 1
      state.descriptors[descriptor] = (arming, deadline)
      guard state.isActive, deadline != .max else { return }
      state.timers.insert(
        deadline: max(deadline, app_time_now()), action: .descriptor(descriptor, arming: arming))
    }
  }

  // MARK: Groups and work items

  private func notify(_ call: QueueCall, afterGroup group: Handle) {
    app_time_retain(group.pointer)
    let isStored = state.withLock { state in
      guard state.isActive else { return false }
      state.groupNotifications[group, default: []].append(call)
      return true
    }
    guard isStored else {
      app_time_release(group.pointer)
      app_time_real_group_notify(group.pointer, call.queue.pointer, call.context, call.function)
      return app_time_release(call.queue.pointer)
    }
    groupLeft(group)
  }

  /// Queues the notifications and continues the waiting threads of a group that has become empty.
  private func groupLeft(_ group: Handle) {
    guard app_time_real_poll(group.pointer, true) else { return }
    let calls = state.withLock { $0.groupNotifications.removeValue(forKey: group) } ?? []
    for call in calls {
      add(call)
      app_time_release(group.pointer)
    }
    finishWaiters(of: group, limit: .max)
  }

  private static let notificationQueue = Handle(app_time_serial_queue("virtual-time.notifications"))

  private final class BlockNotification: Sendable {
    let block: Handle
    let call: QueueCall

    init(block: Handle, call: QueueCall) {
      self.block = block
      self.call = call
    }
  }

  /// Observes a work item through a queue of the scheduler, which passes the notification on.
  private func notify(
    _ notification: UnsafeMutableRawPointer, on queue: Handle, afterBlock block: Handle
  ) -> Bool {
    let call = QueueCall(
      queue: queue, function: { app_time_run_block($0) }, context: app_time_copy_block(notification))
    let observation = BlockNotification(block: block, call: call)
    state.withLock { $0.observedBlocks[block, default: 0] += 1 }
    app_time_real_block_notify_f(
      block.pointer, Self.notificationQueue.pointer, Unmanaged.passRetained(observation).toOpaque()
    ) { context in
      let observation = Unmanaged<BlockNotification>.fromOpaque(context!).takeRetainedValue()
      Scheduler.shared.blockEnded(observation)
    }
    // If the work item has already run, its notification is on the queue now.
    flushNotifications()
    return true
  }

  private func blockEnded(_ observation: BlockNotification) {
    let block = observation.block
    let isAdded = state.withLock { state in
      let count = (state.observedBlocks[block] ?? 0) - 1
      state.observedBlocks[block] = count > 0 ? count : nil
      guard state.isActive else { return false }
      add(.call(observation.call), isMain: observation.call.queue == .mainQueue, to: &state)
      return true
    }
    if !isAdded { observation.call.passOn() }
  }

  /// Queues the notifications of a work item that has just run.
  func noteEnd(of call: QueueCall) {
    guard let block = call.context.map(Handle.init), state.withLock({ $0.observedBlocks[block] != nil }) else { return }
    flushNotifications()
  }

  /// Waits until the notifications of the work items that have ended are queued.
  private func flushNotifications() {
    app_time_real_sync(Self.notificationQueue.pointer, nil) { _ in }
  }

  // MARK: Blocking calls

  /// Waits for a semaphore or a group without keeping the token.
  private func wait(for object: Handle, isGroup: Bool, deadline: Int64) -> Waiter.Result {
    guard ownsThread, let me = Participant.current else { return .released }
    let reason = isGroup ? "a wait for a dispatch group" : "a wait for a semaphore"
    guard me.previousHolder != nil else {
      if runWhileBlocked(me, until: deadline, unless: { app_time_real_poll(object.pointer, isGroup) }) {
        return .satisfied
      }
      return deadline == .max ? .released : .expired
    }
    return park(me, Waiter(object: object, isGroup: isGroup, deadline: deadline, participant: me), reason: reason)
  }

  private func sleep(_ nanoseconds: Int64) -> Bool {
    guard ownsThread, let me = Participant.current else { return false }
    let deadline = app_time_now().addingSaturated(nanoseconds)
    guard me.previousHolder != nil else {
      _ = runWhileBlocked(me, until: deadline, unless: { false })
      setNow(deadline)
      return true
    }
    let waiter = Waiter(object: nil, isGroup: false, deadline: deadline, participant: me)
    if park(me, waiter, reason: "a blocking sleep") == .released {
      app_time_real_sleep(deadline - app_time_now())
    }
    return true
  }

  /// - Parameter turn: The queues that the thread waits for; nil for another wait.
  private func park(
    _ me: Participant, _ waiter: Waiter, reason: String, turn: QueueUse? = nil
  ) -> Waiter.Result {
    me.reason = reason
    let isActive = state.withLock { state in
      guard state.isActive else { return false }
      state.waiters.append(waiter)
      if waiter.deadline != .max {
        state.timers.insert(deadline: max(waiter.deadline, app_time_now()), action: .expire(waiter))
      }
      if let turn { state.blocked.append((.turn(waiter, turn), turn)) }
      if me.isMain { state.isMainBlocked = true }
      return true
    }
    guard isActive else { return .released }
    // A thread outside the scheduler may have signalled before the waiter was stored.
    if let object = waiter.object { finishWaiters(of: object, limit: waiter.isGroup ? .max : 1) }
    _ = me.park(reason: reason)
    return state.withLock { state in
      if me.isMain { state.isMainBlocked = false }
      return waiter.result ?? .released
    }
  }

  /// Continues threads that wait for a semaphore or a group, if the object allows it.
  private func finishWaiters(of object: Handle, limit: Int) {
    state.withLock { state in
      for waiter in state.waiters.filter({ $0.object == object }).prefix(limit) {
        guard app_time_real_poll(object.pointer, waiter.isGroup) else { return }
        finish(waiter, .satisfied, &state)
      }
    }
  }

  func finish(_ waiter: Waiter, _ result: Waiter.Result, _ state: inout State) {
    waiter.result = result
    state.waiters.removeAll { $0 === waiter }
    add(.resume(waiter.participant), isMain: false, to: &state)
  }
}

extension QueueCall {
  /// Passes the call to the real queue after the rest of its delay.
  func passOn(after deadline: Int64, now: Int64 = app_time_now()) {
    let delay = deadline == .max ? .max : max(0, deadline - now)
    app_time_real_after(delay, queue.pointer, context, function)
    app_time_release(queue.pointer)
  }
}
