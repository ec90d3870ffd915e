import BluetoothLab
import CoreBluetooth
import Testing

/// A suspended app does nothing: its channels, commands and sleeps wait, as its events do, until it runs again.
@Suite("Suspension")
struct SuspensionTests {
  /// A phone with an app, and a sensor with a channel and a value.
  private final class Stage {
    let world = World(seed: 35)
    let app: SimulatedApp<ChannelReader>
    let sensor: TestPeripheral
    let value: CBMutableCharacteristic
    private(set) var channel: CBL2CAPChannel!

    init(_ policy: PlatformPolicy = .ios, modes: Set<AppManifest.BackgroundMode> = [.central]) throws {
      var options = DeviceOptions()
      options.policy = policy
      let (world, phone) = (world, world.makeDevice(named: "phone", options))
      sensor = TestPeripheral(on: world.makeDevice(named: "sensor", at: Position(x: 1)))
      try sensor.powerOn()
      let psm = try sensor.publishChannel()
      value = CBMutableCharacteristic(
        type: ChannelReader.value, properties: [.notify, .write, .writeWithoutResponse], value: nil,
        permissions: [.writeable])
      let service = CBMutableService(type: ChannelReader.service, primary: true)
      service.characteristics = [value]
      try sensor.add(service)
      try sensor.advertise("Sensor", services: [ChannelReader.service.uuidString])
      app = phone.app(named: "com.example.reader", manifest: .described(modes)) { _ in
        ChannelReader(psm, in: world)
      }
      app.launch()
      let (app, sensor) = (app, sensor)
      try world.expect("the app has a channel and a subscription") {
        app.root?.channel != nil && app.root?.events.last == "subscribed" && !sensor.recorder.channels.isEmpty
      }
      channel = sensor.recorder.channels.last
      channel.inputStream.open()
      channel.outputStream.open()
    }

    func suspend() {
      app.enterBackground()
      run(.seconds(1))
      app.suspend()
      run(.seconds(1))
      #expect(app.state == .suspended)
    }

    func run(_ duration: Duration) { world.run(for: duration) }

    /// Writes octets to the sensor's channel, and returns the number of octets that the channel has taken.
    func write(_ octets: [UInt8]) -> Int { max(0, channel.outputStream.write(octets, maxLength: octets.count)) }

    /// The values that the sensor has got.
    var writes: [[UInt8]] {
      sensor.events.compactMap { if case .writeRequested(_, let value, _) = $0 { value } else { nil } }
    }

