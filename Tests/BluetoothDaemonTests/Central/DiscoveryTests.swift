import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Discovering devices")
struct DiscoveryTests {
  let air: DaemonNetwork
  let sensor: Sensor
  let phone: Phone

  init() { (air, sensor, phone) = DaemonNetwork.withSensorAndPhone() }

  func scan(_ services: [BluetoothUUID]?, allowsDuplicates: Bool = false) -> [CentralEvent] {
    phone.send(
      .scan(ScanRequest(services: services, solicitedServices: [], allowsDuplicates: allowsDuplicates)))
  }

  /// A name that fits into the scan response only.
  let name = "Thermostat"
  let services: [BluetoothUUID] = [BluetoothUUID(high: 1, low: 2), 0x180D]

  @Test("2.3, 2.4 A peer is reported once, with its scan response merged in", .requirement("A080"))
  func merged() {
    sensor.advertise(name, services)
    _ = scan(nil)
    air.advance(5)
    let discoveries = phone.recorder.take().compactMap(\.discovery)
    #expect(discoveries.map(\.localName) == ["Thermostat"])
    #expect(discoveries.map(\.services) == [[0x180D, services[0]]])
    #expect(discoveries.map(\.rssi) == [-60], "the advertisement's")
  }

  private let stranger = DeviceAddress(0xC000_0000_0099, .random)

  @Test("2.4 Without a scan response a scannable peer is reported 20 ms after its advertisement")
  func noScanResponse() {
    _ = scan(nil)
    air.hear(1, from: stranger)
    #expect(phone.takeEvents() == [])
    air.pass(.milliseconds(19))
    #expect(phone.takeEvents() == [])
    air.pass(.milliseconds(1))
    #expect(phone.takeEvents() == ["discovered 0"])
    air.pass(.milliseconds(100))
    air.hear(1, from: stranger, .scanResponse, [2, 0x09, 0x41])
    #expect(phone.takeEvents() == ["discovered 0 A"], "it adds something, however late")
  }

  @Test("2.4 The next advertisement ends the wait for a scan response and is handled separately")
  func nextAdvertisement() {
    _ = scan(nil, allowsDuplicates: true)
    air.hear(1, from: stranger, rssi: -70)
    air.pass(.milliseconds(10))
    air.hear(1, from: stranger, rssi: -71)
    #expect(phone.recorder.take().compactMap(\.discovery).map(\.rssi) == [-70, -71])
    air.hear(1, from: stranger, rssi: -72)
    #expect(phone.recorder.take().compactMap(\.discovery).map(\.rssi) == [-72], "only the first one waits")
    air.pass(.milliseconds(100))
    #expect(phone.takeEvents() == [])
  }

  @Test(
    "2.4 Peers that are not scannable are reported at once",
    arguments: [HCI.AdvertisingReport.EventType.connectableDirected, .nonConnectable])
  func notScannable(_ type: HCI.AdvertisingReport.EventType) {
    _ = scan(nil)
    air.hear(1, from: stranger, type)
    #expect(phone.takeEvents() == ["discovered 0"])
  }

  @Test("2.4 Peers that wait for their scan responses are reported in the order of their advertisements")
  func severalWait() {
    _ = scan(nil)
    let others = (1...3).map { DeviceAddress(0xC000_0000_0100 + $0, .random) }
    for address in others {
      air.hear(1, from: address)
      air.pass(.milliseconds(5))
    }
    air.hear(1, from: others[1], .scanResponse, [2, 0x09, 0x42])
    #expect(phone.takeEvents() == ["discovered 0 B"])
    air.pass(.milliseconds(30))
    #expect(phone.takeEvents() == ["discovered 1", "discovered 2"])
  }

  @Test("2.2 An advertisement that is still waiting when its scan ends is not reported")
  func scanEnds() {
    _ = scan(nil)
    air.hear(1, from: stranger)
    phone.send(.stopScan)
    air.pass(.milliseconds(100))
    #expect(phone.takeEvents() == [])
  }

  @Test("2.3 With duplicates allowed every packet is reported", .requirement("L018"))
  func duplicates() {
    sensor.advertise()
    _ = scan(nil, allowsDuplicates: true)
    air.advance(3)
    #expect(phone.takeEvents().count == 6)
  }

  @Test("2.1 A scan for services omits peers without them")
  func filter() {
    sensor.advertise(nil, [0x180D])
    _ = scan([0x1816])
    air.advance(2)
    #expect(phone.takeEvents() == [])
    _ = scan([0x1816, 0x180D])
    air.advance()
    #expect(phone.takeEvents() == ["discovered 0 [180D]"])
  }

  @Test("2.2 A second scan starts from scratch; stopping ends it", .requirement("L019"))
  func again() {
    sensor.advertise()
    _ = scan(nil)
    air.advance()
    #expect(phone.takeEvents() == ["discovered 0 [180D]"])
    _ = scan(nil)
    air.advance()
    #expect(phone.takeEvents() == ["discovered 0 [180D]"])
    phone.send(.stopScan)
    #expect(!air.devices[1].controller.isScanning)
  }

  @Test("2.2 A scan goes on for an hour, until stopScan", .requirement("L019"))
  func untilStopped() {
    _ = scan(nil)
    air.advance(36_000)
    sensor.advertise(nil, [0x180D])
    air.advance()
    #expect(phone.takeEvents() == ["discovered 0 [180D]"])
    phone.send(.stopScan)
    sensor.send(.stopAdvertising)
    sensor.advertise(nil, [0x1816])
    air.advance(100)
    #expect(phone.takeEvents() == [])
  }

  @Test("2.3 Changed data are reported again", .requirement("L059"))
  func changed() {
    sensor.advertise(nil, [0x180D])
    _ = scan(nil)
    air.advance()
    sensor.send(.stopAdvertising)
    sensor.advertise(nil, [0x1816])
    air.advance()
    #expect(phone.takeEvents() == ["discovered 0 [180D]", "discovered 0 [1816]"])
  }

  @Test(
    "2.7 Two managers see the same identifier; the controller scans until the last one stops",
    .requirement("L014", "L058"))
  func twoManagers() throws {
    sensor.advertise()
    let other = Phone(air, 1)
    _ = scan(nil)
    other.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    air.advance()
    let first = try #require(phone.recorder.take().lazy.compactMap(\.discovery).first)
    let second = try #require(other.recorder.take().lazy.compactMap(\.discovery).first)
    #expect(first.peer == second.peer)
    phone.send(.stopScan)
    #expect(air.devices[1].controller.isScanning)
    other.session.close()
    air.run()
    #expect(!air.devices[1].controller.isScanning)
  }

  @Test("2.6 The advertised name is cached")
  func cachedName() throws {
    sensor.advertise("Heart")
    let peer = try phone.find()
    #expect(phone.directory.peer(peer)?.name == "Heart")
  }
}
