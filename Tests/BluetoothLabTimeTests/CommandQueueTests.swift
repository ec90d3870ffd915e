import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import Foundation
import NIOConcurrencyHelpers
import Testing

/// A client of a battery whose commands run one after the other on a queue of their own. Each command blocks the queue
/// until the delegate has its answer, or until its time is over. Unchecked, because the world runs one piece of the
/// app's work at a time.
private final class CommandClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
  private let world: World
  private let commands = DispatchQueue(label: "app.commands")
  private let answer = DispatchSemaphore(value: 0)
  private let steps = NIOLockedValueBox<[String]>([])
  private var manager: CBCentralManager?
  private var peripheral: CBPeripheral?

  init(in world: World) {
    self.world = world
    super.init()
    manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "app.bluetooth"))
    perform("on") {}
    perform("discover") { [self] in manager?.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    perform("connect") { [self] in manager?.connect(peripheral!) }
    perform("services") { [self] in peripheral?.discoverServices([CBUUID(string: "180F")]) }
    perform("characteristics") { [self] in peripheral?.discoverCharacteristics(nil, for: peripheral!.services![0]) }
    for _ in 0..<2 {
      perform("read") { [self] in peripheral?.readValue(for: peripheral!.services![0].characteristics![0]) }
    }
    perform("nothing") {}
    perform("disconnect") { [self] in manager?.cancelPeripheralConnection(peripheral!) }
  }

  /// The steps so far, each with its instant in nanoseconds.
  var trace: [String] { steps.withLockedValue { $0 } }

  private func perform(_ name: String, _ command: @escaping @Sendable () -> Void) {
    commands.async { [self] in
      command()
      let result = answer.wait(timeout: .now() + .seconds(3))
      note(result == .success ? name : "\(name) timed out")
    }
  }

  private func note(_ step: String) {
    let now = world.now
    let nanoseconds = now.components.seconds * 1_000_000_000 + now.components.attoseconds / 1_000_000_000
    steps.withLockedValue { $0.append("\(nanoseconds) \(step)") }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { answer.signal() }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central.stopScan()
    peripheral.delegate = self
    self.peripheral = peripheral
    answer.signal()
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { answer.signal() }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    answer.signal()
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { answer.signal() }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    answer.signal()
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    answer.signal()
  }
}

@Suite(.serialized) struct CommandQueueTests {
  private func run() throws -> [String] {
    let world = World(seed: 1)
    _ = world.add(HeartRateSensor(), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))
    return try world.withAppTime {
      let client = CommandClient(in: world)
      world.run(for: .seconds(60))
      return client.trace
    }
  }

  @Test("An app that waits for the answer to each command on a queue gets the answers, and its time limits end")
  func blockingCommands() throws {
    let trace = try run()
    #expect(
      trace.map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == [
        "on", "discover", "connect", "services", "characteristics", "read", "read", "nothing timed out", "disconnect",
      ])
    let instants = trace.compactMap { $0.split(separator: " ").first.flatMap { Int64($0) } }
    try #require(instants.count == 9)
    // The command before gets its answer, and the time of the next one begins then.
    #expect(instants[7] - instants[6] == 3_000_000_000)
    // Each answer needs the radio.
    #expect(zip(instants, instants.dropFirst()).allSatisfy { $0 < $1 })
    for _ in 0..<runCount { try #require(try run() == trace) }
  }
}
