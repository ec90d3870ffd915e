import BluetoothLab
import CoreBluetooth
import Testing

/// A world with a phone and a sensor, 2 m apart, whose apps record their events.
final class TwoDeviceFixture {
  let world: World
  let phone: Device
  let sensor: Device
  let queue = DispatchQueue(label: "apps")
  let app = CentralApp()
  let accessory = PeripheralApp()
  var central: CBCentralManager!
  var peripheralManager: CBPeripheralManager!
  /// The sensor's only value, which requests read and write.
  var stored = Data("hello".utf8)

  static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001")

  let value = CBMutableCharacteristic(
    type: CBUUID(string: "FFF1"), properties: [.read, .write, .writeWithoutResponse, .notify], value: nil,
    permissions: [.readable, .writeable])
  let localService = CBMutableService(type: TwoDeviceFixture.service, primary: true)

  /// - Parameters:
  ///   - phone: The answers of the phone's user to pairing prompts; nil: yes.
  ///   - sensor: The same for the sensor's user.
  ///   - phoneOptions: Further properties of the phone.
  ///   - bonds: The folder for the bonds of both; nil: bonds are not stored.
  ///   - isPrivate: True if the sensor uses private addresses.
  ///   - generation: The generation of the sensor's chip.
  init(
    phone phoneUser: ScriptedPrompts? = nil, sensor sensorUser: ScriptedPrompts? = nil, bonds: String? = nil,
    isPrivate: Bool = false, seed: UInt64 = 7, phoneOptions: DeviceOptions = DeviceOptions(),
    generation: DeviceOptions.Generation = .bluetooth54
  ) {
    world = World(seed: seed)
    var far = phoneOptions
    far.position = Position(x: 2)
    phone = world.makeDevice(named: "phone", far, prompts: phoneUser, bondFolder: bonds)
    var near = DeviceOptions()
    near.usesPrivateAddresses = isPrivate
    near.generation = generation
    sensor = world.makeDevice(named: "sensor", near, prompts: sensorUser, bondFolder: bonds)
    localService.characteristics = [value]
    central = CBCentralManager(delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: phone])
    peripheralManager = CBPeripheralManager(
      delegate: accessory, queue: queue, options: [CBManagerOptionAdapterKey: sensor])
    accessory.onRequests = { [unowned self] in answer($0) }
    world.run(until: { self.central.state == .poweredOn && self.peripheralManager.state == .poweredOn })
    _ = app.take()
    _ = accessory.take()
  }

  private func answer(_ requests: [CBATTRequest]) {
    for request in requests {
      if let written = request.value {
        stored = stored.prefix(request.offset) + written
      } else {
        guard request.offset <= stored.count else {
          return peripheralManager.respond(to: request, withResult: .invalidOffset)
        }
        request.value = stored.dropFirst(request.offset)
      }
    }
    peripheralManager.respond(to: requests[0], withResult: .success)
  }

  /// Runs until the phone's app gets `event`, and discards the events so far.
  func expect(_ event: String, location: SourceLocation = #_sourceLocation) {
    let came = world.run(until: { self.app.events.contains { $0.hasPrefix(event) } }, limit: .seconds(30))
    #expect(came, "\(event) did not come, but \(app.events)", sourceLocation: location)
    _ = app.take()
  }

  /// Runs until the sensor's app gets `event`.
  func expectOfAccessory(_ event: String, location: SourceLocation = #_sourceLocation) {
    let came = world.run(until: { self.accessory.events.contains { $0.hasPrefix(event) } }, limit: .seconds(30))
    #expect(came, "\(event) did not come, but \(accessory.events)", sourceLocation: location)
  }

  func add(_ services: [CBMutableService]) {
    for service in services { peripheralManager.add(service) }
    let added = accessory.events.count + services.count
    world.run(until: { self.accessory.events.count == added })
  }

  func advertise(_ data: [String: Any]? = [CBAdvertisementDataServiceUUIDsKey: [TwoDeviceFixture.service]]) {
    peripheralManager.startAdvertising(data)
    expectOfAccessory("advertising true")
  }

  /// Publishes, advertises and scans. Returns the discovered peripheral.
  func discover() -> CBPeripheral {
    add([localService])
    advertise()
    central.scanForPeripherals(withServices: [TwoDeviceFixture.service])
    expect("found")
    central.stopScan()
    let peripheral = app.found[0]
    app.found = []
    peripheral.delegate = app
    return peripheral
  }

  func connect() -> CBPeripheral {
    let peripheral = discover()
    central.connect(peripheral)
    expect("connected")
    // By then the daemon has read the sensor's name and exchanged the MTU.
    world.run(for: .seconds(1))
    _ = app.take()
    return peripheral
  }

  /// Connects and discovers the only characteristic.
  func ready() -> (peripheral: CBPeripheral, characteristic: CBCharacteristic) {
    let peripheral = connect()
    peripheral.discoverServices([TwoDeviceFixture.service])
    expect("services")
    peripheral.discoverCharacteristics(nil, for: peripheral.services![0])
    expect("characteristics")
    return (peripheral, peripheral.services![0].characteristics![0])
  }
}
