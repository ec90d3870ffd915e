import BluetoothAdapters
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothServer

/// The apps in the answers to the command line.
@Suite("Lists of apps", .timeLimit(.minutes(2)))
struct AppListTests {
  @Test("After a restart the user sees the decisions on apps that have not run since, and changes them")
  func formerDecisions() async throws {
    let bench = try AppBench(.macos)
    for name in ["/opt/lights/torch", "other"] {
      let program = bench.start(name)
      try await program.central.state(.poweredOn)
      try await bench.ask { try $0.perform(.setPermission(app: name, false)) }
      try await program.central.state(.unauthorized)
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    func listed() async throws -> [String: [AppAccess]] {
      let apps = try await bench.ask { try $0.apps() }
      return Dictionary(grouping: apps) { $0.name }.mapValues { $0.map(\.access) }
    }
    #expect(try await listed() == ["/opt/lights/torch": [.denied], "other": [.denied]])
    // By the last part of its path, as for an app that has run.
    try await bench.ask { try $0.perform(.setPermission(app: "torch", true)) }
    try await wait { try await listed() == ["/opt/lights/torch": [.allowed], "other": [.denied]] }
    let torch = bench.start("/opt/lights/torch")
    try await torch.central.state(.poweredOn)
    let other = bench.start("other")
    try await other.central.state(.unauthorized)
    #expect(try await listed() == ["/opt/lights/torch": [.allowed], "other": [.denied]])
    // The change is on the disk.
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    #expect(try await listed() == ["/opt/lights/torch": [.allowed], "other": [.denied]])
  }

  @Test("A failure whose text is too long for a message is reported by its beginning")
  func longFailure() async throws {
    let bench = try AppBench(.macos)
    let name = String(repeating: "b", count: 1_020)
    let refusal = await #expect(throws: ServerQuestion.Refusal.self) {
      try await bench.ask { try $0.perform(.controlApp(name, .quit)) }
    }
    let beginning = "no app \"" + String(repeating: "b", count: 1_016)
    #expect(refusal?.description == beginning)
  }
}
