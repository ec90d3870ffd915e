import ArgumentParser
import BluetoothAir
import BluetoothDaemonProtocol
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The command that lists the alerts of a server.
struct Alerts: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the alerts of a btserver about apps in the background."
  )
  .examples("ble alerts", "ble alerts --follow --json")

  @OptionGroup var options: ServerOptions

  @Flag(help: "Goes on with the alerts to come, until it is interrupted.")
  var follow = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let isJSON = output.json
    guard follow else {
      let alerts = try options.ask { try $0.alerts() }
      if alerts.isEmpty, !isJSON { try say("no alerts") }
      for alert in alerts { try alert.put(isJSON: isJSON) }
      return
    }
    let failure = NIOLockedValueBox<OutputFailure?>(nil)
    try options.ask { question in
      try question.follow { alerts in
        do throws(OutputFailure) {
          for alert in alerts { try alert.put(isJSON: isJSON) }
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
  /// Prints the alert.
  fileprivate func put(isJSON: Bool) throws(OutputFailure) {
    guard isJSON else { return try say(line) }
    var record = JSONRecord("alert")
    record.add("number", .number("\(number)"))
    record.add("date", Date(timeIntervalSince1970: Double(time) / 1_000))
    record.add("app", app)
    record.add("text", text)
    try ble.put(record.line + "\n")
  }

  /// The alert in one line.
  fileprivate var line: String {
    let date = Date(timeIntervalSince1970: Double(time) / 1_000)
    return "\(date.formatted(.iso8601))  \(app)  \(text)".printable
  }
}
