import Dispatch

/// The executor of one world on a separate dispatch queue.
final class DispatchWorldExecutor: WorldExecutor, @unchecked Sendable {
  // Unchecked: both properties are constant, and their types are thread-safe.
  private let queue = DispatchQueue(label: "CoreBluetooth world", qos: .userInitiated)
  private let timer: any DispatchSourceTimer

  init() { timer = DispatchSource.makeTimerSource(queue: queue) }

  func execute(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  func wait<R: Sendable>(for work: () -> R) -> R { queue.sync(execute: work) }

  func begin(_ onTimer: @escaping @Sendable () -> Void) {
    timer.setEventHandler { onTimer() }
    timer.schedule(deadline: .now())
    timer.activate()
  }

  func setTimer(_ wait: Int?) {
    guard let wait else { return timer.schedule(deadline: .distantFuture) }
    timer.schedule(deadline: .now() + .nanoseconds(wait), leeway: .nanoseconds(0))
  }

  func end() { timer.cancel() }
}

extension WorldExecutor {
  package var clock: UInt64 { DispatchTime.now().uptimeNanoseconds }
  package var epoch: Double? { nil }
}
