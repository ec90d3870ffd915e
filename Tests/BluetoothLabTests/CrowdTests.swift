import BluetoothLab
import CoreBluetooth
import Testing

/// Many devices under every kind of fault, and the invariants that hold nevertheless.
@Suite("Crowd")
struct CrowdTests {
  @Test("Forty devices under every fault: no acknowledged data is lost or repeated, and one seed gives one course")
  func faults() async {
    let first = Crowd(seed: 11, pairs: 20)
    await first.run(for: .seconds(40))
    #expect(first.complaints == [])
    #expect(first.measurements > 200)
    #expect(Set(first.world.faultEvents.map(\.layer)) == [.air, .hci, .device])
    let second = Crowd(seed: 11, pairs: 20)
    await second.run(for: .seconds(40))
    #expect(second.world.faultEvents == first.world.faultEvents)
    #expect(second.world.statistics == first.world.statistics)
  }
}

/// Pairs of a strap and a phone at random places in a hall, some of them moving.
private final class Crowd {
  let world: World
  private var phones: [Wearer] = []
  private var straps: [AccessoryDevice<HeartRateSensor>] = []

  init(seed: UInt64, pairs: Int) {
    world = World(seed: seed)
    var random = SeededGenerator(state: seed)
    for number in 0..<pairs {
      let place = Position(x: random.metres(300), y: random.metres(300))
      let strap = HeartRateSensor(name: "strap \(number)", interval: .milliseconds(500))
      straps.append(world.add(strap, named: "strap \(number)", at: place))
      var options = DeviceOptions(position: Position(x: place.x + random.metres(20), y: place.y))
      options.sleepClockDrift = random.metres(100) - 50
      let phone = world.makeDevice(named: "phone \(number)", options)
      if number.isMultiple(of: 4) {
        phone.move(along: [
          Waypoint(at: .seconds(5), place), Waypoint(at: .seconds(15), Position(x: place.x + 400)),
          Waypoint(at: .seconds(25), place),
        ])
      }
      phones.append(Wearer(on: phone, strapName: "strap \(number)"))
      addFaults(number, phone)
    }
    world.add([.air(.lose, .anything, .percent(3)), .air(.corrupt, .anything, .percent(3))])
    world.setInterference([Interference(.wiFi(channel: 6, dutyCycle: 0.3), at: Position(x: 150, y: 150))])
  }

  private func addFaults(_ number: Int, _ phone: Device) {
    let start = Duration.seconds(3 + number)
    switch number % 8 {
    case 0: straps[number].add([.device(.mute(for: .seconds(4)), when: .at(start))])
    case 1: straps[number].add([.device(.driftClock(partsPerMillion: 400), when: .at(start))])
    case 2: straps[number].add([.device(.resetController, when: .at(start))])
    case 3: straps[number].add([.device(.refuseConnections(for: .seconds(5)), when: .at(.zero))])
    case 4: straps[number].add([.device(.stopAnswering(for: .seconds(3)), when: .at(start))])
    case 5: phone.add([.hci(.delay(.milliseconds(40)), HCIMatch(.data), .percent(10))])
    case 6: phone.add([.device(.resetController, when: .afterAir(.notifications(), .number(40)))])
    default: phone.add([.hci(.lose, HCIMatch(.event(0x3E, subevent: 0x02)), .percent(30))])
    }
  }

  func run(for time: Duration) async { await world.run(for: time) }

  var measurements: Int { phones.reduce(0) { $0 + $1.measurements } }

  var complaints: [String] {
    var result = phones.flatMap(\.complaints)
    let statistics = world.statistics
    for device in statistics.devices {
      if device.receiving + device.transmitting > device.time { result.append("\(device.name): more than all time") }
      for link in device.links {
        guard let peer = statistics[link.peer]?.links.first(where: { $0.number == link.number }) else {
          continue
        }
        if link.received.packets > peer.sent.packets || link.received.octets > peer.sent.octets {
          result.append("\(device.name): received more than \(peer.peer) has sent")
        }
      }
    }
    return result
  }
}

/// A phone that stays with its strap and checks that the reported energies have no gap.
private final class Wearer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let manager: CBCentralManager
  private let strapName: String
  private var strap: CBPeripheral?
  private var last: Int?
  private(set) var measurements = 0
  private(set) var complaints: [String] = []

  init(on device: Device, strapName: String) {
    self.strapName = strapName
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    strap = nil
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard strap == nil, advertisementData[CBAdvertisementDataLocalNameKey] as? String == strapName else { return }
    strap = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    last = nil
    peripheral.discoverServices([CBUUID(string: "180D")])
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    central.connect(peripheral)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else { return }
    peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    if let measurement = service.characteristics?.first { peripheral.setNotifyValue(true, for: measurement) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    guard let value = characteristic.value, value.count == 4 else { return }
    let energy = Int(value[2]) | Int(value[3]) << 8
    if let last, energy != last + 1 { complaints.append("\(strapName): \(energy) after \(last)") }
    last = energy
    measurements += 1
  }
}

/// A generator of the devices' places: the same for the same seed.
private struct SeededGenerator {
  var state: UInt64

  mutating func metres(_ range: Double) -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 40) / Double(1 << 24) * range
  }
}
