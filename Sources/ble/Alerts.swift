import ArgumentParser
import BluetoothAdapters
import BluetoothDaemonProtocol
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The command that lists the alerts of a server.
struct Alerts: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the alerts of a btserver about apps in the background.")

  @OptionGroup var options: ServerOptions

  @Flag(help: "Goes on with the alerts to come, until it is interrupted.")
  var follow = false

  func run() throws {
    guard follow else {
      let alerts = try options.ask { try $0.alerts() }
      return try say(alerts.isEmpty ? "no alerts" : alerts.map(\.line).joined(separator: "\n"))
    }
    let failure = NIOLockedValueBox<OutputFailure?>(nil)
    try options.ask { question in
      try question.follow { alerts in
        do throws(OutputFailure) {
          for alert in alerts { try say(alert.line) }
          return true
        } catch {
          failure.withLockedValue { $0 = error }
          return false
        }
      }
    }
    if let failure = failure.withLockedValue({ $0 }) { throw failure }
  }
}

extension AlertDescription {
  /// The alert in one line.
  fileprivate var line: String {
    let date = Date(timeIntervalSince1970: Double(time) / 1_000)
    return "\(date.formatted(.iso8601))  \(app)  \(text)".printable
  }
}
