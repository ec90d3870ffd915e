import BluetoothDaemonProtocol
import BluetoothWire
import Metrics
import NIOConcurrencyHelpers

/// The counts that a server reports to the metrics system of its program. Without such a system, nothing is counted.
final class ServerMetrics: Sendable {
  let connections = Counter(label: "btserver_connections_total")
  let messages = Counter(label: "btserver_messages_total")
  let receivedOctets = Counter(label: "btserver_received_octets_total")
  let sentOctets = Counter(label: "btserver_sent_octets_total")
  private let clients = Gauge(label: "btserver_clients")
  private let sessions = Gauge(label: "btserver_sessions")
  private let sessionCount = NIOLockedValueBox(0)

  func setClients(_ count: Int) { clients.record(count) }

  /// Counts sessions that have been opened, or, if negative, that have ended.
  func addSessions(_ count: Int) {
    sessions.record(
      sessionCount.withLockedValue { value in
        value += count
        return value
      })
  }

  /// Notes the links of an adapter.
  func setLinks(_ count: Int, of adapter: String) {
    Gauge(label: "btserver_links", dimensions: [("adapter", adapter)]).record(count)
  }

  /// Counts a link that has ended.
  ///
  /// - Parameter reason: the reason that the controller has reported; nil: the link has ended with the adapter.
  func noteLinkEnd(_ reason: HCI.ErrorCode?, of adapter: String) {
    let dimensions = [("adapter", adapter), ("reason", reason.map { "\($0)" } ?? "adapter")]
    Counter(label: "btserver_link_ends_total", dimensions: dimensions).increment()
  }

  /// Counts a client that has been disconnected.
  func noteRefusal(_ reason: RefusalReason) {
    Counter(label: "btserver_refusals_total", dimensions: [("reason", "\(reason)")]).increment()
  }
}
