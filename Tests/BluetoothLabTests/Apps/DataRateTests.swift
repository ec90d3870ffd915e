import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The data rate of links that a policy sets (`linkDataRate`).
@Suite("Data rate of a policy")
struct DataRateTests {
  private static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0D101")
  private static let value = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0D102")

  /// Values of 20 octets with numbers, for both directions.
  private struct Numbers {
    var next: UInt32 = 0
    var received: [UInt32] = []

    func octets() -> Data { withUnsafeBytes(of: next.littleEndian) { Data($0) } + Data(count: 16) }

    mutating func receive(_ data: Data?) {
      guard let data, data.count == 20 else { return }
      received.append(data.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
  }

  /// Notifies as much as the queue takes, and records what is written.
  private final class Server: NSObject, CBPeripheralManagerDelegate {
    private(set) var numbers = Numbers()
    var sends = false
    let value = CBMutableCharacteristic(
      type: DataRateTests.value, properties: [.writeWithoutResponse, .notify], value: nil, permissions: .writeable)
    private var manager: CBPeripheralManager?

    init(on device: Device) {
      super.init()
      manager = CBPeripheralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
    }

    func fill() {
      while sends, manager?.updateValue(numbers.octets(), for: value, onSubscribedCentrals: nil) == true {
        numbers.next += 1
      }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
      guard peripheral.state == .poweredOn else { return }
      let service = CBMutableService(type: DataRateTests.service, primary: true)
      service.characteristics = [value]
      peripheral.add(service)
      peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [DataRateTests.service]])
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { fill() }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
      for request in requests { numbers.receive(request.value) }
    }
  }

  /// Writes as much as the credits allow, and records the notifications.
  private final class Client: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var numbers = Numbers()
    private(set) var isReady = false
    var sends = false
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var value: CBCharacteristic?

    init(on device: Device) {
      super.init()
      manager = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
    }

    func fill() {
      guard let peripheral, let value else { return }
      while sends, peripheral.canSendWriteWithoutResponse {
        peripheral.writeValue(numbers.octets(), for: value, type: .withoutResponse)
        numbers.next += 1
      }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      if central.state == .poweredOn { central.scanForPeripherals(withServices: [DataRateTests.service]) }
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
      peripheral.discoverServices([DataRateTests.service])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
      for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
      _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
      value = service.characteristics?.first
      if let value { peripheral.setNotifyValue(true, for: value) }
    }

    func peripheral(
      _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) { isReady = characteristic.isNotifying }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    { numbers.receive(characteristic.value) }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { fill() }
  }

  /// A client and a server on two devices, of which one follows a policy.
  private struct Scene {
    let world = World(seed: 167)
    let client: Client
    let server: Server

    init(central: PlatformPolicy = .macos, peripheral: PlatformPolicy = .macos) throws {
      var options = DeviceOptions()
      options.policy = central
      let phone = world.makeDevice(named: "phone", options)
      options.policy = peripheral
      options.position = Position(x: 1)
      server = Server(on: world.makeDevice(named: "sensor", options))
      client = Client(on: phone)
      let client = client
      try world.expect("the client has subscribed") { client.isReady }
    }

    /// The numbers of octets that both sides have received in a second, averaged over `seconds` after the first one.
    func rates(over seconds: Int) -> (notified: Int, written: Int) {
      client.fill()
      server.fill()
      world.run(for: .seconds(1))
      let before = (client.numbers.received.count, server.numbers.received.count)
      world.run(for: .seconds(seconds))
      return (
        20 * (client.numbers.received.count - before.0) / seconds,
        20 * (server.numbers.received.count - before.1) / seconds
      )
    }

    /// Expects that both sides have received all numbers that the other one has sent, in order.
    func expectAll() {
      client.sends = false
      server.sends = false
      world.run(for: .seconds(5))
      #expect(client.numbers.received == Array(0..<server.numbers.next))
      #expect(server.numbers.received == Array(0..<client.numbers.next))
    }
  }

  @Test(
    "L167 A link of iOS carries 10 kB of values in a second, in each direction, and loses and reorders none",
    .requirement("L167"))
  func bothDirections() throws {
    for scene in [try Scene(central: .ios), try Scene(peripheral: .ios)] {
      (scene.client.sends, scene.server.sends) = (true, true)
      let rates = scene.rates(over: 4)
      // 300 octets in each connection event of 30 ms: the rate is exact but for what is sent in two events.
      #expect(abs(rates.notified - 10_000) <= 150 && abs(rates.written - 10_000) <= 150, "\(rates)")
      scene.expectAll()
    }
  }

  @Test("One direction of a link of iOS carries 10 kB in a second while the other one is idle")
  func oneDirection() throws {
    for (writes, notifies) in [(true, false), (false, true)] {
      let scene = try Scene(central: .ios)
      (scene.client.sends, scene.server.sends) = (writes, notifies)
      let rates = scene.rates(over: 4)
      #expect(abs(rates.notified - (notifies ? 10_000 : 0)) <= 150, "\(rates)")
      #expect(abs(rates.written - (writes ? 10_000 : 0)) <= 150, "\(rates)")
      scene.expectAll()
    }
  }

  @Test("The link of a policy without a rate carries several times as much")
  func unlimited() throws {
    let scene = try Scene(central: .iosInTheField)
    (scene.client.sends, scene.server.sends) = (true, true)
    let rates = scene.rates(over: 2)
    #expect(rates.notified > 25_000 && rates.written > 25_000, "\(rates)")
    scene.expectAll()
  }

  @Test("A held peer repeats one packet for each connection event, and the statistics of both sides agree")
  func counters() throws {
    let scene = try Scene(central: .ios)
    scene.server.sends = true
    _ = scene.rates(over: 4)
    scene.expectAll()
    let statistics = scene.world.statistics
    let phone = try #require(statistics["phone"]?.links.first)
    let sensor = try #require(statistics["sensor"]?.links.first)
    #expect(phone.received.octets == sensor.sent.octets && phone.sent.octets == sensor.received.octets)
    // About 5 s of connection events of 30 ms.
    #expect(sensor.retransmissions > 140 && sensor.retransmissions <= 180, "\(sensor.retransmissions)")
  }
}
