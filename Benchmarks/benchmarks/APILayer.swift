import BluetoothDaemon
import BluetoothWire
import CAllocationCount
import CoreBluetooth

/// The cost of the API itself: from an event of the daemon to the delegate's callback, without the layers below.
enum APILayer {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("notification on an own queue", ownQueue), ("notification in place", inPlace),
    ("memory per scanned advertiser", scanned), ("memory per forgotten advertiser", forgotten),
    ("peripherals of one manager", ManyPeripherals.measure),
  ]

  // MARK: Notifications

  @Sendable private static func ownQueue(divisor: Int) throws -> Measurement {
    try notification(divisor, isInPlace: false, "on its own queue", aim: "2 µs, 4 allocations")
  }

  @Sendable private static func inPlace(divisor: Int) throws -> Measurement {
    try notification(divisor, isInPlace: true, "in place (virtual time)", aim: "—")
  }

  private static func notification(
    _ divisor: Int, isInPlace: Bool, _ place: String, aim: String
  ) throws -> Measurement {
    let count = 100_000 / divisor
    let app = try NotifiedApp(isInPlace: isInPlace)
    try app.deliver(1_000)
    let time = try bestTime(of: 5) { try app.deliver(count) }
    let allocated = try allocations { try app.deliver(count) }
    return Measurement(
      name: "the API's part of a notification delivered \(place)",
      result: "\((time / Double(count) * 1e6).rounded(to: 2)) µs,"
        + " \(WholeStack.text(allocated.map { Double($0) / Double(count) })) allocations",
      aim: aim,
      method: "\(count.grouped) values of 244 octets, from the daemon's event to the end of the delegate's callback;"
        + " at most 64 wait on the queue; best of 5")
  }

  /// Returns the heap allocations of the API per notification on the app's own queue; nil if they cannot be counted.
  static func allocationsPerNotification(_ count: Int) throws -> Double? {
    let app = try NotifiedApp(isInPlace: false)
    try app.deliver(1_000)
    let allocated = try allocations { try app.deliver(count) }
    return allocated.map { Double($0) / Double(count) }
  }

  /// Delivers notifications to an app on its own queue.
  static func deliverNotifications(_ count: Int) throws {
    try NotifiedApp(isInPlace: false).deliver(count)
  }

  // MARK: Scanned advertisers

  @Sendable private static func scanned(divisor: Int) throws -> Measurement {
    try memory(divisor, retains: true, "memory per scanned advertiser whose CBPeripheral the app retains")
  }

  @Sendable private static func forgotten(divisor: Int) throws -> Measurement {
    try memory(divisor, retains: false, "memory per scanned advertiser whose CBPeripheral the app does not retain")
  }

  private static func memory(_ divisor: Int, retains: Bool, _ name: String) throws -> Measurement {
    let count = 10_000 / divisor
    let octets = try octetsPerAdvertiser(count, retains: retains)
    return Measurement(
      name: name, result: octets.map { "\(Int($0).grouped) octets" } ?? "can't be counted here", aim: "1 KiB",
      method: "heap of the daemon and the manager after a scan of \(count.grouped) advertisers with 29 octets of data"
        + " and a scan response of 20, divided by their number")
  }

  /// Returns the heap octets at the daemon and the manager per scanned advertiser; nil if they cannot be counted.
  ///
  /// - Parameter retains: True if the app retains the peripherals.
  static func octetsPerAdvertiser(_ count: Int, retains: Bool) throws -> Double? {
    guard allocation_count_is_available() else { return nil }
    let adapter = try AdapterInMemory(deliversInPlace: true)
    let app = ScanningApp(on: adapter, capacity: retains ? count + 1 : 0)
    adapter.turn()
    func report(_ number: Int) {
      let digits = String(10_000 + number % 90_000).utf8
      // Flags, two services, manufacturer data of 14 octets, a TX power; a name in the scan response.
      let company: [UInt8] = [15, 0xFF, 0xFF, 0xFF] + digits + [UInt8](repeating: 7, count: 7)
      adapter.report(ByteSlice([2, 1, 6, 5, 3, 0x0D, 0x18, 0x0F, 0x18] + company + [2, 10, 4]), of: number)
      let name = Array("Sensor number".utf8) + digits
      adapter.report(
        ByteSlice([UInt8(name.count + 1), 9] + name), of: number, isScanResponse: true)
    }
    // The first one causes the one-time allocations.
    report(0)
    let before = allocation_octets_in_use()
    for number in 1...count { report(number) }
    let used = allocation_octets_in_use() - before
    guard app.count == count + 1 else { throw DidNotHappen() }
    withExtendedLifetime((app, adapter)) {}
    return Double(used) / Double(count)
  }
}

/// An app that has subscribed to the value of an `AdapterInMemory`.
private final class NotifiedApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let adapter: AdapterInMemory
  private let queue = DispatchQueue(label: "app")
  private let isInPlace: Bool
  private let manager: CBCentralManager
  private let room = DispatchSemaphore(value: 64)
  private var peripheral: CBPeripheral?
  private var isReady = false
  private var values = 0
  private var event: DaemonEvent?

  init(isInPlace: Bool) throws {
    self.isInPlace = isInPlace
    adapter = try AdapterInMemory(deliversInPlace: isInPlace)
    manager = CBCentralManager(delegate: nil, queue: queue, options: [CBManagerOptionAdapterKey: adapter])
    super.init()
    manager.delegate = self
    settle()
    adapter.report([2, 1, 6, 3, 3, 0x0D, 0x18])
    // The daemon holds the report until the scan response is there.
    adapter.report([], isScanResponse: true)
    settle()
    guard isReady else { throw DidNotHappen() }
    adapter.notify(ByteSlice([UInt8](repeating: 0x5A, count: 244)))
    settle()
    event = adapter.notification
    guard event != nil, values == 1 else { throw DidNotHappen() }
  }

  /// Runs the daemon and the app's queue in turn.
  private func settle() {
    for _ in 0..<20 {
      adapter.turn()
      queue.sync {}
    }
  }

  /// Delivers the event this often.
  func deliver(_ count: Int) throws {
    guard let event else { throw DidNotHappen() }
    values = 0
    for _ in 0..<count {
      room.wait()
      adapter.sessions.deliver(event)
    }
    queue.sync {}
    guard values == count else { throw DidNotHappen() }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(nil)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    if let value = service.characteristics?.first { peripheral.setNotifyValue(true, for: value) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    isReady = error == nil
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    values += 1
    if isReady, event != nil { room.signal() }
  }
}

/// An app that scans, and retains the peripherals if it has room for them.
private final class ScanningApp: NSObject, CBCentralManagerDelegate {
  private let manager: CBCentralManager
  private var peripherals: [CBPeripheral] = []
  private let capacity: Int
  private(set) var count = 0

  init(on adapter: AdapterInMemory, capacity: Int) {
    self.capacity = capacity
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: adapter])
    super.init()
    peripherals.reserveCapacity(capacity)
    manager.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    count += 1
    if peripherals.count < capacity { peripherals.append(peripheral) }
  }
}
