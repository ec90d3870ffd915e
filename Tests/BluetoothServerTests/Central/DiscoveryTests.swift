import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothServer

@Suite("Finding devices")
struct DiscoveryTests {
  let air = Air()
  let sensor: Sensor
  let phone: Phone

  init() {
    sensor = Sensor(air, air.add("Sensor"))
    phone = Phone(air, air.add("Phone"))
    _ = phone.told()
  }

  func scan(_ services: [BluetoothUUID]?, allowsDuplicates: Bool = false) -> [CentralEvent] {
    phone.send(
      .scan(ScanRequest(services: services, solicitedServices: [], allowsDuplicates: allowsDuplicates)))
  }

  /// A name that only the scan response has room for.
  let name = "Thermostat"
  let services: [BluetoothUUID] = [BluetoothUUID(high: 1, low: 2), 0x180D]

  @Test("2.3, 2.4 A peer is told once, and once more with its scan response merged in")
  func merged() {
    sensor.advertise(name, services)
    _ = scan(nil)
    air.advance(5)
    #expect(
      phone.told() == ["discovered 0 \([0x180D as BluetoothUUID, services[0]])"]
        + ["discovered 0 Thermostat \([0x180D as BluetoothUUID, services[0]])"])
  }

  @Test("2.3 With duplicates every packet is told")
  func duplicates() {
    sensor.advertise()
    _ = scan(nil, allowsDuplicates: true)
    air.advance(3)
    #expect(phone.told().count == 6)
  }

  @Test("2.1 A scan for services leaves out who does not have them")
  func filter() {
    sensor.advertise(nil, [0x180D])
    _ = scan([0x1816])
    air.advance(2)
    #expect(phone.told() == [])
    _ = scan([0x1816, 0x180D])
    air.advance()
    #expect(phone.told() == ["discovered 0 [180D]"])
  }

  @Test("2.2 A second scan begins afresh; stopping ends it")
  func again() {
    sensor.advertise()
    _ = scan(nil)
    air.advance()
    #expect(phone.told() == ["discovered 0 [180D]"])
    _ = scan(nil)
    air.advance()
    #expect(phone.told() == ["discovered 0 [180D]"])
    phone.send(.stopScan)
    #expect(!air.devices[1].controller.isScanning)
  }

  @Test("2.3 Changed data are told again")
  func changed() {
    sensor.advertise(nil, [0x180D])
    _ = scan(nil)
    air.advance()
    sensor.send(.stopAdvertising)
    sensor.advertise(nil, [0x1816])
    air.advance()
    #expect(phone.told() == ["discovered 0 [180D]", "discovered 0 [1816]"])
  }

  @Test("2.7 Two managers see the same identifier; the controller scans until the last one stops")
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

  @Test("2.6 The advertised name is kept")
  func cachedName() throws {
    sensor.advertise("Heart")
    let peer = try phone.find()
    #expect(phone.directory.peer(peer)?.name == "Heart")
  }
}
