// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothLab
import CoreBluetooth
import Testing

/// A phone connects to a sensor while one packet between a host and its controller is lost, duplicated or delayed.
@Suite("A single faulty HCI packet") struct WorldPacketFaultTests {
  /// The kinds of fault of a packet. The delay is longer than a host waits for Command Complete.
  enum Mishap: String, CaseIterable {
    case lost, duplicated, late

    var action: HCIFault.Action {
      switch self {
      case .lost: .lose
      case .duplicated: .duplicate
      case .late: .delay(.milliseconds(2_500))
      }
    }
  }

  /// The differences between sessions.
  enum Variant: String {
    case plain
    /// The sensor's chip is one of Bluetooth 4.0, with the legacy commands and one link at a time.
    case bluetooth40 = "Bluetooth 4.0"
    /// The value needs an encrypted link, so that the devices pair.
    case paired
  }

  /// One session, and the newcomer after it.
  private struct Course {
    let device: String
    let direction: HCIMatch.Direction
    let mishap: Mishap
    let number: Int
    let variant: Variant

    /// - Returns: nil if the session has fewer packets; otherwise the reason why the newcomer failed, or "" if it
    ///   succeeded.
    func run() -> String? {
      let world = World(seed: variant == .paired ? 12 : 11)
      var options = DeviceOptions()
      if variant == .bluetooth40 { options.generation = .bluetooth40 }
      let sensor = world.makeDevice(named: "sensor", options)
      let phone = world.makeDevice(named: "phone", at: Position(x: 1))
      let faulty = device == "sensor" ? sensor : phone
      faulty.add([.hci(mishap.action, HCIMatch(.anything, direction: direction), .number(number))])
      let owner = Owner(sensor, isProtected: variant == .paired)
      let visitor = Visitor(phone)
      world.run(until: { visitor.isDone }, limit: .seconds(3))
      guard let event = world.faultEvents.first else { return nil }
      // A Bluetooth 4.0 chip has one link at a time.
      if variant == .bluetooth40 { phone.setPower(false) }
      let newcomer = Visitor(world.makeDevice(named: "newcomer", at: Position(x: 0, y: 1)))
      let came = world.run(until: { newcomer.value == Data([42]) }, limit: .seconds(60))
      withExtendedLifetime(owner) {}
      return came ? "" : "\(device), \(number), \(event.description): \(newcomer.events)"
    }
  }

  /// One kind of fault for all packets of a device and of a session.
  struct Series: CustomTestStringConvertible {
    let device: String
    let mishap: Mishap
    let variant: Variant

    var testDescription: String { "\(mishap.rawValue) at the \(device), \(variant.rawValue)" }
  }

  static let series: [Series] = ["sensor", "phone"].flatMap { device in
    // Pairing takes long to compute, so the longest of its series are left out.
    [Series(device: device, mishap: .lost, variant: .paired)]
      + Mishap.allCases.flatMap { mishap in
        [.plain, .bluetooth40].map { Series(device: device, mishap: mishap, variant: $0) }
      }
  }

  @Test(
    "A newcomer discovers, connects to and reads the sensor after any packet of a session was lost, doubled or late",
    arguments: series)
  func newcomer(_ series: Series) {
    for direction in [HCIMatch.Direction.toController, .toHost] {
      var number = 1
      while let failure = Course(
        device: series.device, direction: direction, mishap: series.mishap, number: number, variant: series.variant
      ).run() {
        #expect(failure == "")
        number += 1
      }
      // A session with fewer packets would prove nothing.
      #expect(number > 25)
    }
  }
}

/// The app of a sensor: publishes a value and advertises whenever Bluetooth is turned on.
private final class Owner: NSObject, CBPeripheralManagerDelegate {
  static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001")
  private var manager: CBPeripheralManager!

  private let isProtected: Bool

  init(_ device: Device, isProtected: Bool) {
    self.isProtected = isProtected
    super.init()
    manager = CBPeripheralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "FFF1"), properties: .read, value: isProtected ? nil : Data([42]),
        permissions: isProtected ? .readEncryptionRequired : .readable)
    ]
    peripheral.removeAllServices()
    peripheral.add(service)
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    request.value = Data([42])
    peripheral.respond(to: request, withResult: .success)
  }
}

/// The app of a phone: finds the sensor, connects, reads its value and disconnects.
private final class Visitor: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private(set) var events: [String] = []
  private(set) var value: Data?
  private(set) var isDone = false
  private var peripheral: CBPeripheral?
  private var manager: CBCentralManager!

  init(_ device: Device) {
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    events.append("state \(central.state.rawValue)")
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Owner.service]) }
  }
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    guard self.peripheral == nil || self.peripheral?.state == .disconnected else { return }
    events.append("found")
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    events.append("connected")
    peripheral.discoverServices([Owner.service])
  }
  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    events.append("failed")
    central.connect(peripheral)
  }
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    events.append("disconnected")
    isDone = value != nil
    if !isDone, central.state == .poweredOn { central.connect(peripheral) }
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    events.append("services")
    guard let service = peripheral.services?.first else { return manager.cancelPeripheralConnection(peripheral) }
    peripheral.discoverCharacteristics(nil, for: service)
  }
  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    events.append("characteristics")
    guard let value = service.characteristics?.first else { return manager.cancelPeripheralConnection(peripheral) }
    peripheral.readValue(for: value)
  }
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    events.append("value")
    value = characteristic.value
    manager.cancelPeripheralConnection(peripheral)
  }
}
