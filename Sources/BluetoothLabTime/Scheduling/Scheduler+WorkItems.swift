import CAppTime
import Synchronization

// Groups and work items.

extension Scheduler {
  func notify(_ call: QueueCall, afterGroup group: Handle) {
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
  func groupLeft(_ group: Handle) {
    guard app_time_real_poll(group.pointer, app_time_wait_group) else { return }
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
  func notify(
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

  /// Queues the notifications of a work item that has just run, and continues the threads that wait for work items.
  ///
  /// - Parameter call: The call that has ended; nil for another unit of work.
  func noteEnd(of call: QueueCall? = nil) {
    let (isObserved, waiters) = state.withLock { state in
      let block = call?.context.map(Handle.init)
      let isObserved = block.map { state.observedBlocks[$0] != nil } ?? false
      return (isObserved, state.waiters.filter { $0.kind == app_time_wait_block })
    }
    for waiter in waiters { waiter.object.map { finishWaiters(of: $0, limit: 1) } }
    if isObserved { flushNotifications() }
  }

  /// Waits until the notifications of the work items that have ended are queued.
  private func flushNotifications() {
    app_time_real_sync(Self.notificationQueue.pointer, nil, { _ in }, false)
  }
}
