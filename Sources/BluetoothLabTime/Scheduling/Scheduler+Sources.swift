import CAppTime
import Synchronization

// Dispatch sources of timers and of user data.

extension Scheduler {
  func sourceCreated(_ source: Handle, queue: Handle, kind: app_time_source_kind) {
    let entry = TimerSource(source: source, kind: kind, queue: queue)
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

  func arm(_ source: Handle, deadline: Int64, interval: UInt64) -> Bool {
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

  func setHandler(of source: Handle, isCancellation: Bool, block: Handle?) -> Bool {
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
        (source.data, source.pendingData) = (source.pendingData, 0)
        guard source.kind == app_time_source_timer || source.data != 0 else { return nil }
        // A block that replaces its own handler must not free it while it runs.
        return source.isCancelled ? nil : source.eventHandler.map { Handle(app_time_copy_block($0.pointer)) }
      }
      if let handler { app_time_run_block(handler.pointer) }
    }
    // As in libdispatch, one event waits, however often the timer expires or data comes meanwhile.
    guard !source.isPending else { return }
    source.isPending = true
    let call = QueueCall(
      queue: source.queue, function: function, context: Unmanaged.passRetained(source).toOpaque())
    add(.call(call), isMain: source.queue == .mainQueue, to: &state)
  }

  /// Adds data to a source of user data. Returns false if the source is not one that the scheduler has taken over.
  func mergeData(_ value: UInt, into source: Handle) -> Bool {
    let isOwn = Participant.current?.holdsToken ?? false
    return state.withLock { state in
      if !isOwn || state.timerSources[source] == nil { state.counters.foreignWakeUps += 1 }
      guard let entry = state.timerSources[source] else { return false }
      guard !entry.isCancelled else { return true }
      switch entry.kind {
      case app_time_source_data_add: entry.pendingData &+= value
      case app_time_source_data_or: entry.pendingData |= value
      default: entry.pendingData = value
      }
      guard entry.pendingData != 0 else { return true }
      if entry.isSuspended {
        entry.isExpired = true
      } else {
        callHandler(of: entry, &state)
      }
      return true
    }
  }

  /// The data of the present call of the event handler, or nil if the source is not one of user data.
  func data(of source: Handle) -> UInt? {
    state.withLock { state in
      guard let entry = state.timerSources[source], entry.kind != app_time_source_timer else { return nil }
      return entry.data
    }
  }

  func sourceCancelled(_ source: Handle) {
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

  func resume(_ source: TimerSource, _ state: inout State) {
    if source.isCancelled {
      callCancelHandler(of: source, &state)
    } else if source.isExpired {
      source.isExpired = false
      callHandler(of: source, &state)
    }
  }

  func targetChanged(_ object: Handle, to queue: Handle) {
    let old: Handle? = state.withLock { state in
      guard let source = state.timerSources[object] else { return nil }
      defer { source.queue = queue }
      app_time_retain(queue.pointer)
      return source.queue
    }
    if let old { app_time_release(old.pointer) }
  }
}
