import Dispatch

/// Runs on a queue of its own, as an actor for Bluetooth does.
public actor Stopwatch {
  private let queue = DispatchSerialQueue(label: "stopwatch")
  private var start = DispatchTime.now()

  public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  public init() {}

  public func restart() {
    dispatchPrecondition(condition: .onQueue(queue))
    start = .now()
  }

  public func elapsed() -> DispatchTimeInterval { start.distance(to: .now()) }
}
