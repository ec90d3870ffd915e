import BluetoothDaemon
import BluetoothHost
import BluetoothLab
import BluetoothWire
import CoreBluetooth
import TestSupport
import Testing

/// The advertising sets and the synchronizations of apps that the system suspends or terminates.
@Suite("Life of apps with advertising sets and trains")
struct TrainAppTests {
  /// Another device of the world, which sends a periodic train every 100 ms.
  private final class Sender {
    private let manager: CBPeripheralManager
    private let set = LocalSetID(number: 1)
    /// The request to synchronize with the train.
    let request: SyncRequest

    init(in world: World) throws {
      let device = world.makeDevice(named: "sender", at: Position(x: 2))
      manager = CBPeripheralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
      world.run(for: .seconds(1))
      manager.start(set, TrainAppTests.broadcast(sid: 5, train: true))
      let scanner = TestCentral(on: world.makeDevice(named: "scanner", at: Position(x: 3))).manager
      let packets = TrainAppTests.packets(of: scanner)
      world.run(for: .seconds(1))
      scanner.scanForPackets(isActive: false, includesLECoded: false)
      world.run(for: .seconds(1))
      let packet = try #require(packets.take().first { $0.report.advertisingSet == 5 })
      request = SyncRequest(advertiser: packet.address, advertisingSID: 5, timeout: 100)
      scanner.stopScan()
    }

    func stop() { manager.stop(set) }
  }

  private static func broadcast(sid: UInt8, train: Bool = false) -> HostAdvertising {
    var result = HostAdvertising(data: [2, 10, 4], scanResponse: [])
    result.shape.type = .nonConnectableUndirected
    var extended = HostAdvertising.ExtendedPDUs()
    extended.advertisingSID = sid
    result.shape.extended = extended
    if train { result.train = HostAdvertising.PeriodicTrain(interval: 80, data: [2, 10, 4]) }
    return result
  }

  /// Returns the packets of the manager's scans from now on.
  private static func packets(of manager: CBCentralManager) -> EventLog<SightedPacket> {
    let log = EventLog<SightedPacket>()
    manager.setPacketObserver { log.append($0) }
    return log
  }

  /// Returns the events of the app's synchronization: the reports, and all others as text.
  private func synchronize(_ root: BeltApp, with sender: Sender) -> EventLog<String> {
    let log = EventLog<String>()
    root.manager.setTrainObserver { event in
      switch event.event {
      case .established: log.append("established")
      case .report: log.append("report")
      case .ended(let end): log.append("\(end)")
      }
    }
    root.manager.synchronize(1, with: sender.request)
    return log
  }

  @Test("The loss of a train waits for a suspended app, which gets no report of the time in between")
  func suspension() throws {
    var plan = BeltApp.Plan()
    plan.scans = false
    let stage = AppLifeTests.Stage(manifest: .described(), plan)
    let sender = try Sender(in: stage.world)
    stage.app.launch()
    stage.run(1)
    let log = synchronize(try #require(stage.app.root), with: sender)
    stage.run(3)
    let events = log.take()
    #expect(events.first == "established" && events.dropFirst().allSatisfy { $0 == "report" } && events.count > 10)
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    _ = log.take()
    stage.run(2)
    sender.stop()
    stage.run(3)
    #expect(log.take().isEmpty)
    stage.app.enterForeground()
    stage.run(1)
    #expect(log.take() == ["lost"])
  }

  @Test("The synchronization of a terminated app ends: its reports do not launch the app")
  func terminatedCentral() throws {
    var plan = BeltApp.Plan()
    plan.scans = false
    let stage = AppLifeTests.Stage(plan)
    let sender = try Sender(in: stage.world)
    stage.app.launch()
    stage.run(1)
    let log = synchronize(try #require(stage.app.root), with: sender)
    stage.run(3)
    #expect(log.take().contains("report"))
    stage.app.terminate()
    stage.run(3)
    #expect(stage.app.root == nil && stage.app.state == .terminated && log.take().isEmpty)
    // The new process uses the same numbers.
    stage.app.launch()
    stage.run(1)
    let again = synchronize(try #require(stage.app.root), with: sender)
    stage.run(3)
    #expect(again.take().first == "established")
    withExtendedLifetime(sender) {}
  }

  @Test("The advertising sets of a terminated app end; the advertising that the system restores goes on")
  func terminatedPeripheral() throws {
    let stage = PeripheralAppTests.Stage()
    let packets = Self.packets(of: stage.central.manager)
    func sets() -> Set<UInt8?> { Set(packets.take().map(\.report.advertisingSet)) }
    stage.app.launch()
    stage.run(1)
    let set = LocalSetID(number: 1)
    try #require(stage.app.root).manager.start(set, Self.broadcast(sid: 6))
    stage.central.manager.scanForPackets(isActive: false, includesLECoded: false)
    stage.run(2)
    #expect(sets() == [nil, 6])
    stage.app.terminate()
    stage.run(1)
    _ = sets()
    stage.run(2)
    #expect(sets() == [nil])
    // The new process uses the same number for another set.
    stage.app.launch()
    stage.run(1)
    try #require(stage.app.root).manager.start(set, Self.broadcast(sid: 7))
    stage.run(2)
    #expect(sets() == [nil, 7])
  }
}