    /// The octets that the sensor has received on its channel.
    func received() -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
      return Array(buffer.prefix(max(0, count)))
    }
  }

  @Test("Octets of a channel wait while the app is suspended, and come before the event that runs it")
  func octets() throws {
    let stage = try Stage()
    let root = try #require(stage.app.root)
    stage.suspend()
    let before = root.events.count
    #expect(stage.write([1, 2, 3]) == 3)
    stage.run(.seconds(30))
    #expect(stage.app.state == .suspended)
    #expect(root.events.count == before)
    #expect(root.channel?.inputStream.hasBytesAvailable == false)
    #expect(root.channel?.outputStream.hasSpaceAvailable == false)
    #expect(root.write([9]) == 0)
    stage.run(.seconds(1))
    #expect(stage.received() == [])
    let start = stage.world.now
    #expect(stage.sensor.update([7], for: stage.value))
    #expect(stage.world.run(until: { root.events.last == "value 7" }, limit: .seconds(1)))
    #expect(root.events.suffix(from: before) == ["octets 1 2 3", "value 7"])
    #expect(Set(root.times.suffix(from: before)) == [stage.world.now])
    #expect(stage.world.now - start < .milliseconds(100))
    #expect(root.write([9]) == 1)
    stage.run(.seconds(1))
    #expect(stage.received() == [9])
    // The event runs the app for 10 s, in which further octets arrive at once.
    #expect(stage.write([4]) == 1)
    stage.run(.seconds(1))
    #expect(root.events.last == "octets 4")
    stage.run(.seconds(9))
    #expect(stage.app.state == .suspended)
  }

  @Test("The peer of a suspended app gets no credits back, so the octets that wait are bounded, and none is lost")
  func bounds() throws {
    let stage = try Stage()
    let root = try #require(stage.app.root)
    stage.suspend()
    var sent = 0
    func fill(_ duration: Duration) {
      let end = stage.world.now + duration
      while stage.world.now < end {
        sent += stage.write([UInt8](repeating: UInt8(sent % 251), count: 512))
        stage.run(.milliseconds(50))
      }
    }
    fill(.seconds(20))
    let bound = sent
    // The credits of 32 PDUs of at most 247 octets, and the sensor's own buffer of 16,384 octets.
    #expect(bound <= 32 * 2_048 + 16_384)
    fill(.seconds(60))
    #expect(sent == bound)
    #expect(root.octetCount == 0)
    stage.app.enterForeground()
    #expect(stage.world.run(until: { root.octetCount == bound }, limit: .seconds(30)))
  }

  @Test("A suspended app that serves a channel hears of its octets with the request that runs it")
  func servedChannel() throws {
    let world = World(seed: 36)
    var options = DeviceOptions()
    options.policy = .ios
    let phone = world.makeDevice(named: "phone", options)
    let app = phone.app(named: "com.example.server", manifest: .described([.peripheral])) { _ in ChannelServer() }
    let central = TestCentral(on: world.makeDevice(named: "tablet", at: Position(x: 1)))
    app.launch()
    let peripheral = try central.connect(to: .service(ChannelReader.service))
    let root = try #require(app.root)
    try central.discoverAttributes(of: peripheral)
    let channel = try central.openChannel(root.psm, to: peripheral)
    channel.outputStream.open()
    app.enterBackground()
    world.run(for: .seconds(1))
    app.suspend()
    world.run(for: .seconds(1))
    let before = root.events.count
    #expect(channel.outputStream.write([5, 6], maxLength: 2) == 2)
    world.run(for: .seconds(30))
    #expect(app.state == .suspended)
    #expect(root.events.count == before)
    #expect(try central.read(ChannelReader.value.uuidString, of: peripheral) == [1])
    #expect(root.events.suffix(from: before) == ["octets 5 6", "read"])
  }

  @Test("A suspended app learns of the end of its channel when it runs, before it learns of the end of the link")
  func endOfChannel() throws {
    let stage = try Stage(modes: [])
    let root = try #require(stage.app.root)
    stage.suspend()
    let before = root.events.count
    stage.sensor.device.move(to: Position(x: 5_000))
    stage.run(.seconds(10))
    #expect(root.events.count == before)
    #expect(root.channel?.inputStream.streamStatus == .open)
    stage.app.enterForeground()
    stage.run(.milliseconds(1))
    #expect(root.events.suffix(from: before) == ["failed", "disconnected"])
    #expect(root.channel?.inputStream.streamStatus == .error)
  }

  @Test("With channelsRunApps, octets of a channel run the suspended app for 10 s")
  func runningChannels() throws {
    var policy = PlatformPolicy.ios
    policy.background?.channelsRunApps = true
    let stage = try Stage(policy)
    let root = try #require(stage.app.root)
    stage.suspend()
    let before = root.events.count
    #expect(stage.write([1, 2, 3]) == 3)
    stage.run(.seconds(1))
    #expect(root.events.suffix(from: before) == ["octets 1 2 3"])
    #expect(stage.app.state == .background)
    stage.run(.seconds(10))
    #expect(stage.app.state == .suspended)
  }

  @Test("Commands of a suspended app wait until it runs, and then take effect in their order")
  func commands() throws {
    let stage = try Stage()
    let root = try #require(stage.app.root)
    stage.suspend()
    root.send(1)
    root.send(2)
    stage.run(.seconds(20))
    #expect(stage.writes == [])
    stage.app.enterForeground()
    root.send(3)
    stage.run(.seconds(1))
    #expect(stage.writes == [[1], [2], [3]])
  }

  @Test("Readiness to write without response runs a suspended app of ios, and waits on ios in the field")
  func readiness() throws {
    for (policy, state) in [(PlatformPolicy.ios, AppRunState.background), (.iosInTheField, .suspended)] {
      let stage = try Stage(policy)
      let root = try #require(stage.app.root)
      stage.app.enterBackground()
      stage.run(.seconds(1))
      root.fill()
      stage.app.suspend()
      stage.run(.seconds(3))
      #expect(stage.app.state == state)
      #expect(root.events.contains("ready") == (state == .background))
      stage.app.enterForeground()
      stage.run(.milliseconds(1))
      #expect(root.events.count { $0 == "ready" } == 1)
    }
  }

  @Test("An app that gives commands without end while it is suspended has 1,024 of them")
  func tooManyCommands() throws {
    let stage = try Stage()
    let root = try #require(stage.app.root)
    stage.suspend()
    for number in 0..<1_100 { root.send(UInt8(number % 256)) }
    stage.run(.seconds(1))
    stage.app.enterForeground()
    stage.run(.seconds(120))
    #expect(stage.writes.count == 1_024)
    #expect(stage.writes.last == [UInt8(1_023 % 256)])
  }
}

