import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("State")
struct StateTests {
  let air = DaemonNetwork()

  @Test("1.1 The first event reports the state once it is known", .requirement("G006"))
  func first() {
    let device = air.add("Phone", isOn: false)
    let phone = Phone(air, device)
    let sensor = Sensor(air, device)
    #expect(phone.takeEvents() == [])
    air.setPower(true, of: device)
    #expect(phone.takeEvents() == ["state poweredOn"])
    #expect(sensor.takeEvents() == ["state poweredOn"])
    #expect(Phone(air, device).takeEvents() == ["state poweredOn"])
  }

  @Test("1.1 A controller without LE is unsupported, and stays so")
  func withoutLE() {
    let device = air.add("Phone", isOn: false)
    air.devices[device].controller.hasLE = false
    let phone = Phone(air, device)
    air.setPower(true, of: device)
    #expect(phone.takeEvents() == ["state unsupported"])
    #expect(phone.send(.askForPower).isEmpty)
    #expect(phone.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false))).isEmpty)
    #expect(!air.devices[device].controller.isScanning)
  }

  @Test("1.1 A device that is switched off reports it")
  func off() {
    let device = air.add("Phone", isOn: false)
    air.setPower(false, of: device)
    #expect(Phone(air, device).takeEvents() == ["state poweredOff"])
  }

  @Test("1.3 Commands while the device is off are dropped, but a barrier is reached")
  func dropped() {
    let device = air.add("Phone", isOn: false)
    let phone = Phone(air, device)
    #expect(phone.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false))).isEmpty)
    #expect(phone.send(.barrier(7)).map(\.text) == ["barrier 7"])
    air.setPower(true, of: device)
    #expect(!air.devices[device].controller.isScanning)
  }

  @Test(
    "1.5 Power off while connected reports only the state; after power on everything starts from scratch",
    .requirement("K048"))
  func powerOff() throws {
    let sensor = Sensor(air, air.add("Sensor"))
    sensor.advertise()
    let device = air.add("Phone")
    let phone = Phone(air, device)
    let peer = try phone.findAndConnect()
    phone.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: true)))
    air.setPower(false, of: device)
    #expect(phone.takeEvents() == ["state poweredOff"])
    #expect(air.linkCount(0) == 0)
    air.setPower(true, of: device)
    air.advance(3)
    #expect(phone.takeEvents() == ["state poweredOn"])
    #expect(!air.devices[device].controller.isScanning)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance()
    #expect(phone.takeEvents().contains("connected 0 20"))
  }

  @Test(
    "1.6 Power off clears the database, stops advertising and ends subscriptions without unsubscribe events",
    .requirement("K047"))
  func peripheralPowerOff() throws {
    let sensor = Sensor(air, air.add("Sensor"))
    sensor.add(1, 0x180D, [.dynamic(0x2A37, .notify)])
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    let peer = try phone.findAndConnect()
    let characteristics = try phone.discover(peer)
    phone.send(.setNotify(peer, try #require(characteristics[0x2A37]).id, true))
    _ = sensor.takeEvents()
    air.setPower(false, of: 0)
    #expect(sensor.takeEvents() == ["state poweredOff"])
    #expect(phone.takeEvents() == ["disconnected 0 link 0x15"])
    air.setPower(true, of: 0)
    #expect(sensor.takeEvents() == ["state poweredOn"])
    #expect(!air.devices[0].controller.isAdvertising)
    #expect(sensor.add(1, 0x180D, [.dynamic(0x2A37, .notify)]) == ["added 1 ok"])
  }
}
