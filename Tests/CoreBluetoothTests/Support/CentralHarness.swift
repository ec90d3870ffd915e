import TestSupport

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

/// A central manager on a scripted adapter, powered on.
final class CentralHarness<App: CentralRecorder & CBCentralManagerDelegate> {
  /// The log since the creation of this harness.
  let log = LogRecorder()
  let adapter = ScriptedAdapter()
  let app: App
  let queue = DispatchQueue(label: "app")
  var manager: CBCentralManager!

  init(_ app: App, state: AdapterState = .poweredOn) {
    self.app = app
    manager = CBCentralManager(delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: adapter])
    if state != .unknown {
      adapter.tell(state: state)
      _ = app.take()
    }
  }

  /// Summaries of the manager's commands since the last call.
  var commands: [String] { adapter.centralCommands().map(\.summary) }

  func sighting(_ index: UInt32 = 0, name: String? = "sensor") -> DiscoveryInfo {
    let identifier = PeerIdentifier(high: 0x1234, low: UInt64(index))
    let info =
      adapter.directory.peer(identifier)
      ?? adapter.directory.add(
        identifier, DeviceAddress(0xC000_0000_0000 + identifier.low, .random), name: name)
    return DiscoveryInfo(peer: info, isConnectable: true, rssi: -50)
  }

  /// Scans and reports one peripheral.
  func discover(_ index: UInt32 = 0, name: String? = "sensor") -> CBPeripheral {
    manager.scanForPeripherals(withServices: nil)
    adapter.tell(.discovered(sighting(index, name: name)))
    manager.stopScan()
    let peripheral = app.found.removeLast()
    app.found = []
    peripheral.delegate = app
    _ = app.take()
    _ = commands
    return peripheral
  }

  func connect(_ index: UInt32 = 0, options: [String: Any]? = nil) -> CBPeripheral {
    let peripheral = discover(index)
    manager.connect(peripheral, options: options)
    adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    _ = app.take()
    _ = commands
    return peripheral
  }

  /// Returns a connected peripheral with the Heart Rate service, its measurement and the measurement's descriptors.
  func connectToSensor(properties: CharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify]) -> Sensor
  {
    let peripheral = connect()
    adapter.tell(.servicesDiscovered(peripheral.handle, .success([.init(id: .init(1), uuid: 0x180D, isPrimary: true)])))
    adapter.tell(
      .characteristicsDiscovered(
        peripheral.handle, .init(1), .success([.init(id: .init(3), uuid: 0x2A37, properties: properties)])))
    let service = peripheral.services![0]
    _ = app.take()
    return Sensor(
      handle: peripheral.handle, peripheral: peripheral, service: service, characteristic: service.characteristics![0])
  }

  struct Sensor {
    let handle: PeerHandle
    let peripheral: CBPeripheral
    let service: CBService
    let characteristic: CBCharacteristic
    let characteristicID = RemoteAttributeID(3)
  }

  /// Reports the descriptors of the sensor's characteristic and returns them.
  func discoverDescriptors(_ uuids: [BluetoothUUID], of sensor: Sensor) -> [CBDescriptor] {
    let found = uuids.enumerated().map { RemoteDescriptorInfo(id: .init(UInt16(4 + $0.offset)), uuid: $0.element) }
    adapter.tell(.descriptorsDiscovered(sensor.handle, sensor.characteristicID, .success(found)))
    _ = app.take()
    return sensor.characteristic.descriptors!
  }
}

extension CentralCommand {
  var summary: String {
    switch self {
    case .scan(let request):
      let services = request.services.map { "\($0)" } ?? "all"
      return "scan \(services) \(request.solicitedServices)\(request.allowsDuplicates ? " duplicates" : "")"
    case .stopScan: return "stop scan"
    case .connect(_, let delay, let reconnects):
      return "connect after \(delay.nanoseconds / 1_000_000) ms\(reconnects ? " reconnecting" : "")"
    case .requestAlerts(let peer, let alerts): return "alerts \(alerts.rawValue) \(peer.index)"
    case .requireNotifications(let peer): return "require notifications \(peer.index)"
    case .cancelConnection(let peer): return "cancel \(peer.index)"
    case .registerForConnectionEvents(let filter):
      return "register \(filter.map { "\($0.peers.count) peers, \($0.services)" } ?? "nil")"
    case .observeLinks: return "observe links"
    case .changeLink(let peer, let request): return "change link \(peer.index) \(request.kind)"
    case .synchronize(let number, _): return "synchronize \(number)"
    case .endSynchronization(let number): return "end synchronization \(number)"
    case .readRSSI: return "read RSSI"
    case .discoverServices(_, let uuids): return "discover services \(uuids?.description ?? "all")"
    case .discoverIncludedServices(_, _, let uuids): return "discover included \(uuids?.description ?? "all")"
    case .discoverCharacteristics(_, _, let uuids): return "discover characteristics \(uuids?.description ?? "all")"
    case .discoverDescriptors: return "discover descriptors"
    case .read(_, let id): return "read \(id.handle)"
    case .write(_, let id, let value): return "write \(id.handle) \(value)"
    case .writeWithoutResponse(_, let id, let value): return "command \(id.handle) \(value)"
    case .signedWriteWithoutResponse(_, let id, let value): return "signed command \(id.handle) \(value)"
    case .setNotify(_, let id, let on): return "notify \(id.handle) \(on)"
    case .openChannel(_, let psm): return "open channel \(psm)"
    case .barrier: return "barrier"
    case .askForPower: return "ask for power"
    }
  }
}
