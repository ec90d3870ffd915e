import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothLab
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import Requirements
import TestSupport
import Testing

@testable import BluetoothServer

/// An adapter that takes the requests about apps and of the user only when the test releases them, as one whose disk is
/// busy.
final class HeldAdapter: AppAdapter {
  private struct State {
    var isHolding = false
    var isAsked = false
    var held: [@Sendable () -> Void] = []
  }

  private let base: any AppAdapter
  private let state = NIOLockedValueBox(State())

  init(_ base: any AppAdapter) { self.base = base }

  /// True if the server waits for the held requests.
  var isAsked: Bool { state.withLockedValue { $0.isAsked } }

  /// Holds the requests from now on.
  func hold() { state.withLockedValue { $0.isHolding = true } }

  /// Passes the held requests in their order, and all later ones.
  func release() {
    state.withLockedValue { state in
      for request in state.held { request() }
      state.held = []
      state.isHolding = false
    }
  }

  private func pass(_ request: @escaping @Sendable () -> Void) {
    state.withLockedValue { state in
      if state.isHolding { state.held.append(request) } else { request() }
    }
  }

  func send(_ request: AppRequest, ofApp app: String) { pass { [base] in base.send(request, ofApp: app) } }
  func send(_ request: SystemRequest) {
    pass { [base] in base.send(request) }
    if case .reportLinks = request { state.withLockedValue { $0.isAsked = true } }
  }

  var directory: PeerDirectory { base.directory }
  var deliversInPlace: Bool { base.deliversInPlace }
  func absoluteTime() -> Double { base.absoluteTime() }
  func setClient(_ client: any AppClient, ofApp app: String) { base.setClient(client, ofApp: app) }
  func setSystemClient(_ client: any SystemClient) { base.setSystemClient(client) }
  func setHCIObserver(_ observer: (any HCIObserver)?) { base.setHCIObserver(observer) }
  func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    base.openCentralSession(for: client, owner: owner)
  }
  func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    base.openPeripheralSession(for: client, owner: owner)
  }
}

/// The questions of a server for permission, and the resets that its user makes.
@Suite("Permissions and resets of a server", .timeLimit(.minutes(10)))
struct ServedPermissionTests {
  private let manifest = AppManifest(usageDescription: "To switch\nyour light.")

