import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothLab
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import Requirements
import TestSupport
import Testing

@testable import BluetoothServer

/// The life that a server gives to the programs that use it.
@Suite("Apps of a server", .timeLimit(.minutes(10)))
struct ServedAppTests {
  /// A bench in which the app "torch" has subscribed to the flashlight and has crashed, and "remote" can switch the
  /// flashlight.
  private func crashed(
    _ bench: AppBench, _ manifest: AppManifest = AppManifest()
  ) async throws -> (remote: AppBench.Program, flashlight: PeerInfo, lightSwitch: RemoteAttributeID) {
    let remote = bench.start("remote")
    let flashlight = try await remote.find()
    do {
      let torch = bench.start("torch", restoring: "light", manifest)
      let peer = try await torch.find()
      try await torch.subscribe(to: peer)
    }
    await bench.clients(1)
    return (remote, flashlight, try await remote.connect(flashlight, AppBench.lightSwitch))
  }

  @Test(
    "A value launches a program that has crashed, with its restore identifier, and it goes on where it was",
    .requirement("A097", "A098"))
  func relaunch() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    let (remote, flashlight, lightSwitch) = try await crashed(bench)
    try await bench.state(.terminated, of: "torch")
    #expect(bench.starter.startCount == 0)
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    var starts = bench.starter.starts.makeAsyncIterator()
    let start = try #require(await starts.next())
    #expect(start.app.name == "torch")
    #expect(start.environment["COREBLUETOOTH_LAUNCH_CENTRALS"] == "light")
    #expect(start.environment["COREBLUETOOTH_LAUNCH_PERIPHERALS"] == "")
    #expect(start.environment["COREBLUETOOTH_ADAPTER"] == "server:\(bench.bench.path),phone")

