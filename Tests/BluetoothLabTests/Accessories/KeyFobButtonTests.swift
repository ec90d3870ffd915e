import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("The button of a key fob")
struct KeyFobButtonTests {
  /// A phone with an app that uses both managers: it is connected to a key fob, and may publish Immediate Alert.
  private struct Scene {
    let log = LogRecorder()
    let world = World(seed: 31)
    let name: String
    let fob: AccessoryDevice<KeyFob>
    let phone: Device
    let central: TestCentral
    let local: TestPeripheral

    init(_ fob: KeyFob = KeyFob(), named name: String) {
      self.name = name
      self.fob = world.add(fob, named: name)
      phone = world.makeDevice(named: "phone", at: Position(x: 2))
      (central, local) = (TestCentral(on: phone), TestPeripheral(on: phone))
    }

    /// Publishes Immediate Alert with an Alert Level of these properties.
    @discardableResult
    func publish(
      _ properties: CBCharacteristicProperties = .writeWithoutResponse,
      _ permissions: CBAttributePermissions = .writeable
    ) throws -> CBMutableService {
      let service = CBMutableService(type: CBUUID(string: "1802"), primary: true)
      service.characteristics = [
        CBMutableCharacteristic(
          type: CBUUID(string: "2A06"), properties: properties, value: nil, permissions: permissions)
      ]
      try local.powerOn()
      try local.add(service)
      return service
    }

    func press() { fob.act { fob, context in fob.pressButton(in: &context) } }

    var lastPress: KeyFob.PressResult? { fob.accessory.lastPress }

    /// The alert levels that the app has received.
    var alerts: [[UInt8]] {
      local.events.compactMap { event in
        guard case .writeRequested(let uuid, let octets, 0) = event, uuid.uuidString == "2A06" else { return nil }
        return octets
      }
    }

    /// Presses the button. Returns the time until the app has received the alert; nil: it has not within 5 s.
    func timeOfAlert() -> Duration? {
      let (start, count) = (world.now, alerts.count)
      press()
      return world.run(until: { alerts.count > count }, limit: .seconds(5)) ? world.now - start : nil
    }
  }

  @Test(
    "The button of a key fob makes an app with both managers sound, within a connection interval once it is known",
    .requirement("L185"))
  func sound() throws {
    let scene = Scene(named: "fob 1")
    try scene.publish()
    _ = try scene.central.connect(to: "Key Fob")
    #expect(scene.lastPress == nil)
    // The first press discovers the service: some connection events, which are 30 ms apart.
    let first = try #require(scene.timeOfAlert())
    #expect(first > .milliseconds(60) && first < .milliseconds(300), "\(first)")
    #expect(scene.alerts == [[2]])
    #expect(scene.lastPress == .sent)
    let second = try #require(scene.timeOfAlert())
    #expect(second > .zero && second < .milliseconds(35), "\(second)")
    scene.fob.update { $0.buttonAlert = .mildAlert }
    #expect(scene.timeOfAlert() != nil)
    #expect(scene.alerts == [[2], [2], [1]])
    // The alert of the fob itself is another characteristic.
    #expect(scene.fob.accessory.alert == .noAlert)
    // After 10 s the fob has a connection interval of 500 ms, and uses any connection event.
    scene.world.run(for: .seconds(15))
    let slow = try #require(scene.timeOfAlert())
    #expect(slow > .zero && slow < .milliseconds(510), "\(slow)")
    #expect(scene.log.lines(containing: "fob 1: can't").isEmpty)
  }

  @Test("The button of a key fob does nothing without a connection, and says so")
  func notConnected() throws {
    let scene = Scene(named: "fob 2")
    try scene.publish()
    scene.press()
    scene.world.run(for: .seconds(1))
    #expect(scene.lastPress == .notConnected)
    let fob = try scene.central.connect(to: "Key Fob")
    scene.world.run(for: .seconds(1))
    #expect(scene.alerts.isEmpty, "A press before the connection has no effect later.")
    #expect(scene.timeOfAlert() != nil)
    try scene.central.disconnect(from: fob)
    scene.world.run(for: .seconds(1))
    scene.press()
    scene.world.run(for: .seconds(1))
    #expect(scene.lastPress == .notConnected)
    #expect(scene.alerts.count == 1)
  }

