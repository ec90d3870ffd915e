// Design: the queues of apps
//
// Callbacks leave the adapter's executor to the queue that the manager was given (nil: main), in order, one at a
// time. In virtual time a callback is delivered in one of two ways:
// - with a synchronous dispatch: no thread is woken, and the return of the callback is the signal that time may
//   advance;
// - in place, if the caller is already on the queue. That is the case if `getSpecific` of this delivery's own key
//   answers (one `DispatchSpecificKey` per manager, set on the app's own queue and never shared), or if the queue is
//   main and `Thread.isMainThread`. Both conditions are necessary: after the first `await` of an async `main`, and
//   in Swift Testing, a worker thread serves the main queue.
//
// In virtual time the world delivers one callback at a time, which is sufficient even for a concurrent queue. In
// real time, callbacks go through a private serial queue that targets the app's queue. If a delivery has not
// returned after 10 s of wall time, the queue's label is logged (`CallbackWatch`).
//
// An app can call a manager from any queue. The first call from a queue other than the manager's is logged at debug
// level, once in a process; it is no misuse. With `COREBLUETOOTH_STRICT=1` the first misuse that is logged (its line
// begins with `API MISUSE`) stops the program. `CoreBluetoothExtras` checks the state before each call; a call that
// crosses the end of the link, or of Bluetooth, is dropped without a report, because the app is not at fault.
//
// It is a misuse to pass an object of one manager to another: a request, a central, a published service or
// characteristic, a peripheral, an attribute of another peripheral. Each object stores the identity of its manager
// (`ManagerIdentity`), because handles and request numbers of two devices coincide. A request stays open for its own
// manager. A service can be published by one manager at a time.

import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Delivers callbacks from an adapter's executor to the queue of a manager, in order and one at a time.
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
