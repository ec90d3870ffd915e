import BluetoothLab
import CoreBluetooth

/// The accessories of the profiles: the allocations of a measurement, and the time of a thousand of them.
enum Accessories {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("accessories' allocations per measurement", perMeasurement), ("1,000 accessories", thousand),
  ]

  /// A kind of accessory.
  private struct Kind: Sendable {
    let name: String
    /// The characteristic of the measurements that the accessory makes by itself while a client is subscribed; nil: none.
    let measurement: String?
    let add: @Sendable (World, String, Position) -> RadioDevice

    init<A: Accessory>(_ name: String, _ measurement: String?, _ accessory: A) {
      (self.name, self.measurement) = (name, measurement)
      add = { $0.add(accessory, named: $1, at: $2) }
    }
  }

  /// The kinds that measure. The heart rate sensor is the first one: the others are compared with it.
  private static let kinds = [
    Kind("heart rate", "2A37", HeartRateSensor()), Kind("thermometer", "2A1C", Thermometer()),
    Kind("blood pressure", "2A35", BloodPressureMonitor()), Kind("cycling", "2A5B", CyclingSensor()),
    Kind("cycling power", "2A63", CyclingPowerMeter()), Kind("running", "2A53", RunningSensor()),
    Kind("location", "2A67", LocationSensor()),
  ]

  /// The kinds that advertise, and to which no app connects.
  private static let others = [
    Kind("glucose", nil, GlucoseMeter()), Kind("keyboard", nil, Keyboard()), Kind("mouse", nil, Mouse()),
    Kind("key fob", nil, keyFob), Kind("telephone", nil, Telephone()), Kind("sensor tag", nil, SensorTag()),
    Kind("battery", nil, BatteryPack()),
  ]

  /// A key fob with the advertising intervals of the other kinds.
  private static var keyFob: KeyFob {
    var fob = KeyFob()
    fob.advertisingSchedule = Advertising.fastThenSlow
    return fob
  }

  // MARK: One accessory

  @Sendable private static func perMeasurement(divisor: Int) throws -> Measurement {
    let count = max(10, 2_000 / divisor)
    let results = try kinds.map { kind in (kind.name, try allocationsPerMeasurement(of: kind, count)) }
    let texts = results.map { name, number in "\(name) \(number?.rounded(to: 2) ?? "not counted")" }
    return Measurement(
      name: "heap allocations per measurement of an accessory, with the app's side",
      result: texts.joined(separator: ", "), aim: "not more than heart rate",
      method: "\(count.grouped) measurements to a subscribed app, one a second, after 100 to warm up")
  }

  private static func allocationsPerMeasurement(of kind: Kind, _ count: Int) throws -> Double? {
    let world = World(seed: 1)
    let device = kind.add(world, kind.name, Position(x: 1))
    let app = MeasuringApp([kind].compactMap(\.measurement), on: world.makeDevice(named: "phone"))
    guard world.run(until: { app.values >= 100 }, limit: .seconds(300)) else { throw DidNotHappen() }
    let start = app.values
    let allocated = try allocations {
      guard world.run(until: { app.values - start >= count }, limit: .seconds(2 * count + 60)) else {
        throw DidNotHappen()
      }
    }
    withExtendedLifetime(device) {}
    return allocated.map { Double($0) / Double(app.values - start) }
  }

  // MARK: Many accessories

  @Sendable private static func thousand(divisor: Int) throws -> Measurement {
    let allKinds = kinds + others
    let count = max(allKinds.count, 1_000 / divisor)
    let world = World(seed: 1)
    // The app's accessories stand near its device. The others are far from it, because the packets of a thousand
    // accessories take three times the time of the advertising channels: nearer, they would drown the app's.
    let devices = (0..<count).map { number in
      let kind = allKinds[number % allKinds.count]
      let position =
        number < kinds.count
        ? Position(x: 1, y: Double(number) / 10)
        : Position(x: 40 + 5 * Double(number % 40), y: 5 * Double(number / 40))
      return kind.add(world, "\(kind.name) \(number)", position)
    }
    let app = MeasuringApp(kinds.compactMap(\.measurement), on: world.makeDevice(named: "phone"))
    // The accessories advertise at 100 ms for 30 s, then at 1,022.5 ms.
    let fast = bestTime(of: 1) { world.run(for: .seconds(30)) }
    let minute = fast + bestTime(of: 1) { world.run(for: .seconds(30)) }
    guard world.run(until: { app.subscriptions == kinds.count }, limit: .seconds(60)) else { throw DidNotHappen() }
    let seconds = max(2, 20 / divisor)
    let before = app.values
    let slow = Double(seconds) / bestTime(of: 3) { world.run(for: .seconds(seconds)) }
    withExtendedLifetime(devices) {}
    return Measurement(
      name: "\(count.grouped) accessories of \(allKinds.count) kinds",
      result: "\(slow.rounded(to: 1)) × real time; after power-on \((60 / minute).rounded(to: 1)) × in the first "
        + "minute, \((30 / fast).rounded(to: 1)) × in its first half",
      aim: "≥ 50 × real time",
      method: "all advertise at 1,022.5 ms, in the first 30 s at 100 ms, except for one of \(kinds.count) kinds each, "
        + "which measure for an app, at 30 ms; \(seconds) s of radio time, best of 3; "
        + "\((app.values - before) / 3) values each time")
  }
}

/// An app that connects to the first accessory with each of these characteristics, and subscribes.
private final class MeasuringApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private static let services = [
    "2A37": "180D", "2A1C": "1809", "2A35": "1810", "2A5B": "1816", "2A63": "1818", "2A53": "1814", "2A67": "1819",
  ].reduce(into: [CBUUID: CBUUID]()) { $0[CBUUID(string: $1.key)] = CBUUID(string: $1.value) }

  private let manager: CBCentralManager
  /// The characteristics by the services that no accessory with a connection has yet.
  private var wanted: [CBUUID: CBUUID] = [:]
  private var peripherals: [CBPeripheral] = []
  private var measurements: [CBUUID] = []
  private(set) var subscriptions = 0
  private(set) var values = 0

  init(_ characteristics: [String], on device: Device) {
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    measurements = characteristics.map { CBUUID(string: $0) }
    for uuid in measurements { if let service = Self.services[uuid] { wanted[service] = uuid } }
    manager.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: Array(wanted.keys)) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
    guard let service = services.first(where: { wanted[$0] != nil }) else { return }
    wanted[service] = nil
    if wanted.isEmpty { central.stopScan() }
    peripherals.append(peripheral)
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(Array(Self.services.values))
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(measurements, for: service) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if characteristic.isNotifying { subscriptions += 1 }
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    values += 1
  }
}
