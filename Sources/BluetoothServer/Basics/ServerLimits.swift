import BluetoothDaemon
import NIOCore

/// The limits of a server, for each client unless they say otherwise.
package struct ServerLimits: Sendable {
  /// The maximum number of clients at a time, at least 1. Clients that may control the server have some places in
  /// addition, and another user has only a part of them: see `ClientPlaces`.
  package var clients = 256
  /// The maximum number of connections whose clients have not said who they are: see `StrangerTable`.
  package var strangers = 64
  /// The maximum number of lines of the log about clients that one user of this machine, or one other host, causes in a
  /// period.
  package var logLines = 60
  package var logPeriod = TimeAmount.seconds(60)
  /// The maximum number of sessions: one for each manager of the app.
  package var sessions = 64
  /// The maximum number of apps of one user on one adapter, counted from the start of the server.
  package var apps = 128
  /// The maximum number of octets that wait for the client to read them.
  package var waitingOctets = 4 << 20
  /// The number of requests and events, of all clients together, that wait for the daemon or for delivery: above it, no
  /// client is read from.
  package var pending = 1_024
  /// The time in which a client must say who it is.
  package var greetingTime = TimeAmount.seconds(5)
  /// The time after which a client is disconnected that handles no event while the daemon holds links because of it.
  package var stallTime = TimeAmount.seconds(10)
  /// The time in which a program that is launched for an event must open its first manager. Otherwise the program is
  /// asked to end, and the launch counts as failed. With the longest pause between launches, 16 s, it must be less than
  /// the 30 s after which an unanswered request ends a link.
  package var launchTime = TimeAmount.seconds(10)
  /// The time that the end of the server waits until its adapters have stored what users have decided and what is
  /// preserved for apps.
  package var storeTime = TimeAmount.seconds(10)

  package init() {}
}

/// An adapter that a server shares.
package struct ServedAdapter: Sendable {
  /// The name by which apps select it.
  package let name: String
  package let adapter: any DaemonAdapter

  /// The adapter, if it has apps with a life.
  var host: (any AppAdapter)? { adapter as? any AppAdapter }

  package init(name: String, adapter: any DaemonAdapter) {
    self.name = name
    self.adapter = adapter
  }
}
