// Names that apps for Apple's systems get from Foundation and Dispatch, and that these modules lack on Linux.
// `Scripts/client-flags --compat` imports this module into each file of a client.

public import Dispatch

@_exported import typealias CoreBluetooth.CFAbsoluteTime
@_exported import func CoreBluetooth.CFAbsoluteTimeGetCurrent

extension DispatchTime {
  /// Returns the time from this instant to another one; `never` if one of them is `distantFuture`.
  public func distance(to other: DispatchTime) -> DispatchTimeInterval {
    guard self != .distantFuture, other != .distantFuture else { return .never }
    let (start, end) = (uptimeNanoseconds, other.uptimeNanoseconds)
    return end >= start ? .nanoseconds(Int(clamping: end - start)) : .nanoseconds(-Int(clamping: start - end))
  }
}

/// A serial queue. On Apple's systems, this is a subclass that only serial queues belong to.
public typealias DispatchSerialQueue = DispatchQueue

/// Lets an actor run on a queue, as `DispatchSerialQueue` does on Apple's systems. The queue must be serial.
// swift-format-ignore: AvoidRetroactiveConformances
extension DispatchQueue: @retroactive SerialExecutor {
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}
