import BluetoothAdapters
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The variables that tell a launched program why it runs.
package enum LaunchVariable {
  package static let adapter = AdapterRegistry.environmentVariable
  package static let centrals = "COREBLUETOOTH_LAUNCH_CENTRALS"
  package static let peripherals = "COREBLUETOOTH_LAUNCH_PERIPHERALS"
  static let all: Set<String> = [adapter, centrals, peripherals]
}

/// A request of a server to its launcher: one line of JSON.
struct LaunchRequest: Codable, Hashable, Sendable {
  /// The longest line, in octets.
  static let maximumLength = 1 << 20

  /// The name of a registered app.
  var app: String
  /// The variables of `LaunchVariable`. The launcher ignores others.
  var environment: [String: String]

  /// The line; nil: the request is too long.
  var line: [UInt8]? {
    guard let line = try? JSONEncoder().encode(self), line.count < Self.maximumLength else { return nil }
    return line + [UInt8(ascii: "\n")]
  }

  init(app: String, environment: [String: String]) {
    self.app = app
    self.environment = environment.filter { LaunchVariable.all.contains($0.key) }
  }

  init(line: String) throws(ServerError) {
    do { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) } catch {
      throw ServerError("the request is no launch of an app")
    }
    environment = environment.filter { LaunchVariable.all.contains($0.key) && !$0.value.contains("\0") }
  }

  /// The line by which the server asks the launched program to end.
  static let stop = "stop"
}

/// A line of a launcher for the server.
enum LauncherReport: Hashable, Sendable {
  case started(process: Int32)
  case ended(hasFailed: Bool)
  /// The program has not been started.
  case failed(String)

  var line: String {
    switch self {
    case .started(let process): "started \(process)\n"
    case .ended(let hasFailed): "ended \(hasFailed ? 1 : 0)\n"
    case .failed(let reason): "failed \(reason.printable)\n"
    }
  }

  /// Reads a line; nil: it has another form.
  init?(line: some StringProtocol) {
    let words = line.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { return nil }
    switch (words[0], Int32(words[1])) {
    case ("started", let process?): self = .started(process: process)
    case ("ended", let status?): self = .ended(hasFailed: status != 0)
    case ("failed", _): self = .failed(String(words[1]))
    default: return nil
    }
  }
}

/// Launches one app for a server that may not act as the app's user. The service manager starts a launcher as superuser
/// for each connection to its socket, which only the server can open. The launcher starts nothing but the commands of its
/// own file of apps, as the users of that file.
package struct AppLauncher {
  /// The path of the socket of `Packaging/systemd/btserver-launcher.socket`.
  package static let socketPath = "/run/btserver-launcher.sock"

  /// The time for the request of the server, in seconds.
  private static let requestTime = 10

  private let socket: CInt
  private let starter: any AppStarter
  private let find: (String) throws -> RegisteredApp

  /// - Parameters:
  ///   - socket: the connection of the server.
  ///   - find: returns the app with a name.
  package init(
    _ socket: CInt, starter: any AppStarter = ProcessStarter(), find: @escaping (String) throws -> RegisteredApp
  ) {
    self.socket = socket
    self.starter = starter
    self.find = find
  }

  /// Launches the app that the server names, and returns after the end of its process. The app outlives the server.
  package func run() {
    do {
      let lines = SocketLines(socket, maximumLength: LaunchRequest.maximumLength)
      lines.setLimit(seconds: Self.requestTime)
      guard let line = lines.next() else { throw ServerError("no request within \(Self.requestTime) s") }
      let request = try LaunchRequest(line: line)
      let app = try find(request.app)
      guard let user = app.user else { throw ServerError("the app \(app.name) has no user in the file of apps") }
      let environment = user.environment.merging(app.environment) { $1 }.merging(request.environment) { $1 }
      let ended = DispatchSemaphore(value: 0)
      let outcome = NIOLockedValueBox(false)
      let launch = try starter.start(app, environment: environment) { hasFailed in
        outcome.withLockedValue { $0 = hasFailed }
        ended.signal()
      }
      if let process = launch.process { send(.started(process: process)) }
      lines.setLimit(seconds: 0)
      let thread = Thread { while let line = lines.next() { if line == LaunchRequest.stop { launch.stop() } } }
      thread.stackSize = 1 << 18
      thread.start()
      ended.wait()
      send(.ended(hasFailed: outcome.withLockedValue { $0 }))
    } catch {
      send(.failed("\(error)"))
    }
  }

  /// Sends a report. A server that has gone needs none.
  private func send(_ report: LauncherReport) {
    let octets = Array(report.line.utf8)
    _ = write(socket, octets, octets.count)
  }
}

/// The lines that arrive on a socket.
private final class SocketLines: @unchecked Sendable {
  // Unchecked: one thread reads at a time.

  private let socket: CInt
  private let maximumLength: Int
  private var octets: [UInt8] = []

  init(_ socket: CInt, maximumLength: Int) { (self.socket, self.maximumLength) = (socket, maximumLength) }

  /// Sets the longest wait for octets; 0: none.
  func setLimit(seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Waits for a line; nil: the other end has closed the socket, or the line is late or too long.
  func next() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      if let end = octets.firstIndex(of: UInt8(ascii: "\n")) {
        defer { octets.removeSubrange(...end) }
        return String(validating: octets[..<end], as: UTF8.self)
      }
      guard octets.count < maximumLength else { return nil }
      let count = read(socket, &buffer, buffer.count)
      guard count > 0 else { return nil }
      octets += buffer[..<count]
    }
  }
}
