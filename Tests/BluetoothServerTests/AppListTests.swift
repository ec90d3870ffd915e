import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import TestSupport
import Testing

@testable import BluetoothServer

/// The apps in the answers to the command line.
@Suite("Lists of apps", .timeLimit(.minutes(10)))
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
    #expect(try await listed() == ["/opt/lights/torch": [.denied, .denied], "other": [.denied, .denied]])
    let changed: [String: [AppAccess]] = ["/opt/lights/torch": [.allowed, .allowed], "other": [.denied, .denied]]
    // By the last part of its path, as for an app that has run.
    try await bench.ask { try $0.perform(.setPermission(app: "torch", true)) }
    #expect(try await listed() == changed)
    let torch = bench.start("/opt/lights/torch")
    try await torch.central.state(.poweredOn)
    let other = bench.start("other")
    try await other.central.state(.unauthorized)
    #expect(try await listed() == changed)
    // The change is on the disk.
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    #expect(try await listed() == changed)
  }

  @Test("After a restart a device is found by the identifier that an app had before, which has no decision and no bond")
  func formerIdentifier() async throws {
    let bench = try AppBench(.macos)
    let former: PeerIdentifier
    do {
      let torch = bench.start("torch")
      former = try await torch.find().identifier
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    // The new daemon learns of the flashlight by another app.
    let remote = bench.start("remote")
    let peer = try await remote.find()
    let other = peer.identifier
    #expect(other != former)
    let addresses = try await bench.ask { try $0.uses(of: other.digits) }.map(\.address)
    #expect(addresses.count == 1)
    #expect(try await bench.ask { try $0.uses(of: former.digits) }.map(\.address) == addresses)
    let stranger = PeerIdentifier(high: former.high, low: former.low ^ 1)
    #expect(try await bench.ask { try $0.uses(of: stranger.digits) }.isEmpty)
    // The link of an app is found, too.
    _ = try await remote.connect(peer, AppBench.status)
    let linked = try await bench.ask { try $0.uses(of: former.digits) }
    #expect(linked.first?.users.map(\.app) == ["remote"])
  }

  @Test("A device is found by a part of its name in any case, and a better match leaves the other devices out")
  func partsOfNames() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    let peer = try await torch.find()
    let address = try #require(torch.central.adapter.directory.address(of: peer.handle))
    for text in ["flash", "LIGHT", "flashlight"] {
      #expect(try await bench.ask { try $0.uses(of: text) }.map(\.address) == [address], "\(text)")
    }
    _ = try await torch.connect(peer, AppBench.status)
    let uses = try await bench.ask { try $0.uses(of: "flash") }
    #expect(uses.map(\.address) == [address] && uses.first?.users.map(\.app) == ["torch"])
    #expect(try await bench.ask { try $0.uses(of: "") }.isEmpty)
    typealias Found = (element: Int, match: DeviceMatch)
    let found: [Found] = ["Lamp 2", "lamp", "Other", "LAMP", "lamp"].enumerated().compactMap { index, name in
      DeviceMatch("Lamp", name: name, isIdentity: false).map { (element: index, match: $0) }
    }
    #expect(DeviceMatch.best(of: found) == [1, 3, 4])
    #expect(DeviceMatch.best(of: found + [(element: 9, match: .identity)]) == [9])
    #expect(DeviceMatch.best(of: [Found]()) == [])
  }

  @Test("A change of an app's life is answered when the adapter has handled it, so that the next one finds it")
  func lifeChanges() async throws {
    let bench = try ServerBench()
    bench.server.stop()
    let host = HeldAdapter(try #require(bench.served.first?.host))
    var setup = AppsSetup()
    setup.identify = { _ in AppIdentity(name: "torch") }
    let server = DaemonServer([ServedAdapter(name: "phone", adapter: host)], limits: .patient, apps: setup)
    defer { server.stop() }
    try server.listen(atPath: bench.path)
    let torch = RemoteCentral(bench.adapter())
    let session = torch.adapter.openCentralSession(for: torch)
    try await torch.state(.poweredOn)
    let question = ServerQuestion(to: ServerSpecifier(.unix(path: bench.path)), within: .hours(1))
    let isDone = NIOLockedValueBox(false)
    host.hold()
    let change = Task {
      try await onOwnThread { try question.perform(.controlApp("torch", .background)) }
      isDone.withLockedValue { $0 = true }
    }
    await wait { host.isAsked || isDone.withLockedValue { $0 } }
    #expect(!isDone.withLockedValue { $0 })
    host.release()
    try await change.value
    try await onOwnThread { try question.perform(.controlApp("torch", .suspend)) }
    let apps = try await onOwnThread { try question.apps() }
    #expect(apps.map(\.state) == [.suspended])
    session.close()
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
