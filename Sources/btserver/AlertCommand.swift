import BluetoothDaemonProtocol
import BluetoothServer
import Foundation
import NIOConcurrencyHelpers

/// The command of `--alert-command`, which the shell runs for each alert.
struct AlertCommand: Sendable {
  /// The maximum number of commands that run at a time. There is none for further alerts, which the log has.
  private static let maximumCount = 16

  private let command: String
  private let starter = ProcessStarter()
  private let running = NIOLockedValueBox(0)

  init(_ command: String) { self.command = command }

  /// Runs the command. The shell's variables `$1` and `$2` are the app and the text.
  func run(_ alert: AlertDescription) {
    let mayRun = running.withLockedValue { count in
      guard count < Self.maximumCount else { return false }
      count += 1
      return true
    }
    guard mayRun else { return }
    let shell = RegisteredApp(
      name: "the command for alerts", executable: "/bin/sh",
      arguments: ["-c", command, "btserver", alert.app, alert.text])
    var environment = ProcessInfo.processInfo.environment
    environment["COREBLUETOOTH_ALERT_APP"] = alert.app
    environment["COREBLUETOOTH_ALERT_TEXT"] = alert.text
    let running = running
    do throws(ServerError) {
      _ = try starter.start(shell, environment: environment) { _ in running.withLockedValue { $0 -= 1 } }
    } catch {
      running.withLockedValue { $0 -= 1 }
      complain("can't run the command for an alert: \(error)")
    }
  }
}
