import Dispatch
import NIOConcurrencyHelpers

/// Detects callbacks in virtual time that do not return, because no thread serves the queue or the callback blocks.
enum CallbackWatch {
  private struct State {
    /// The queues of the callbacks that have not returned.
    var running: [DispatchQueue] = []
    /// The number of calls of `begin` and `end`.
    var changes = 0
    var seen = -1
    var timer: AppBox<any DispatchSourceTimer>?
  }

  private static let state = NIOLockedValueBox(State())
  private static let period = 10

  static func begin(_ queue: DispatchQueue) {
    state.withLockedValue { state in
      state.running.append(queue)
      state.changes &+= 1
      if state.timer == nil { state.timer = AppBox(value: makeTimer()) }
    }
  }

  static func end(_ queue: DispatchQueue) {
    state.withLockedValue { state in
      if let index = state.running.lastIndex(where: { $0 === queue }) { state.running.remove(at: index) }
      state.changes &+= 1
    }
  }

  private static func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + .seconds(period), repeating: .seconds(period))
    timer.setEventHandler { look() }
    timer.resume()
    return timer
  }

  /// Warns if the latest callback has not returned and no callback has begun or ended for a whole period.
  private static func look() {
    let stuck: DispatchQueue? = state.withLockedValue { state in
      defer { state.seen = state.changes }
      return state.seen == state.changes ? state.running.last : nil
    }
    if let stuck {
      Log.warning(
        "a callback on the queue \(stuck.label) has not returned for \(period) s: the queue may be blocked")
    }
  }
}