  @Test("A server that asks leaves an app without a state until its user has answered, then the app can be used")
  func asks() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    let torch = bench.start("torch", manifest)
    let question = try #require(await bench.question())
    #expect(question.subject == .permission(app: "torch", usage: "To switch\nyour light."))
    #expect(question.text == "torch would like to use Bluetooth: To switch your light.")
    #expect(question.adapter == "phone")
    let app = try #require(try await bench.ask { try $0.apps() }.first)
    #expect(app.question == "To switch your light.")
    #expect(app.access == .undetermined)
    // The barrier is the first event: no state has been reported.
    torch.session.send(.barrier(1))
    #expect(try await torch.central.first { $0 }.barrier == 1)
    await wait { torch.central.adapter.access == .undetermined }
    bench.questions.answer(question, true)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    #expect(torch.central.adapter.access == .allowed)
    #expect(bench.questions.open.isEmpty)
    #expect(try await bench.ask { try $0.apps() }.first?.question == nil)
  }

  @Test("An app can be allowed by its complete name before it has ever used the server, also for later runs")
  func allowedBefore() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    let names = ["/opt/lights/torch", "com.example.torch", "/opt/lights/torch@1000", "com.example.torch@1000"]
    for name in names { try await bench.ask { try $0.perform(.setPermission(app: name, true)) } }
    for name in ["lamp", "", "/", "/opt/", "com.example.torch@alice", "com.example@1@2", "com.exämple.torch"] {
      let refusal = await #expect(throws: ServerQuestion.Refusal.self) {
        try await bench.ask { try $0.perform(.setPermission(app: name, true)) }
      }
      #expect(
        refusal?.description == "no app \"\(name)\" has used this server; the complete name of an app is its bundle "
          + "identifier or the path of its program")
    }
    // No app can be ended that has never run.
    await #expect(throws: ServerQuestion.Refusal.self) {
      try await bench.ask { try $0.perform(.controlApp("com.example.lamp", .quit)) }
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    let listed = try await bench.ask { try $0.apps() }
    #expect(Set(listed.filter { $0.access == .allowed }.map(\.name)) == Set(names))
    let torch = bench.start("/opt/lights/torch")
    try await torch.central.state(.poweredOn)
    #expect(bench.questions.open.isEmpty)
  }

  @Test("A usage description of any length and with any characters is one short line, and the list of apps has it")
  func longUsage() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    let usage = "a\u{1B}[2J\u{202E}\r\n" + String(repeating: "\u{1F1E9}\u{1F1EA}", count: 400)
    let torch = bench.start("torch", AppManifest(usageDescription: usage))
    let question = try #require(await bench.question())
    #expect(question.text.hasPrefix("torch would like to use Bluetooth: a [2J  \u{1F1E9}\u{1F1EA}"))
    #expect(question.text.count < 400)
    let listed = try #require(try await bench.ask { try $0.apps() }.first?.question)
    #expect(listed.hasPrefix("a [2J  \u{1F1E9}\u{1F1EA}"))
    #expect(listed.utf8.count <= 300)
    torch.session.close()
  }

  @Test("The end of the server waits until the decisions of its user are on the disk")
  func decisionsAtEnd() async throws {
    let bench = try ServerBench()
    bench.server.stop()
    let host = HeldAdapter(try #require(bench.served.first?.host))
    let server = DaemonServer([ServedAdapter(name: "phone", adapter: host)], limits: .patient)
    host.hold()
    for number in 0..<20 { host.send(.permissionChanged(number % 2 == 0), ofApp: "app \(number)") }
    let hasEnded = NIOLockedValueBox(false)
    // The end of the server blocks its thread.
    let thread = Thread {
      server.stop()
      hasEnded.withLockedValue { $0 = true }
    }
    thread.start()
    await wait { host.isAsked || hasEnded.withLockedValue { $0 } }
    #expect(!hasEnded.withLockedValue { $0 })
    host.release()
    await wait { hasEnded.withLockedValue { $0 } }
    let file = URL(fileURLWithPath: bench.folder.file("bonds/phone/apps.json"))
    let stored = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    #expect(stored["order"] as? [String] == (0..<20).map { "app \($0)" })
  }

  @Test("A refused app is unauthorized, also in later runs, and a question of another app is open meanwhile")
  func refuses() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    // These programs end before the server does: one that connected again could be taken for another app.
    do {
      let torch = bench.start("torch")
      bench.questions.answer(try #require(await bench.question()), false)
      try await torch.central.state(.unauthorized)
      #expect(torch.central.adapter.access == .denied)
      let remote = bench.start("remote")
      let other = try #require(await bench.question())
      #expect(other.subject == .permission(app: "remote", usage: nil))
      remote.session.close()
      await wait { bench.questions.open.isEmpty }
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    let again = bench.start("torch")
    try await again.central.state(.unauthorized)
    #expect(bench.questions.open.isEmpty)
    try await bench.ask { try $0.perform(.setPermission(app: "torch", true)) }
    try await again.central.state(.poweredOn)
  }

  @Test("The list of apps has the stored permission of a registered app on each adapter, before the app has used it")
  func listedPermission() async throws {
    let bench = try AppBench(.macos, registered: ["torch"])
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    func listed() async throws -> [AppAccess] { try await bench.ask { try $0.apps() }.map(\.access) }
    #expect(try await listed() == [.allowed, .allowed])
    try await bench.ask { try $0.perform(.setPermission(app: "torch", false)) }
    try await wait { try await listed() == [.denied, .denied] }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    #expect(try await listed() == [.denied, .denied])
  }

  @Test("A denial holds on an adapter that the app has not used, and on one that a later run of the server gets")
  func allAdapters() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    try await bench.ask { try $0.perform(.setPermission(app: "torch", false)) }
    try await torch.central.state(.unauthorized)
    #expect(try await bench.ask { try $0.apps() }.map(\.access) == [.denied, .denied])
    do {
      let other = RemoteCentral(bench.adapter("lamp", of: "torch"))
      let session = other.adapter.openCentralSession(for: other)
      #expect(try await other.first { $0 }.state == .unauthorized)
      session.close()
    }
    bench.bench.server.stop()
    // The other adapter has no decisions, like one that is new.
    try FileManager.default.removeItem(atPath: bench.bench.folder.file("bonds/lamp/apps.json"))
    for _ in 0..<2 {
      try bench.bench.restartDaemons()
      #expect(try await bench.ask { try $0.apps() }.map(\.access) == [.denied, .denied])
      let other = RemoteCentral(bench.adapter("lamp", of: "torch"))
      let session = other.adapter.openCentralSession(for: other)
      #expect(try await other.first { $0 }.state == .unauthorized)
      session.close()
      bench.bench.server.stop()
    }
  }

  @Test("A decision that can't be stored is reported to the user who makes it, and applies to this run")
  func notStored() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    let file = bench.bench.folder.file("bonds/phone/apps.json")
    // A folder in the place of the file keeps the adapter from writing, also for the superuser.
    try? FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    await #expect {
      try await bench.ask { try $0.perform(.setPermission(app: "torch", false)) }
    } throws: { error in
      let text = "\(error)"
      return error is ServerQuestion.Refusal && text.contains("applies only to this run") && text.contains(file)
    }
    try await torch.central.state(.unauthorized)
    let second = bench.start("torch")
    #expect(try await second.central.first { $0 }.state == .unauthorized)
    // The other adapter has stored the decision.
    let other = try String(contentsOfFile: bench.bench.folder.file("bonds/lamp/apps.json"), encoding: .utf8)
    #expect(other.contains("\"torch\" : false"))
  }

  @Test("An app that its user has denied tells how it is let in again, once; a server that denies by rule does, too")
  func advice() async throws {
    let log = LogRecorder()
    let bench = try AppBench(.macos, rule: .deny)
    let torch = bench.start("torch of advice")
    try await torch.central.state(.unauthorized)
    let advice = "server:\(bench.bench.path): btserver denies this app the use of Bluetooth"
    await wait { log.lines(containing: advice).count == 1 }
    #expect(
      log.lines(containing: "torch of advice may not use Bluetooth (--permissions deny)") == [
        "torch of advice may not use Bluetooth (--permissions deny); to allow it: ble settings allow 'torch of advice'"
      ])
    for isAllowed in [true, false] {
      try await bench.ask { try $0.perform(.setPermission(app: "torch of advice", isAllowed)) }
      try await torch.central.state(isAllowed ? .poweredOn : .unauthorized)
    }
    await wait { log.lines(containing: advice).count == 2 }
  }

  @Test("A program learns the stored decision on it before it has a manager, and is not asked about without one")
  func beforeManager() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    do {
      let torch = bench.start("torch")
      bench.questions.answer(try #require(await bench.question()), false)
      try await torch.central.state(.unauthorized)
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    for (name, access) in [("torch", AppAccess.denied), ("remote", .undetermined)] {
      let adapter = bench.adapter("phone", of: name)
      let told = await onOwnThread { adapter.toldAccess(within: 500) }
      #expect(told == access)
    }
    #expect(bench.questions.open.isEmpty)
  }

  @Test("The settings answer an open question, and the end of the app withdraws it")
  func settings() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    let torch = bench.start("torch")
    _ = await bench.question()
    try await bench.ask { try $0.perform(.setPermission(app: "torch", true)) }
    try await torch.central.state(.poweredOn)
    #expect(bench.questions.open.isEmpty)
    do {
      let remote = bench.start("remote")
      _ = await bench.question()
      remote.session.close()
    }
    await wait { bench.questions.open.isEmpty }
  }

  @Test("A server that denies lets an app in once its user allows it, and the rule is not stored as an answer")
  func denies() async throws {
    let bench = try AppBench(.macos, rule: .deny)
    let torch = bench.start("torch")
    try await torch.central.state(.unauthorized)
    let remote = bench.start("remote")
    try await remote.central.state(.unauthorized)
    #expect(bench.questions.open.isEmpty)
    try await bench.ask { try $0.perform(.setPermission(app: "torch", true)) }
    try await torch.central.state(.poweredOn)
    bench.bench.server.stop()
    bench.bench.rule = .allow
    try bench.bench.restartDaemons()
    let later = bench.start("remote")
    try await later.central.state(.poweredOn)
  }

  @Test("A program that may not control the server can read its lists, but neither allow itself nor change anything")
  func control() async throws {
    let bench = try AppBench(.macos, rule: .ask, mayControl: false)
    let torch = bench.start("torch")
    let question = try #require(await bench.question())
    let requests: [AppMessage] = [
      .setPermission(app: "torch", true), .setPower(false), .resetIdentifiers(forgetsBonds: true),
      .setSharing(peer: "flashlight", true), .controlApp("torch", .quit),
    ]
    for request in requests {
      await #expect {
        try await bench.ask { try $0.perform(request) }
      } throws: { "\($0)".contains("only the user of the server") }
    }
    await #expect {
      try await bench.ask { try $0.monitor { _ in true } }
    } throws: { "\($0)".contains("only the user of the server") }
    #expect(try await bench.ask { try $0.apps() }.map(\.access) == [.undetermined])
    #expect(try await bench.ask { try $0.alerts() }.isEmpty)
    #expect(bench.questions.open == [question])
    // The user answers on the desktop.
    bench.questions.answer(question, true)
    try await torch.central.state(.poweredOn)
    torch.session.close()
  }

  @Test("A server is controlled by its own user and the superuser on its machine, not by other users and not over TCP")
  func users() {
    func identity(_ user: UInt32) -> ClientIdentity {
      ClientIdentity(
        process: ClientIdentity.Process(id: 1, user: user, group: 1_000, program: nil, file: nil), address: nil)
    }
    #expect(identity(1_000).mayControl(1_000))
    #expect(identity(0).mayControl(1_000))
    #expect(!identity(1_001).mayControl(1_000))
    #expect(!ClientIdentity(process: nil, address: "127.0.0.1:1").mayControl(1_000))
    #expect(!ClientIdentity(process: nil, address: nil).mayControl(0))
  }

  @Test("A client that belongs to no app needs no permission but its token")
  func noApp() async throws {
    let bench = try AppBench(.macos, rule: .ask)
    // Without a call of `start`, the server takes its clients for programs on TCP.
    let central = RemoteCentral(bench.bench.adapter())
    let session = central.adapter.openCentralSession(for: central)
    try await central.state(.poweredOn)
    #expect(central.adapter.access == .allowed)
    #expect(bench.questions.open.isEmpty)
    session.close()
  }

  @Test("A reset of the identifiers is seen at once by a running app, which loses its link and finds a new identifier")
  func resetIdentifiers() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    let former = try await torch.find()
    _ = try await torch.connect(former, AppBench.status)
    try await bench.ask { try $0.perform(.resetIdentifiers(forgetsBonds: false)) }
    try await torch.central.state(.resetting)
    let new = try await torch.find()
    #expect(new.identifier != former.identifier)
    #expect(torch.central.adapter.directory.peer(former.identifier) == nil)
    // The new identifiers last.
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    let again = try await bench.start("torch").find()
    #expect(again.identifier == new.identifier)
  }

  @Test(
    "An app that exceeds its share of links gets an error, and another app can still connect", .requirement("A070"),
    arguments: [1, 2])
  func links(_ share: Int) async throws {
    let bench = try AppBench(.macos, shares: AppShares(links: share))
    for number in 1...3 { bench.bench.world.add(Flashlight(), named: "flashlight \(number)") }
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    let request = ScanRequest(services: [Flashlight.service], solicitedServices: [], allowsDuplicates: false)
    torch.session.send(.scan(request))
    var peers: [PeerInfo] = []
    while peers.count < 3 {
      let peer = try await torch.central.first(\.discovered)
      if !peers.contains(where: { $0.handle == peer.handle }) { peers.append(peer) }
    }
    torch.session.send(.stopScan)
    for peer in peers.prefix(share) {
      torch.session.send(.connect(peer.handle, delay: .zero, reconnects: false))
      #expect(try await torch.central.first(\.connected) == peer.handle)
    }
    torch.session.send(.connect(peers[share].handle, delay: .zero, reconnects: false))
    let error = try await torch.central.first { event in
      if case .connectionFailed(_, let error) = event { error } else { nil }
    }
    #expect(error == .connectionLimitReached)
    // Another app has a share of its own, and the first one can connect again after a disconnection.
    let remote = bench.start("remote")
    _ = try await remote.connect(try await remote.find(), AppBench.status)
    torch.session.send(.cancelConnection(peers[0].handle))
    #expect(try await torch.central.first(\.disconnected) == peers[0].handle)
    torch.session.send(.connect(peers[share].handle, delay: .zero, reconnects: false))
    #expect(try await torch.central.first(\.connected) == peers[share].handle)
  }

  @Test("An app that exceeds its share of advertising sets gets an error, and another app can still advertise")
  func sets() async throws {
    let bench = try AppBench(.macos, shares: AppShares(advertisingSets: 1))
    var advertising = HostAdvertising(data: [2, 10, 4], scanResponse: [])
    advertising.shape.type = .nonConnectableUndirected
    func answer(_ peripheral: RemotePeripheral) async throws -> SessionError? {
      try await peripheral.first { event -> SessionError?? in
        if case .advertisingSetStarted(_, let error) = event { .some(error) } else { nil }
      }
    }
    let beacon = RemotePeripheral(bench.adapter("phone", of: "beacon"))
    let session = beacon.adapter.openPeripheralSession(for: beacon)
    try await beacon.poweredOn()
    session.send(.startSet(LocalSetID(number: 1), advertising))
    #expect(try await answer(beacon) == nil)
    session.send(.startSet(LocalSetID(number: 2), advertising))
    #expect(try await answer(beacon) == .link(.memoryCapacityExceeded))
    // A change of the set that the app has is no other set.
    session.send(.startSet(LocalSetID(number: 1), advertising))
    #expect(try await answer(beacon) == nil)
    let other = RemotePeripheral(bench.adapter("phone", of: "other"))
    let otherSession = other.adapter.openPeripheralSession(for: other)
    try await other.poweredOn()
    otherSession.send(.startSet(LocalSetID(number: 1), advertising))
    #expect(try await answer(other) == nil)
    session.send(.stopSet(LocalSetID(number: 1)))
    session.send(.startSet(LocalSetID(number: 2), advertising))
    #expect(try await answer(beacon) == nil)
  }
}
