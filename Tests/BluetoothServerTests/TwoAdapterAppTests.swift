import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothServer

/// The life of an app whose processes use two adapters of a server.
@Suite("Apps on two adapters of a server", .timeLimit(.minutes(10)))
struct TwoAdapterAppTests {
  /// The service for which the app scans on the second adapter.
  private static let beacon = BluetoothUUID(0xFF10)

  /// A central manager of the app "torch" on the second adapter. Its session ends with the result.
  private struct Lamp {
    let central: RemoteCentral
    let session: CentralSession

    init(_ bench: AppBench, restoring identifier: String? = nil) {
      central = RemoteCentral(bench.adapter("lamp", of: "torch"))
      session = central.adapter.openCentralSession(
        for: central, owner: SessionOwner(app: "ignored", restoreIdentifier: identifier))
    }

    /// Scans for the beacon.
    func scan() async throws {
      try await central.state(.poweredOn)
      session.send(
        .scan(ScanRequest(services: [TwoAdapterAppTests.beacon], solicitedServices: [], allowsDuplicates: false)))
      session.send(.barrier(1))
      #expect(try await central.first(\.barrier) == 1)
    }
  }

  /// Lets "remote" advertise the beacon on the first adapter. The advertising ends with the result.
  private func advertise(_ bench: AppBench) async throws -> (RemotePeripheral, PeripheralSession) {
    let beacon = RemotePeripheral(bench.adapter("phone", of: "remote"))
    let session = beacon.adapter.openPeripheralSession(for: beacon)
    try await beacon.poweredOn()
    session.send(.startAdvertising(localName: nil, services: [Self.beacon]))
    return (beacon, session)
  }

  /// Checks that the session of the second adapter is restored and gets the discovery that has waited.
  private func expectRestored(_ lamp: Lamp) async throws {
    #expect(try await lamp.central.first { $0 }.restored?.scan?.services == [Self.beacon])
    #expect(try await lamp.central.first { $0 }.state == .poweredOn)
    _ = try await lamp.central.first(\.discovered)
  }

  @Test("Events on two adapters launch one process with the identifiers of both, and it is restored on both")
  func oneLaunch() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    let remote = bench.start("remote")
    let flashlight = try await remote.find()
    do {
      let torch = bench.start("torch", restoring: "light")
      try await torch.subscribe(to: try await torch.find())
      let lamp = Lamp(bench, restoring: "beam")
      try await lamp.scan()
      try await bench.state(.foreground, of: "torch", on: "lamp")
      torch.session.send(.barrier(2))
      #expect(try await torch.central.first(\.barrier) == 2)
      lamp.session.send(.barrier(2))
      #expect(try await lamp.central.first(\.barrier) == 2)
    }
    await bench.clients(1)
    try await bench.state(.terminated, of: "torch")
    try await bench.state(.terminated, of: "torch", on: "lamp")
    let lightSwitch = try await remote.connect(flashlight, AppBench.lightSwitch)
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    var starts = bench.starter.starts.makeAsyncIterator()
    let start = try #require(await starts.next())
    #expect(start.environment["COREBLUETOOTH_ADAPTER"] == "server:\(bench.bench.path),phone")
    #expect(start.environment["COREBLUETOOTH_LAUNCH_CENTRALS"] == "light\nbeam")
    #expect(start.environment["COREBLUETOOTH_LAUNCH_PERIPHERALS"] == "")
    let beacon = try await advertise(bench)
    // The event of the second adapter waits for the process.
    try await bench.state(.background, of: "torch", on: "lamp")

    let torch = bench.start("torch", restoring: "light")
    #expect(try await torch.central.first { $0 }.restored?.peers.count == 1)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    #expect(try await torch.central.first(\.notification) == [1])
    let lamp = Lamp(bench, restoring: "beam")
    try await expectRestored(lamp)
    try await bench.state(.background, of: "torch")
    try await bench.state(.background, of: "torch", on: "lamp")
    #expect(bench.starter.startCount == 1)
    beacon.1.close()
  }

  @Test("A process that is launched for one adapter is in the background on the other one, until its user returns")
  func background() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    let remote = bench.start("remote")
    let flashlight = try await remote.find()
    do {
      let torch = bench.start("torch", restoring: "light")
      try await torch.subscribe(to: try await torch.find())
    }
    await bench.clients(1)
    try await bench.state(.terminated, of: "torch")
    let lightSwitch = try await remote.connect(flashlight, AppBench.lightSwitch)
    remote.session.send(.write(flashlight.handle, lightSwitch, [1]))
    var starts = bench.starter.starts.makeAsyncIterator()
    _ = await starts.next()
    let torch = bench.start("torch", restoring: "light")
    #expect(try await torch.central.first { $0 }.restored?.peers.count == 1)
    let lamp = Lamp(bench)
    try await lamp.central.state(.poweredOn)
    let states = try await bench.ask { try $0.apps() }.filter { $0.name == "torch" }.map(\.state)
    #expect(states == [.background, .background])
    try await bench.ask { try $0.perform(.controlApp("torch", .foreground)) }
    try await bench.state(.foreground, of: "torch")
    try await bench.state(.foreground, of: "torch", on: "lamp")
    withExtendedLifetime((torch, lamp)) {}
  }

  @Test(
    "An event on an adapter that a running process does not use waits for the process, or launches the app at its end",
    arguments: [false, true])
  func runningProcess(ends: Bool) async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    do {
      let lamp = Lamp(bench, restoring: "beam")
      try await lamp.scan()
    }
    await bench.clients(0)
    try await bench.state(.terminated, of: "torch", on: "lamp")
    let remote = bench.start("remote")
    try await remote.central.state(.poweredOn)
    var torch: AppBench.Program? = bench.start("torch")
    try await torch?.central.state(.poweredOn)
    let beacon = try await advertise(bench)
    // The lamp hears the beacon.
    let witness = RemoteCentral(bench.adapter("lamp", of: "remote"))
    let session = witness.adapter.openCentralSession(for: witness)
    try await witness.state(.poweredOn)
    _ = try await witness.find(Self.beacon, by: session)
    #expect(bench.starter.startCount == 0)
    if ends {
      torch = nil
      var starts = bench.starter.starts.makeAsyncIterator()
      let start = try #require(await starts.next())
      #expect(start.environment["COREBLUETOOTH_ADAPTER"] == "server:\(bench.bench.path),lamp")
      #expect(start.environment["COREBLUETOOTH_LAUNCH_CENTRALS"] == "beam")
    }
    let lamp = Lamp(bench, restoring: "beam")
    try await expectRestored(lamp)
    try await bench.state(ends ? .background : .foreground, of: "torch", on: "lamp")
    #expect(bench.starter.startCount == (ends ? 1 : 0))
    withExtendedLifetime(torch) {}
    session.close()
    beacon.1.close()
  }
}
