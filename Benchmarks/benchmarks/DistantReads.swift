import BluetoothAdapters
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import CoreBluetooth
import Dispatch
import NIOPosix

/// Reads of a value by a host whose controller is connected over TCP and answers at once (see `CannedController`).
enum DistantReads {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("distant reads", { try measure(.session, divisor: $0) }),
    ("distant reads by the API", { try measure(.api, divisor: $0) }),
  ]

  /// The client that reads.
  enum Reader: String, CaseIterable {
    /// A client of the daemon, on the adapter's own thread.
    case session
    /// An app with a separate queue.
    case api
    /// A client of the daemon by a server on a Unix socket, as in another process: the daemon and the server share a
    /// thread, as in btserver, and the client has another one.
    case served
  }

  private static func measure(_ reader: Reader, divisor: Int) throws -> Measurement {
    let count = 100_000 / divisor
    let app = try DistantApp(reader)
    app.read(1_000)
    let time = bestTime(of: 5) { app.read(count) }
    let allocated = allocations { app.read(count) }
    let perRead = WholeStack.perOperation(allocated, count)
    return Measurement(
      name: "reads per second over TCP, " + (reader == .session ? "host and service" : "with the API"),
      result: "\(Int(Double(count) / time).grouped), \(perRead) allocations", aim: reader == .session ? "10,000" : "—",
      method: "\(count.grouped) reads of 20 octets, each begun in the callback of the one before, of a controller on"
        + " another thread that answers at once; best of 5")
  }
}

/// An app, its adapter, and the controller to which the adapter is connected.
final class DistantApp {
  private let controller: CannedController
  private let adapter: TransportAdapter
  private let reader: any DistantReader
  private var server: AdapterServer?

  init(_ kind: DistantReads.Reader) throws {
    controller = try CannedController()
    controller.start()
    let configuration = DaemonConfiguration(name: "distant", host: HostConfiguration(deviceName: "distant"))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    adapter = TransportAdapter(
      configuration, to: .tcp(host: "127.0.0.1", port: controller.port), on: group.next())
    switch kind {
    case .session: reader = SessionReader(adapter)
    case .api: reader = APIReader(adapter)
    case .served:
      let server = try AdapterServer(adapter, on: group)
      reader = SessionReader(server.makeClient(on: MultiThreadedEventLoopGroup(numberOfThreads: 1).next()))
      self.server = server
    }
    reader.done.wait()
  }

  /// Performs `count` reads and waits for their end.
  func read(_ count: Int) {
    reader.read(count)
    reader.done.wait()
  }
}

private protocol DistantReader {
  /// Signalled when the value is available, and when all reads have ended.
  var done: DispatchSemaphore { get }
  func read(_ count: Int)
}

/// A client of the daemon that reads, without the API's classes. Confined to the adapter's thread except for `read`,
/// which is called while that thread is idle.
private final class SessionReader: DistantReader, CentralClient, @unchecked Sendable {
  let done = DispatchSemaphore(value: 0)
  private let adapter: any DaemonAdapter
  private var session: CentralSession?
  private var value: (peer: PeerHandle, attribute: RemoteAttributeID)?
  private var left = 0

  init(_ adapter: any DaemonAdapter) {
    self.adapter = adapter
    session = adapter.openCentralSession(for: self)
  }

  func read(_ count: Int) {
    left = count
    sendRead()
  }

  private func sendRead() {
    if let value { session?.send(.read(value.peer, value.attribute)) }
  }

  func receive(_ event: CentralEvent) {
    switch event {
    case .stateChanged(.poweredOn):
      session?.send(
        .scan(ScanRequest(services: [CannedController.service], solicitedServices: [], allowsDuplicates: false)))
    case .discovered(let discovery):
      session?.send(.stopScan)
      session?.send(.connect(discovery.peer.handle, delay: .zero, reconnects: false))
    case .connected(let peer, _): session?.send(.discoverServices(peer, [CannedController.service]))
    case .servicesDiscovered(let peer, .success(let services)):
      if let service = services.first { session?.send(.discoverCharacteristics(peer, service.id, nil)) }
    case .characteristicsDiscovered(let peer, _, .success(let characteristics)):
      guard let characteristic = characteristics.first else { return }
      value = (peer, characteristic.id)
      done.signal()
    case .valueRead(_, _, .success):
      left -= 1
      if left > 0 { sendRead() } else { done.signal() }
    default: break
    }
  }
}

/// Lets a manager use an adapter without a specifier.
private final class DistantDevice: AdapterSource {
  let adapter: any DaemonAdapter
  init(_ adapter: any DaemonAdapter) { self.adapter = adapter }
}

/// An app that reads, with callbacks on a dispatch queue.
private final class APIReader: NSObject, DistantReader, CBCentralManagerDelegate, CBPeripheralDelegate,
  @unchecked Sendable
{
  let done = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "reader")
  private var manager: CBCentralManager?
  private var peripheral: CBPeripheral?
  private var characteristic: CBCharacteristic?
  private var left = 0

  init(_ adapter: TransportAdapter) {
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: queue, options: [CBManagerOptionAdapterKey: DistantDevice(adapter)])
  }

  func read(_ count: Int) {
    queue.async { [self] in
      left = count
      if let characteristic { peripheral?.readValue(for: characteristic) }
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([CBUUID(string: "180D")])
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    characteristic = service.characteristics?.first
    done.signal()
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    left -= 1
    if left > 0 { peripheral.readValue(for: characteristic) } else { done.signal() }
  }
}
