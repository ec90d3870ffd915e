import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Delivers callbacks from an adapter's executor to the queue of a manager, in order and one at a time. See
/// Documentation/Contributing/Design.md, "Queues".
final class CallbackQueue: Sendable {
  private let appQueue: DispatchQueue
  private let isMain: Bool
  /// The queue that keeps callbacks in order even on a concurrent queue in real time; nil in virtual time.
  private let serial: DispatchQueue?
  /// The key that marks `appQueue` and all queues that target it. Each CallbackQueue has a separate key to recognize
  /// its queue.
  private let key = DispatchSpecificKey<Bool>()

  private static let foreignCallWasLogged = NIOLockedValueBox(false)

  init(_ queue: DispatchQueue?, inVirtualTime: Bool) {
    appQueue = queue ?? .main
    isMain = appQueue === DispatchQueue.main
    serial = inVirtualTime ? nil : DispatchQueue(label: "CoreBluetooth." + appQueue.label, target: appQueue)
    appQueue.setSpecific(key: key, value: true)
  }

  deinit { appQueue.setSpecific(key: key, value: nil) }

  /// True in virtual time, in which callbacks have returned when `perform` returns.
  var isInVirtualTime: Bool { serial == nil }

  /// True if the caller is on the app's queue. The main thread counts as the main queue, which a worker thread may
  /// serve.
  private var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) == true || (isMain && Thread.isMainThread)
  }

  /// Executes `work` on the app's queue and waits for it, in virtual time.
  func perform(_ work: () -> Void) {
    if isCurrent {
      work()
    } else {
      CallbackWatch.begin(appQueue)
      appQueue.sync(execute: work)
      CallbackWatch.end(appQueue)
    }
  }

  /// Schedules `work` on the app's queue, in real time. A block that is given a second time is not copied.
  func enqueue(_ work: @escaping @Sendable @convention(block) () -> Void) {
    (serial ?? appQueue).async(execute: work)
  }

  /// Logs, once in a process, that an app calls a manager from another queue than the manager's. Such a call is safe,
  /// so the entry is at debug level.
  func noteCaller(of manager: AnyObject) {
    guard !isCurrent else { return }
    let isFirst = Self.foreignCallWasLogged.withLockedValue { wasLogged in
      defer { wasLogged = true }
      return !wasLogged
    }
    if isFirst { Log.note("\(manager) is called from a queue other than its own, \(appQueue.label)") }
  }
}
