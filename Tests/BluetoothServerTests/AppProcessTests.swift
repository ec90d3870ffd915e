import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothWire
import Dispatch
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothServer

/// The processes of an app that join it, come back, or end.
@Suite("Processes of an app", .timeLimit(.minutes(10)))
struct AppProcessTests {
  @Test("A second process brings a suspended app to the front, and both processes get their events")
  func secondProcess() async throws {
    let bench = try AppBench(.ios)
    let manifest = AppManifest(backgroundModes: [.peripheral], usageDescription: "To read.")
    let name = "torch"
    let first = bench.start(name, manifest)
    try await first.central.state(.poweredOn)
    try await bench.ask { try $0.perform(.controlApp(name, .background)) }
    try await bench.state(.background, of: name)
    try await bench.ask { try $0.perform(.controlApp(name, .suspend)) }
    try await bench.state(.suspended, of: name)
    let second = bench.start(name, manifest)
    try await second.central.state(.poweredOn)
    try await bench.state(.foreground, of: name)
    _ = try await first.central.find(Flashlight.service, by: first.session)
    _ = try await second.central.find(Flashlight.service, by: second.session)
  }

  @Test("A program in the background is there again after the server has been away", arguments: [false, true])
  func returnedInBackground(hasNewDaemons: Bool) async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    try await bench.ask { try $0.perform(.controlApp("torch", .background)) }
    try await bench.state(.background, of: "torch")
    bench.bench.server.stop()
    try await torch.central.state(.resetting)
    if hasNewDaemons { try bench.bench.restartDaemons() } else { try bench.bench.restart() }
    try await torch.central.state(.poweredOn)
    let apps = try await bench.ask { try $0.apps() }
    #expect(apps.filter { $0.name == "torch" }.map(\.state) == [.background])
    // Its user returns to it.
    try await bench.ask { try $0.perform(.controlApp("torch", .foreground)) }
    try await bench.state(.foreground, of: "torch")
  }

  @Test(
    "A program that loses its connection before its first manager knows a state is restored",
    arguments: [false, true])
  func lostBeforeManager(losesOpening: Bool) async throws {
    let bench = try AppBench(.open)
    do {
      let torch = bench.start("torch", restoring: "light")
      try await torch.subscribe(to: try await torch.find())
    }
    await bench.clients(0)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let adapter = bench.adapter("phone", of: "torch", on: group.next())
    let access = await onOwnThread { adapter.toldAccess(within: 500) }
    #expect(access == .allowed)
    // With the loop stopped, the adapter opens the session before it sees the loss.
    let gate = DispatchSemaphore(value: 0)
    if losesOpening { group.next().execute { gate.wait() } }
    bench.bench.server.stop()
    try bench.bench.restart()
    let central = RemoteCentral(adapter)
    let session = central.adapter.openCentralSession(
      for: central, owner: SessionOwner(app: "ignored", restoreIdentifier: "light"))
    gate.signal()
    // The manager can see that there is no connection yet.
    let isRestored = try await central.first { event -> Bool? in
      if event.restored != nil { true } else if event.state == .poweredOn { false } else { nil }
    }
    #expect(isRestored)
    session.close()
  }
}