  @Test("A phone without Immediate Alert ignores the button, which is logged, until an app publishes the service")
  func noService() throws {
    let scene = Scene(named: "fob 3")
    let fob = try scene.central.connect(to: "Key Fob")
    scene.press()
    scene.world.run(for: .seconds(1))
    #expect(scene.lastPress == .failed(.notFound))
    #expect(scene.log.levels(ofLinesContaining: "fob 3: can't write 2A06 of the service 1802") == ["warning"])
    #expect(fob.state == .connected)
    let service = try scene.publish()
    #expect(scene.timeOfAlert() != nil)
    #expect(scene.lastPress == .sent)
    // The fob forgets the characteristic of a service that is gone.
    scene.local.manager.remove(service)
    scene.world.run(for: .seconds(1))
    #expect(scene.timeOfAlert() == nil)
    #expect(scene.lastPress == .failed(.notFound))
  }

  @Test(
    "The button of a key fob writes with a response if the characteristic permits nothing else, and learns of errors")
  func response() throws {
    let scene = Scene(named: "fob 4")
    try scene.publish(.write)
    _ = try scene.central.connect(to: "Key Fob")
    #expect(scene.timeOfAlert() != nil)
    #expect(scene.lastPress == .pending)
    scene.world.run(for: .seconds(1))
    #expect(scene.lastPress == .sent)
    scene.local.recorder.answerWrite = { _ in .writeNotPermitted }
    #expect(scene.timeOfAlert() != nil)
    scene.world.run(for: .seconds(1))
    #expect(scene.lastPress == .failed(.rejected(.writeNotPermitted)))

    let reader = Scene(named: "fob 5")
    try reader.publish(.read, .readable)
    _ = try reader.central.connect(to: "Key Fob")
    #expect(reader.timeOfAlert() == nil)
    #expect(reader.lastPress == .failed(.notFound))
  }

  @Test("A link that ends while the button is searching for the service ends the press")
  func endOfLink() throws {
    let scene = Scene(named: "fob 6")
    try scene.publish()
    _ = try scene.central.connect(to: "Key Fob")
    scene.phone.move(to: Position(x: 100_000))
    scene.press()
    scene.world.run(for: .milliseconds(100))
    #expect(scene.lastPress == .pending)
    scene.world.run(for: .seconds(20))
    #expect(scene.lastPress == .failed(.disconnected))
    #expect(scene.alerts.isEmpty)
  }

  @Test("Presses in quick succession reach the phone in their order")
  func order() throws {
    let scene = Scene(named: "fob 7")
    try scene.publish()
    _ = try scene.central.connect(to: "Key Fob")
    for level: AlertLevel in [.mildAlert, .highAlert, .noAlert] {
      scene.fob.act { fob, context in
        fob.buttonAlert = level
        fob.pressButton(in: &context)
      }
    }
    scene.world.run(for: .seconds(1))
    #expect(scene.alerts == [[1], [2], [0]])
  }

  @Test("A key fob whose button is pressed by itself sounds at these times, and again after it was off")
  func interval() throws {
    var fob = KeyFob()
    fob.buttonInterval = .seconds(7)
    let scene = Scene(fob, named: "fob 8")
    try scene.publish()
    _ = try scene.central.connect(to: "Key Fob")
    #expect(scene.world.run(until: { !scene.alerts.isEmpty }, limit: .seconds(10)))
    #expect(scene.world.now > .seconds(7) && scene.world.now < .seconds(7.3))
    #expect(scene.world.run(until: { scene.alerts.count == 2 }, limit: .seconds(10)))
    #expect(scene.world.now > .seconds(14) && scene.world.now < .seconds(14.6), "\(scene.world.now)")
    scene.fob.setPower(false)
    scene.world.run(for: .seconds(20))
    #expect(scene.alerts.count == 2)
    let start = scene.world.now
    scene.fob.setPower(true)
    _ = try scene.central.connect(to: "Key Fob")
    #expect(scene.world.run(until: { scene.alerts.count == 3 }, limit: .seconds(10)))
    #expect(scene.world.now - start > .seconds(7) && scene.world.now - start < .seconds(7.6))
    scene.fob.update { $0.buttonInterval = nil }
    scene.world.run(for: .seconds(30))
    #expect(scene.alerts.count == 3)
  }

  @Test("The services of a device's system do not write to the servers of its peers, and say so")
  func served() throws {
    let world = World(seed: 3)
    let log = LogRecorder()
    let phone = world.makeDevice(named: "phone that serves a fob", at: Position(x: 2))
    let services = phone.serve(KeyFob())
    world.add(BatteryPack(), named: "battery")
    _ = try TestCentral(on: phone).connect(to: "Battery")
    services.act { fob, context in fob.pressButton(in: &context) }
    world.run(for: .seconds(1))
    #expect(services.accessory.lastPress == .failed(.notSupported))
    #expect(log.lines(containing: "phone that serves a fob: can't write 2A06").count == 1)
  }
}
