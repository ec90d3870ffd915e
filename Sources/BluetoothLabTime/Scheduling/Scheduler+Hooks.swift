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
      source_created: { Scheduler.shared.sourceCreated(Handle($0!), queue: Handle($1!), kind: $2) },
      merge_data: { Scheduler.shared.mergeData($1, into: Handle($0!)) },
      source_data: { source, value in
        guard let data = Scheduler.shared.data(of: Handle(source!)) else { return false }
        value?.pointee = data
        return true
      },
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
      wait: { object, kind, deadline in
        switch Scheduler.shared.wait(for: Handle(object!), kind: kind, deadline: deadline) {
        case .satisfied: 0
        case .expired: 1
        case .released: -1
        }
      },
      semaphore_signalled: { Scheduler.shared.finishWaiters(of: Handle($0!), limit: 1) },
      timer_descriptor: { Scheduler.shared.arm(descriptor: $0, deadline: $1) },
      run_loop_block: { _ = Scheduler.shared.add(.runLoopBlock, isMain: true) },
      owns_thread: { Scheduler.shared.ownsThread },
      sleep: { Scheduler.shared.sleep($0) },
      thread_created: { library in Scheduler.shared.threadCreated(by: library.map { String(cString: $0) }) },
      outside_source_created: { Scheduler.shared.outsideSourceCreated() }
    )
    app_time_set_hooks(&hooks)
  }

  // MARK: Work outside virtual time

  /// Counts a thread that virtual time does not control, and reports the first one of an activation.
  ///
  /// - Parameter library: The path of the executable or library that created the thread; nil: unknown.
  private func threadCreated(by library: String?) {
    let count: Int = state.withLock { state in
      guard state.isActive else { return 0 }
      state.counters.threads += 1
      return state.counters.threads
    }
    guard count == 1 else { return }
    app_time_report(
      "A thread was created\(library.map { " by \($0)" } ?? ""). The world does not control threads of the app and of "
        + "libraries: their sleeps take real time, and a run does not wait for them. Use a queue or a task instead, or "
        + "let the world wait with World.hold(during:). Further threads are only counted.\n")
  }

  /// Counts a source that virtual time does not control, and reports the first one of an activation.
  private func outsideSourceCreated() {
    let count: Int = state.withLock { state in
      guard state.isActive else { return 0 }
      state.counters.outsideSources += 1
      return state.counters.outsideSources
    }
    guard count == 1 else { return }
    app_time_report(
      "A dispatch source of a descriptor, a signal or a process was created. The world does not control its events: they "
        + "come in real time, and a run does not wait for them. Let the world wait with World.hold(during:). Further "
        + "sources are only counted.\n")
  }

  // MARK: Calls on queues

  func add(_ call: QueueCall) {
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
        let waiter = Waiter(object: nil, deadline: .max, participant: me)
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
    noteEnd()
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

  // MARK: Blocking calls

  /// Waits for an object without keeping the token.
  private func wait(for object: Handle, kind: app_time_wait_kind, deadline: Int64) -> Waiter.Result {
    guard ownsThread, let me = Participant.current else { return .released }
    let reason =
      switch kind {
      case app_time_wait_group: "a wait for a dispatch group"
      case app_time_wait_block: "a wait for a work item"
      default: "a wait for a semaphore"
      }
    guard me.previousHolder != nil else {
      if runWhileBlocked(me, until: deadline, unless: { app_time_real_poll(object.pointer, kind) }) {
        return .satisfied
      }
      return deadline == .max ? .released : .expired
    }
    return park(me, Waiter(object: object, kind: kind, deadline: deadline, participant: me), reason: reason)
  }

  private func sleep(_ nanoseconds: Int64) -> Bool {
    guard ownsThread, let me = Participant.current else { return false }
    let deadline = app_time_now().addingSaturated(nanoseconds)
    guard me.previousHolder != nil else {
      _ = runWhileBlocked(me, until: deadline, unless: { false })
      setNow(deadline)
      return true
    }
    let waiter = Waiter(object: nil, deadline: deadline, participant: me)
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
    if let object = waiter.object { finishWaiters(of: object, limit: waiter.kind == app_time_wait_group ? .max : 1) }
    _ = me.park(reason: reason)
    return state.withLock { state in
      if me.isMain { state.isMainBlocked = false }
      return waiter.result ?? .released
    }
  }

  /// Continues threads that wait for a semaphore or a group, if the object allows it.
  func finishWaiters(of object: Handle, limit: Int) {
    state.withLock { state in
      for waiter in state.waiters.filter({ $0.object == object }).prefix(limit) {
        guard app_time_real_poll(object.pointer, waiter.kind) else { return }
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