/// An app that opens a channel and subscribes, and records what happens with its time.
private final class ChannelReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, StreamDelegate {
  static let service = CBUUID(string: "FFE0")
  static let value = CBUUID(string: "FFE1")

  private let psm: CBL2CAPPSM
  private let world: World
  private var manager: CBCentralManager!
  private var peripheral: CBPeripheral?
  private(set) var channel: CBL2CAPChannel?
  private(set) var events: [String] = []
  private(set) var times: [Duration] = []
  private(set) var octetCount = 0

  init(_ psm: CBL2CAPPSM, in world: World) {
    (self.psm, self.world) = (psm, world)
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  private func note(_ event: String) {
    events.append(event)
    times.append(world.now)
  }

  /// Writes octets to the channel, and returns the number that it has taken.
  func write(_ octets: [UInt8]) -> Int { channel?.outputStream.write(octets, maxLength: octets.count) ?? -1 }

  /// Writes a value to the sensor.
  func send(_ octet: UInt8) {
    guard let value = peripheral?.services?.first?.characteristics?.first else { return }
    peripheral?.writeValue(Data([octet]), for: value, type: .withResponse)
  }

  /// Writes without response as long as there is room.
  func fill() {
    guard let peripheral, let value = peripheral.services?.first?.characteristics?.first else { return }
    while peripheral.canSendWriteWithoutResponse {
      peripheral.writeValue(Data(count: 100), for: value, type: .withoutResponse)
    }
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { note("ready") }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
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
    peripheral.openL2CAPChannel(psm)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) { note("disconnected") }

  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    self.channel = channel
    channel?.inputStream.delegate = self
    channel?.inputStream.schedule(in: .main, forMode: .default)
    channel?.inputStream.open()
    channel?.outputStream.open()
    peripheral.discoverServices([Self.service])
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) { for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) } }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("subscribed") }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    note("value \(characteristic.value?.first ?? 0)")
  }

  func stream(_ stream: Stream, handle event: Stream.Event) {
    if event == .errorOccurred { note("failed") }
    guard event == .hasBytesAvailable, let octets = stream.octets() else { return }
    octetCount += octets.count
    if octets.count <= 4 { note("octets " + octets.map { "\($0)" }.joined(separator: " ")) }
  }
}

extension Stream {
  /// Reads the octets that are there; nil: this is no input stream.
  fileprivate func octets() -> [UInt8]? {
    guard let input = self as? InputStream else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = input.read(&buffer, maxLength: buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }
}

/// An app that serves a channel and a value.
private final class ChannelServer: NSObject, CBPeripheralManagerDelegate, StreamDelegate {
  private var manager: CBPeripheralManager!
  private var channel: CBL2CAPChannel?
  private(set) var psm: CBL2CAPPSM = 0
  private(set) var events: [String] = []

  override init() {
    super.init()
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    let value = CBMutableCharacteristic(
      type: ChannelReader.value, properties: [.read], value: nil, permissions: [.readable])
    let service = CBMutableService(type: ChannelReader.service, primary: true)
    service.characteristics = [value]
    peripheral.add(service)
    peripheral.publishL2CAPChannel(withEncryption: false)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?)
  {
    self.psm = psm
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [ChannelReader.service]])
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    self.channel = channel
    channel?.inputStream.delegate = self
    channel?.inputStream.schedule(in: .main, forMode: .default)
    channel?.inputStream.open()
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    events.append("read")
    request.value = Data([1])
    peripheral.respond(to: request, withResult: .success)
  }

  func stream(_ stream: Stream, handle event: Stream.Event) {
    guard event == .hasBytesAvailable, let octets = stream.octets() else { return }
    events.append("octets " + octets.map { "\($0)" }.joined(separator: " "))
  }
}
