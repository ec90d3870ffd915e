import BluetoothDaemon
import NIOConcurrencyHelpers

/// The adapter of managers that name none: the adapter of the current task if there is one, else that of the process.
/// Worlds set it, so that an app needs no change to join them.
package enum DefaultAdapter {
  /// The adapter of the current task and of the tasks that it creates, except detached ones; nil: none.
  @TaskLocal package static var ofTask: (any DaemonAdapter)?

  private static let process = NIOLockedValueBox<(any DaemonAdapter)?>(nil)

  /// The adapter of all other code of the process; nil: none.
  package static var ofProcess: (any DaemonAdapter)? {
    get { process.withLockedValue { $0 } }
    set { process.withLockedValue { $0 = newValue } }
  }

  /// The adapter for a manager that is created now and names none; nil: none.
  package static var current: (any DaemonAdapter)? { ofTask ?? ofProcess }
}
