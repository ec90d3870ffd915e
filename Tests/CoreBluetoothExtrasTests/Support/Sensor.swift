import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras

/// A peripheral with a readable, writable and notified value, a characteristic that rejects requests, and an L2CAP
/// channel that sends back what it receives. It publishes itself whenever Bluetooth is turned on. Unchecked, because
/// only the thread that runs the world uses it.
final class Sensor: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
  static let service = CBUUID(string: "FF00")
  static let value = CBUUID(string: "FF01")
  static let rejecting = CBUUID(string: "FF02")
  static let empty = CBUUID(string: "FF10")

  let device: Device
  private let manager: CBPeripheralManager
  private var published: CBMutableService?
  private(set) var level: CBMutableCharacteristic?
  /// The value that reads get, and that writes replace.
  var stored = Data([1])
  private(set) var psm: CBL2CAPPSM?
  /// Reads, writes, subscriptions in their order.
  private(set) var events: [String] = []
  /// The values that each new subscriber gets.
  var greetings: [Data] = [Data([10]), Data([11])]
  /// False: reads get no response.
  var answersReads = true
  private(set) var unanswered: [CBATTRequest] = []
  var echoes = true
  private var channels: [CBL2CAPChannel] = []
  private(set) var received = 0

  init(on device: Device) {
    self.device = device
    manager = CBPeripheralManager(
      delegate: nil, queue: DispatchQueue(label: "sensor"), options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    psm = nil
    channels = []
    guard peripheral.state == .poweredOn else { return }
    let level = CBMutableCharacteristic(
      type: Self.value, properties: [.read, .write, .writeWithoutResponse, .notify], value: nil,
      permissions: [.readable, .writeable])
    level.descriptors = [
      CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Level")
    ]
    let rejecting = CBMutableCharacteristic(
      type: Self.rejecting, properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [level, rejecting]
    (self.level, published) = (level, service)
    manager.add(CBMutableService(type: Self.empty, primary: true))
    manager.add(service)
    manager.publishL2CAPChannel(withEncryption: false)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    guard service.uuid == Self.service else { return }
    manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)
  {
    self.psm = psm
  }

  func removeService() {
    if let published { manager.remove(published) }
  }

  func update(_ value: Data) {
    guard let level else { return }
    _ = manager.updateValue(value, for: level, onSubscribedCentrals: nil)
  }

  // MARK: Requests

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard request.characteristic.uuid == Self.value else {
      return manager.respond(to: request, withResult: .readNotPermitted)
    }
    events.append("read")
    guard answersReads else { return unanswered.append(request) }
    request.value = stored
    manager.respond(to: request, withResult: .success)
  }

  /// Responds to the oldest read without a response.
  func answerRead() {
    guard !unanswered.isEmpty else { return }
    let request = unanswered.removeFirst()
    request.value = stored
    manager.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    for request in requests {
      guard request.characteristic.uuid == Self.value else {
        return manager.respond(to: request, withResult: .insufficientResources)
      }
      stored = request.value ?? Data()
      events.append("write \(stored.map(String.init).joined(separator: " "))")
    }
    if let first = requests.first { manager.respond(to: first, withResult: .success) }
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    events.append("subscribed")
    for greeting in greetings { update(greeting) }
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    events.append("unsubscribed")
  }

  // MARK: Channels

  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    guard let channel else { return }
    channels.append(channel)
    channel.inputStream.open()
    channel.outputStream.open()
    let id = ObjectIdentifier(channel)
    channel.setObserver { [weak self] in
      if let channel = self?.channels.first(where: { ObjectIdentifier($0) == id }) { self?.echo(channel) }
    }
  }

  func closeChannels() {
    for channel in channels {
      channel.inputStream.close()
      channel.outputStream.close()
    }
    channels = []
  }

  /// Sends received octets back, as many as there is room for.
  private func echo(_ channel: CBL2CAPChannel) {
    while echoes, channel.outputStream.hasSpaceAvailable, channel.inputStream.hasBytesAvailable {
      var buffer = [UInt8](repeating: 0, count: 200)
      let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { return }
      received += count
      // The send buffer has room for at least one octet; the test keeps less in flight than its capacity.
      _ = channel.outputStream.write(buffer, maxLength: count)
    }
  }
}

/// A phone with a central, two metres from a sensor.
struct Meeting {
  let world: World
  let stage: AppStage
  let sensor: Sensor
  let phone: Device
  let central: Central

  init(seed: UInt64 = 1) {
    let world = World(seed: seed)
    self.init(world: world, sensor: world.makeDevice(named: "sensor"))
  }

  init(world: World, sensor device: Device) {
    self.world = world
    stage = AppStage(world)
    sensor = Sensor(on: device)
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    central = Central(adapter: phone)
  }

  /// Returns the discovered sensor.
  func discover() throws -> Peripheral {
    try stage.perform { [central] in
      try await central.waitUntilPoweredOn()
      let discovery = try await central.scan(for: [Sensor.service]).first { _ in true }
      return try discovery.orThrow().peripheral
    }
  }

  /// Returns the connected sensor.
  func connect() throws -> Peripheral {
    let peripheral = try discover()
    try stage.perform { try await peripheral.connect() }
    return peripheral
  }

  /// Returns a characteristic of the sensor, connected and discovered.
  func characteristic(_ uuid: CBUUID = Sensor.value) throws -> RemoteCharacteristic {
    let peripheral = try connect()
    return try stage.perform { try await peripheral.characteristic(uuid) }
  }
}

extension Peripheral {
  /// Discovers a characteristic of the sensor's service.
  func characteristic(_ uuid: CBUUID = Sensor.value) async throws -> RemoteCharacteristic {
    let service = try await discoverServices([Sensor.service]).first.orThrow()
    return try await service.discoverCharacteristics([uuid]).first.orThrow()
  }
}