    let torch = bench.start("torch", restoring: "light")
    // The first event is the restoration, the second one the state. The value that has waited comes later.
    let restored = try #require(try await torch.central.first { $0 }.restored)
    let peer = try #require(restored.peers.first)
    #expect(peer.info.identifier == torch.central.adapter.directory.peer(peer.info.identifier)?.identifier)
    #expect(peer.maximumWriteLength != nil)
    #expect(peer.services?.map(\.service.uuid) == [Flashlight.service])
    let characteristics = peer.services?.first?.characteristics
    #expect(characteristics?.first { $0.characteristic.uuid == AppBench.status }?.isNotifying == true)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    #expect(try await torch.central.first(\.notification) == [1])
    try await bench.state(.background, of: "torch")
    // The subscription goes on, and commands reach the restored session.
    remote.session.send(.write(flashlight.handle, lightSwitch, [0]))
    #expect(try await torch.central.first(\.notification) == [0])
    torch.session.send(.readRSSI(peer.info.handle))
    _ = try await torch.central.first(\.rssi)
    #expect(bench.starter.startCount == 1)
  }

  @Test("A program without a command that is started again by its user is restored, however late")
  func startedByHand() async throws {
    let bench = try AppBench(.open)
    let (remote, flashlight, lightSwitch) = try await crashed(bench)
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    remote.session.send(.barrier(1))
    #expect(try await remote.central.first(\.barrier) == 1)
    try await bench.state(.terminated, of: "torch")
    let torch = bench.start("torch", restoring: "light")
    #expect(try await torch.central.first { $0 }.restored?.peers.count == 1)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    #expect(try await torch.central.first(\.notification) == [1])
    try await bench.state(.foreground, of: "torch")
    #expect(bench.starter.startCount == 0)
  }

  @Test(
    "Nothing is restored after the user has quit an app, running or not, and its program ends", .requirement("A102"))
  func quit() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    let (remote, flashlight, lightSwitch) = try await crashed(bench)
    try await bench.ask { try $0.perform(.controlApp("torch", .quit)) }
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    remote.session.send(.barrier(1))
    #expect(try await remote.central.first(\.barrier) == 1)
    do {
      let torch = bench.start("torch", restoring: "light")
      #expect(try await torch.central.first { $0 }.state == .poweredOn)
      try await bench.ask { try $0.perform(.controlApp("torch", .quit)) }
      let ending = await torch.ended()
      #expect(ending.byUser)
      #expect(ending.reason == "the user has ended this app")
    }
    // A program that did not end would connect again after 5 s.
    try await bench.state(.terminated, of: "torch")
    #expect(bench.starter.startCount == 0)
  }

  @Test("Without a policy that restores, or without a restore identifier, the sessions of a crashed program end")
  func notPreserved() async throws {
    for (policy, identifier) in [(.macos, "light"), (.open, nil)] as [(PlatformPolicy, String?)] {
      let bench = try AppBench(policy, registered: ["torch"])
      do {
        let torch = bench.start("torch", restoring: identifier)
        try await torch.subscribe(to: try await torch.find())
      }
      await bench.clients(0)
      // The flashlight advertises again, because its link has ended.
      let torch = bench.start("torch", restoring: identifier)
      #expect(try await torch.central.first { $0 }.state == .poweredOn)
      _ = try await torch.central.find(Flashlight.service, by: torch.session)
    }
  }

  @Test("A launched program that opens no manager in time is asked to end, and a later launch follows after a pause")
  func launchTime() async throws {
    var limits = ServerLimits.patient
    limits.launchTime = .milliseconds(20)
    let bench = try AppBench(.open, registered: ["torch"], limits: limits)
    let (remote, flashlight, lightSwitch) = try await crashed(bench)
    try await bench.state(.terminated, of: "torch")
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    var starts = bench.starter.starts.makeAsyncIterator()
    let start = try #require(await starts.next())
    await wait { bench.starter.stopped.withLockedValue { $0 } == [1] }
    try await bench.state(.terminated, of: "torch")
    #expect(bench.starter.startCount == 1)
    start.end(true)
    // The value still waits for the app.
    _ = await starts.next()
    await wait { bench.starter.stopped.withLockedValue { $0 } == [1, 2] }
    #expect(bench.starter.startCount == 2)
  }

  @Test("A read of a value of a crashed peripheral program without a command gets an error, and the link stays")
  func crashedPeripheral() async throws {
    let bench = try AppBench(.open)
    let reader = RemoteCentral(bench.adapter("lamp", of: "reader"))
    let session = reader.adapter.openCentralSession(for: reader, owner: SessionOwner(app: "ignored"))
    try await reader.state(.poweredOn)
    let peer: PeerHandle
    let value: RemoteAttributeID
    do {
      let torch = RemotePeripheral(bench.adapter("phone", of: "torch"))
      let publisher = torch.adapter.openPeripheralSession(
        for: torch, owner: SessionOwner(app: "ignored", restoreIdentifier: "light"))
      try await torch.poweredOn()
      let characteristic = LocalCharacteristicInfo(
        id: LocalAttributeID(number: 2),
        definition: GATTCharacteristicDefinition(
          uuid: BluetoothUUID(0xFF11), properties: [.read], permissions: [.readable], value: nil))
      publisher.send(
        .addService(
          LocalServiceInfo(
            id: LocalAttributeID(number: 1), uuid: BluetoothUUID(0xFF10), isPrimary: true, includes: [],
            characteristics: [characteristic])))
      #expect(try await torch.first(\.added) == LocalAttributeID(number: 1))
      publisher.send(.startAdvertising(localName: nil, services: [BluetoothUUID(0xFF10)]))
      peer = try await reader.find(BluetoothUUID(0xFF10), by: session).handle
      let all = try await reader.connect(to: peer, service: BluetoothUUID(0xFF10), by: session)
      value = try #require(all.first).id
    }
    await bench.clients(1)
    try await bench.state(.terminated, of: "torch")
    for _ in 0..<2 {
      session.send(.read(peer, value))
      #expect(try await reader.first(\.value) == .failure(.att(.unlikelyError)))
    }
  }

  @Test("A program that outlives its connection has lost everything, and nothing is restored when it is back")
  func returned() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    let torch = bench.start("torch", restoring: "light")
    try await torch.subscribe(to: try await torch.find())
    bench.bench.server.stop()
    try await torch.central.state(.resetting)
    try bench.bench.restart()
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
  }

  @Test(
    "After a crash of the server, a peripheral that is back launches a program that had crashed before",
    .requirement("A097"))
  func serverCrash() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    let identifier: PeerIdentifier
    do {
      let torch = bench.start("torch", restoring: "light")
      let peer = try await torch.find()
      identifier = peer.identifier
      try await torch.subscribe(to: peer)
    }
    try await bench.stored(wasRunning: false)
    bench.bench.server.stop()
    #expect(bench.starter.startCount == 0)
    try bench.bench.restartDaemons()
    var starts = bench.starter.starts.makeAsyncIterator()
    let start = try #require(await starts.next())
    #expect(start.environment["COREBLUETOOTH_LAUNCH_CENTRALS"] == "light")

    let torch = bench.start("torch", restoring: "light")
    let peer = try #require(try await torch.central.first { $0 }.restored?.peers.first)
    #expect(peer.info.identifier == identifier)
    // The link has ended with the former server, and this is the next one.
    #expect(peer.maximumWriteLength == nil)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    #expect(try await torch.central.first(\.connected) == peer.info.handle)
    try await bench.state(.background, of: "torch")
    #expect(bench.starter.startCount == 1)
  }

  @Test("A program that ends while the server is away is known to the next one, and its user starts it or ends it")
  func endedWithServer() async throws {
    let bench = try AppBench(.open)
    do {
      let torch = bench.start("torch", restoring: "light")
      try await torch.subscribe(to: try await torch.find())
      try await bench.stored(wasRunning: true)
      bench.bench.server.stop()
      try await torch.central.state(.resetting)
    }
    for isQuit in [false, true] {
      try bench.bench.restartDaemons()
      try await bench.state(.terminated, of: "torch")
      if isQuit { try await bench.ask { try $0.perform(.controlApp("torch", .quit)) } }
      do {
        let torch = bench.start("torch", restoring: "light")
        let first = try await torch.central.first { $0 }
        #expect((first.restored?.peers.count == 1) == !isQuit)
        if isQuit { break }
        _ = try await torch.central.first(\.connected)
        try await bench.stored(wasRunning: true)
        bench.bench.server.stop()
        try await torch.central.state(.resetting)
      }
    }
  }

  @Test("An app with two processes ends with the second one, and the first one's end takes its own session only")
  func twoProcesses() async throws {
    let bench = try AppBench(.open)
    let second = bench.start("torch", restoring: "second")
    let peer = try await second.find()
    do {
      let first = bench.start("torch", restoring: "first")
      try await first.subscribe(to: try await first.find())
      _ = try await second.connect(peer, AppBench.status)
      let app = try #require(try await bench.ask { try $0.apps() }.first)
      #expect(app.sessions == 2)
      #expect(app.state == .foreground)
    }
    await bench.clients(1)
    try await bench.state(.foreground, of: "torch")
    second.session.send(.readRSSI(peer.handle))
    _ = try await second.central.first(\.rssi)
  }

  @Test("The user sends an app to the background, suspends it, and returns to it, and its events wait meanwhile")
  func phases() async throws {
    let bench = try AppBench(.ios)
    let manifest = AppManifest(backgroundModes: [.peripheral], usageDescription: "To read.")
    let torch = bench.start("torch", manifest)
    let peer = try await torch.find()
    let name = "torch"
    await #expect(throws: ServerQuestion.Refusal.self) {
      try await bench.ask { try $0.perform(.controlApp(name, .suspend)) }
    }
    try await bench.ask { try $0.perform(.controlApp(name, .background)) }
    try await bench.state(.background, of: name)
    torch.session.send(.connect(peer.handle, delay: .seconds(2), reconnects: false))
    // The settings have another connection, on which their request could come first.
    torch.session.send(.barrier(6))
    #expect(try await torch.central.first(\.barrier) == 6)
    try await bench.ask { try $0.perform(.controlApp(name, .suspend)) }
    try await bench.state(.suspended, of: name)
    // A command of the suspended app waits, too, and longer than its events.
    torch.session.send(.barrier(7))
    let identifier = peer.identifier.digits
    try await wait { try await bench.ask { try $0.uses(of: identifier) }.first?.users.first?.phase == .connected }
    try await bench.ask { try $0.perform(.controlApp(name, .foreground)) }
    try await bench.state(.foreground, of: name)
    let first = try await torch.central.first { event in
      event.connected.map { "connected \($0 == peer.handle)" } ?? event.barrier.map { "barrier \($0)" }
    }
    #expect(first == "connected true")
    #expect(try await torch.central.first(\.barrier) == 7)
    await #expect(throws: ServerQuestion.Refusal.self) {
      try await bench.ask { try $0.perform(.controlApp("lamp", .quit)) }
    }
  }

  @Test(
    "An app without a usage description is stopped with the reason where the platform requires one",
    .requirement("G002"))
  func usageDescription() async throws {
    let bench = try AppBench(.ios)
    let torch = bench.start("torch")
    let ending = await torch.ended()
    #expect(!ending.byUser)
    #expect(ending.reason.contains("NSBluetoothAlwaysUsageDescription"))
  }

  @Test("Each app has other identifiers for the same peer, which are the same after the server was started again")
  func identifiers() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    let known = try await torch.find()
    let remote = bench.start("remote")
    let other = try await remote.find()
    #expect(known.identifier != other.identifier)
    #expect(known.name == other.name)
    #expect(torch.central.adapter.directory.peer(known.identifier)?.handle == known.handle)
    #expect(torch.central.adapter.directory.peer(other.identifier) == nil)
    #expect(torch.central.adapter.adapterIdentifiers(of: [known.identifier, other.identifier]) == [known.identifier])
    // The app is told of the other app's link by its own identifier.
    let filter = ConnectionEventFilter(peers: [known.identifier], services: [])
    torch.session.send(.registerForConnectionEvents(filter))
    _ = try await remote.connect(other, AppBench.status)
    let told = try await torch.central.first { event in
      if case .connectionEvent(let peer, true) = event { peer.identifier } else { nil }
    }
    #expect(told == known.identifier)
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    let again = try await bench.start("torch").find()
    #expect(again.identifier == known.identifier)
  }

  @Test(
    "The user denies one app the use of Bluetooth at once, for later runs, too, and allows it again",
    .requirement("G008"))
  func permission() async throws {
    let bench = try AppBench(.macos)
    let remote = bench.start("remote")
    try await remote.central.state(.poweredOn)
    let torch = bench.start("torch")
    let peer = try await torch.find()
    _ = try await torch.connect(peer, AppBench.status)
    #expect(torch.central.adapter.access == .allowed)
    try await bench.ask { try $0.perform(.setPermission(app: "torch", false)) }
    try await torch.central.state(.unauthorized)
    #expect(torch.central.adapter.access == .denied)
    #expect(remote.central.adapter.access == .allowed)
    // The link has ended, so that the other app finds the flashlight.
    _ = try await remote.central.find(Flashlight.service, by: remote.session)
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    let again = bench.start("torch")
    try await again.central.state(.unauthorized)
    try await bench.ask { try $0.perform(.setPermission(app: "torch", true)) }
    try await again.central.state(.poweredOn)
    #expect(again.central.adapter.access == .allowed)
  }

  @Test("The user switches the adapter off and on")
  func power() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    try await bench.ask { try $0.perform(.setPower(false)) }
    try await torch.central.state(.poweredOff)
    try await bench.ask { try $0.perform(.setPower(true)) }
    try await torch.central.state(.poweredOn)
  }

  @Test("An adapter that its user has switched off starts off until the user switches it on, and others start on")
  func storedPower() async throws {
    let bench = try AppBench(.macos)
    do {
      let torch = bench.start("torch")
      try await torch.central.state(.poweredOn)
      try await bench.ask { try $0.perform(.setPower(false)) }
      try await torch.central.state(.poweredOff)
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    do {
      let torch = bench.start("torch")
      // The first event has the state.
      #expect(try await torch.central.first { $0 }.state == .poweredOff)
      let other = RemoteCentral(bench.adapter("lamp", of: "torch"))
      let session = other.adapter.openCentralSession(for: other)
      #expect(try await other.first { $0 }.state == .poweredOn)
      session.close()
      try await bench.ask { try $0.perform(.setPower(true)) }
      try await torch.central.state(.poweredOn)
    }
    bench.bench.server.stop()
    try bench.bench.restartDaemons()
    let torch = bench.start("torch")
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
  }

  @Test("A suspended app's value is an alert, which the server lists, and the link's users are told by name")
  func alerts() async throws {
    let bench = try AppBench(.ios)
    let manifest = AppManifest(backgroundModes: [.peripheral], usageDescription: "To read.")
    let remote = bench.start("remote", manifest)
    let flashlight = try await remote.find()
    let torch = bench.start("torch", manifest)
    let peer = try await torch.find()
    try await torch.subscribe(to: peer)
    torch.session.send(.requestAlerts(peer.handle, .notification))
    // The request has reached the adapter before the user's commands, which come on other connections.
    torch.session.send(.barrier(1))
    #expect(try await torch.central.first(\.barrier) == 1)
    let lightSwitch = try await remote.connect(flashlight, AppBench.lightSwitch)
    let identifier = peer.identifier.digits
    let usage = try #require(try await bench.ask { try $0.uses(of: identifier) }.first)
    #expect(usage.isLinked)
    #expect(usage.users.map(\.app) == ["torch", "remote"])
    #expect(usage.users.allSatisfy { $0.phase == .connected && !$0.isBlocked })
    #expect(try await bench.ask { try $0.uses(of: "nothing") }.isEmpty)
    try await bench.ask { try $0.perform(.controlApp("torch", .background)) }
    try await bench.ask { try $0.perform(.controlApp("torch", .suspend)) }
    try await bench.state(.suspended, of: "torch")
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    var alerts: [AlertDescription] = []
    try await wait {
      alerts = try await bench.ask { try $0.alerts() }
      return !alerts.isEmpty
    }
    #expect(alerts.map(\.app) == ["torch"])
    #expect(alerts.first?.text.hasSuffix(" has sent a value") == true)
    #expect(alerts.map(\.number) == [1])
  }

  @Test("An app that publishes more attributes than its share gets an error, and can publish after a removal")
  func attributes() async throws {
    let bench = try AppBench(.macos, shares: AppShares(attributes: 8))
    _ = bench.start("first")
    let lamp = RemotePeripheral(bench.bench.adapter("lamp"))
    let session = lamp.adapter.openPeripheralSession(for: lamp)
    try await lamp.poweredOn()
    func service(_ number: UInt32) -> LocalServiceInfo {
      LocalServiceInfo(
        id: LocalAttributeID(number: number), uuid: BluetoothUUID(0xFF10), isPrimary: true, includes: [],
        characteristics: [1, 2].map { index in
          LocalCharacteristicInfo(
            id: LocalAttributeID(number: number + index),
            definition: GATTCharacteristicDefinition(
              uuid: BluetoothUUID(0xFF11), properties: [.read], permissions: [.readable], value: [1]))
        })
    }
    func answer() async throws -> SessionError? {
      try await lamp.first { event -> SessionError?? in
        if case .serviceAdded(_, let error) = event { .some(error) } else { nil }
      }
    }
    session.send(.addService(service(10)))
    #expect(try await answer() == nil)
    session.send(.addService(service(20)))
    #expect(try await answer() == .outOfSpace)
    session.send(.removeService(LocalAttributeID(number: 10)))
    session.send(.addService(service(30)))
    #expect(try await answer() == nil)
  }

  @Test("A user's further apps are refused at the limit, and the others go on")
  func appLimit() async throws {
    var limits = ServerLimits.patient
    limits.apps = 1
    let bench = try AppBench(.macos, limits: limits)
    let first = bench.start("first")
    try await first.central.state(.poweredOn)
    let second = bench.start("second")
    try await second.central.state(.resetting)
    let peer = try await first.central.find(Flashlight.service, by: first.session)
    #expect(peer.name == "Flashlight")
  }

  @Test("A program that fails right after each launch is launched less often, and after five failures no more")
  func launchHistory() {
    var history = LaunchHistory()
    let soon = TimeAmount.milliseconds(20)
    #expect(history.ended(after: soon, hasFailed: false) == .wait(.seconds(1)))
    for pause in [2, 4, 8, 16] as [Int64] {
      #expect(history.ended(after: soon, hasFailed: true) == .wait(.seconds(pause)))
    }
    var other = history
    #expect(!history.hasGivenUp)
    #expect(history.ended(after: soon, hasFailed: true) == .giveUp)
    #expect(history.hasGivenUp)
    // A launch that has lasted makes up for failures, and so does the user.
    #expect(other.ended(after: .seconds(11), hasFailed: true) == .wait(.seconds(1)))
    #expect(other.ended(after: soon, hasFailed: true) == .wait(.seconds(2)))
    history.reset()
    #expect(!history.hasGivenUp)
    #expect(history.ended(after: soon, hasFailed: true) == .wait(.seconds(2)))
  }
}
