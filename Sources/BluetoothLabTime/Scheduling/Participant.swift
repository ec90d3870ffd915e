import CAppTime

/// A hand-over signal between two threads, in real time. Unchecked, because the semaphore behind the constant pointer
/// may be used by any thread.
final class Baton: @unchecked Sendable {
  private let baton = app_time_baton_create()!

  deinit {
    app_time_baton_free(baton)
  }

  func signal() {
    app_time_baton_signal(baton)
  }

  /// Waits for a signal.
  ///
  /// - Parameter nanoseconds: The limit; nil waits without a limit.
  /// - Returns: False if the limit passed without a signal.
  @discardableResult
  func wait(nanoseconds: Int64? = nil) -> Bool {
    app_time_baton_wait(baton, nanoseconds ?? -1)
  }
}

/// A thread that takes part in virtual time. One participant at a time holds the token and runs.
///
/// The token passes through `grant` and back through `giveBack`. All fields are written by the holder of the token, or
/// by the thread that passes the token, before the baton is signalled. The compiler cannot see that order, hence
/// unchecked.
final class Participant: @unchecked Sendable {
  let baton = Baton()
  /// The participant that has passed the token to this one and waits to get it back.
  var previousHolder: Participant?
  /// True while the participant holds the token.
  var holdsToken = false
  /// True if the thread runs work of the main queue.
  var isMain = false
  /// True if another thread kept the token when the wait for it ended with an error.
  var isTokenMissing = false
  /// Work of the main queue that the waiting thread must run.
  var delegatedBatch: Scheduler.MainBatch?
  /// The queue that the thread serves.
  var queue: Handle?
  /// The kind of call that blocks the thread, for error messages.
  var reason = "a wait"
  /// The activation in which a thread of the test took part; nil for threads of the scheduler.
  var activation: Int?

  init(isMain: Bool = false) {
    self.isMain = isMain
  }

  /// The participant of the calling thread.
  static var current: Participant? {
    get {
      app_time_thread_context().map { Unmanaged<Participant>.fromOpaque($0).takeUnretainedValue() }
    }
    set {
      let old = app_time_thread_context()
      app_time_set_thread_context(newValue.map { Unmanaged.passRetained($0).toOpaque() })
      if let old { Unmanaged<Participant>.fromOpaque(old).release() }
    }
  }

  /// Passes the token to the participant, which signals `previousHolder` when it parks or ends.
  func grant(from previousHolder: Participant) {
    self.previousHolder = previousHolder
    holdsToken = true
    baton.signal()
  }

  /// Returns the token to the participant that waits for it.
  func giveBack() {
    holdsToken = false
    guard let previousHolder else { return }
    self.previousHolder = nil
    previousHolder.baton.signal()
  }

  /// Returns the token and waits until another participant passes it on.
  ///
  /// - Returns: False if virtual time ended during the wait; the thread then runs without the token.
  func park(reason: String) -> Bool {
    self.reason = reason
    giveBack()
    baton.wait()
    return holdsToken
  }

  /// Ends the wait of a parked participant without the token.
  func release() {
    baton.signal()
  }
}

/// A thread that waits for a semaphore, a group, a work item, a queue or a virtual instant. Unchecked, because the scheduler's lock guards the
/// variables.
final class Waiter: @unchecked Sendable {
  enum Result { case satisfied, expired, released }

  /// The semaphore, the group or the work item; nil for a sleep or a queue.
  let object: Handle?
  let kind: app_time_wait_kind
  let deadline: Int64
  let participant: Participant
  /// The outcome. Guarded by the scheduler's lock.
  var result: Result?
  /// The occupant that keeps a queue for the thread. Guarded by the scheduler's lock.
  var occupant: Int?

  init(object: Handle?, kind: app_time_wait_kind = app_time_wait_semaphore, deadline: Int64, participant: Participant) {
    self.object = object
    self.kind = kind
    self.deadline = deadline
    self.participant = participant
  }
}

/// A dispatch source of a timer or of user data that follows virtual time. The scheduler's lock guards all fields, hence unchecked.
final class TimerSource: @unchecked Sendable {
  let source: Handle
  let kind: app_time_source_kind
  var queue: Handle
  var eventHandler: Handle?
  var cancelHandler: Handle?
  var isInactive = true
  var isCancelled = false
  var suspensions = 0
  /// Counts the calls that arm or disarm the source, so that older timers have no effect.
  var arming = 0
  var deadline = Int64.max
  var interval = UInt64.max
  /// True if the timer expired, or data came, while the source was suspended.
  var isExpired = false
  /// The user data for the next call of the event handler, and of the present one.
  var (pendingData, data): (UInt, UInt) = (0, 0)
  /// True while a call of the event handler is queued.
  var isPending = false

  var isSuspended: Bool { isInactive || suspensions > 0 }

  init(source: Handle, kind: app_time_source_kind, queue: Handle) {
    self.source = source
    self.kind = kind
    self.queue = queue
    app_time_retain(queue.pointer)
  }

  deinit {
    app_time_release(queue.pointer)
    if let eventHandler { app_time_release_block(eventHandler.pointer) }
    if let cancelHandler { app_time_release_block(cancelHandler.pointer) }
  }
}
