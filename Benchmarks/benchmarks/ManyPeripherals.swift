import BluetoothLab
import CoreBluetooth

/// One manager that is connected to 100 peripherals.
enum ManyPeripherals {
  @Sendable static func measure(divisor: Int) throws -> Measurement {
    let count = max(2, 100 / divisor)
    let reads = 10
    let world = World(seed: 1)
    let servers = (0..<count).map { number in
      Server(
        on: world.makeDevice(
          named: "server \(number)", at: Position(x: 1 + Double(number % 10), y: Double(number / 10))),
        valueLength: 20, isEncrypted: false)
    }
    let client = ManyClient(on: world.makeDevice(named: "client"), wanted: count, reads: reads)
    var connected = Duration.zero
    let time = try bestTime(of: 1) {
      guard world.run(until: { client.ready == count }, limit: .seconds(300)) else { throw DidNotHappen() }
      connected = world.now
      client.read()
      guard world.run(until: { client.values == count * reads }, limit: .seconds(300)) else { throw DidNotHappen() }
    }
    let finished = world.now
    // No link may be lost in a minute.
    let idle = bestTime(of: 1) { world.run(for: .seconds(60)) }
    guard client.lost == 0, client.peripherals.allSatisfy({ $0.state == .connected }) else { throw DidNotHappen() }
    withExtendedLifetime(servers) {}
    return Measurement(
      name: "\(count) peripherals connected by one manager",
      result: "all connected and discovered after \(seconds(connected)) s of radio time, \(reads) reads of each"
        + " \(seconds(finished - connected)) s later, all in \(time.rounded(to: 2)) s;"
        + " \((60 / idle).rounded(to: 1)) radio seconds a second afterwards, no link lost",
      aim: "100", method: "a world of devices with the API on both sides, connections at an interval of 30 ms")
  }

  private static func seconds(_ duration: Duration) -> String { (duration / .seconds(1)).rounded(to: 2).description }
}

private final class ManyClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let manager: CBCentralManager
  private let wanted: Int
  private let reads: Int
  private(set) var peripherals: [CBPeripheral] = []
  private var characteristics: [CBCharacteristic] = []
  private var left: [ObjectIdentifier: Int] = [:]
  private(set) var values = 0
  private(set) var lost = 0
  var ready: Int { characteristics.count }

  init(on device: Device, wanted: Int, reads: Int) {
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    (self.wanted, self.reads) = (wanted, reads)
    super.init()
    manager.delegate = self
  }

  func read() {
    for characteristic in characteristics {
      left[ObjectIdentifier(characteristic)] = reads - 1
      characteristic.service?.peripheral?.readValue(for: characteristic)
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Server.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard !peripherals.contains(where: { $0 === peripheral }) else { return }
    peripherals.append(peripheral)
    peripheral.delegate = self
    central.connect(peripheral)
    if peripherals.count == wanted { central.stopScan() }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([Server.service])
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    lost += 1
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    characteristics += service.characteristics ?? []
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    values += 1
    guard let rest = left[ObjectIdentifier(characteristic)], rest > 0 else { return }
    left[ObjectIdentifier(characteristic)] = rest - 1
    peripheral.readValue(for: characteristic)
  }
}
