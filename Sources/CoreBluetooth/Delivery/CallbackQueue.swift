import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Takes callbacks from an adapter's executor to the queue that a manager was given, in order, one at a time. See
/// Documentation/Design.md, "Queues".
final class CallbackQueue: Sendable {
  private let appQueue: DispatchQueue
  private let isMain: Bool
  /// Real time: keeps the order on a concurrent queue, too. nil: virtual time.
  private let serial: DispatchQueue?
  /// Answers on `appQueue` and on every queue that targets it. Never shared, so that it tells this queue from others.
  private let key = DispatchSpecificKey<Bool>()

  private static let foreignCallWasLogged = NIOLockedValueBox(false)

  init(_ queue: DispatchQueue?, inVirtualTime: Bool) {
    appQueue = queue ?? .main
    isMain = appQueue === DispatchQueue.main
    serial = inVirtualTime ? nil : DispatchQueue(label: "CoreBluetooth." + appQueue.label, target: appQueue)
    appQueue.setSpecific(key: key, value: true)
  }

  deinit { appQueue.setSpecific(key: key, value: nil) }

  /// Callbacks are over when `perform` returns.
  var isInVirtualTime: Bool { serial == nil }

  /// Whether the caller is on the app's queue. The main thread counts for the main queue: a worker may serve that.
  private var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) == true || (isMain && Thread.isMainThread)
  }

  /// Virtual time: does `work` on the app's queue and returns after that.
  func perform(_ work: () -> Void) {
    if isCurrent {
      work()
    } else {
      CallbackWatch.begin(appQueue)
      appQueue.sync(execute: work)
      CallbackWatch.end(appQueue)
    }
  }

  /// Real time: does `work` on the app's queue later.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    (serial ?? appQueue).async(execute: work)
  }

  /// Notes in the log, once in a process, that an app calls a manager from another queue than the manager's own. The call
  /// is safe, so the note is at debug level and never stops the program.
  func noteCaller(of manager: AnyObject) {
    guard !isCurrent else { return }
    let isFirst = Self.foreignCallWasLogged.withLockedValue { wasLogged in
      defer { wasLogged = true }
      return !wasLogged
    }
    if isFirst { Log.note("\(manager) is called from another queue than its own, \(appQueue.label)") }
  }
}
