import BluetoothLab
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

/// An app that does not serve its queue. In virtual time no event waits, so all tests but the first simulate the
/// waiting events.
@Suite struct BacklogTests {
  @Test("In real time each event counts from its dispatch to the app's queue until the app has handled it")
  func counting() throws {
    let adapter = ScriptedAdapter(deliversInPlace: false)
    let queue = DispatchQueue(label: "blocked")
    queue.suspend()
    let app = CentralApp()
    let manager = CBCentralManager(delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: adapter])
    let server = CBPeripheralManager(
      delegate: PeripheralApp(), queue: queue, options: [CBManagerOptionAdapterKey: adapter])
    let session = try #require(manager.core.with { $0.session })
    let serverSession = try #require(server.core.with { $0.session })
    adapter.tell(state: .poweredOn)
    for _ in 0..<99 { adapter.tell(.nameChanged(PeerHandle(index: 0), nil)) }
    #expect(session.backlog.count == 100)
    #expect(serverSession.backlog.count == 1)
    #expect(app.events.isEmpty)
    queue.resume()
    queue.sync {}
    #expect(session.backlog.count == 0 && serverSession.backlog.count == 0)
    #expect(app.events == ["state poweredOn"])
  }

  @Test("Notifications to a slow app stay at the peer, and all arrive in order later")
  func notifications() throws {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    let session = try #require(air.central.core.with { $0.session })
    for _ in 0..<SessionLimits.waitingEvents { session.eventQueued() }
    var sent: UInt8 = 0
    func send() {
      while sent < 200, air.peripheralManager.updateValue(Data([sent]), for: air.value, onSubscribedCentrals: nil) {
        sent += 1
      }
    }
    air.accessory.onReady = { send() }
    send()
    air.world.run(for: .seconds(10))
    #expect(air.app.take() == ["value [0]"], "the first one shows that the link is to be held")
    #expect(sent < 100, "the peer's app finds no room when its credits and its controller's buffers are used up")
    #expect(peripheral.state == .connected)
    for _ in 0..<SessionLimits.waitingEvents { session.eventHandled() }
    air.world.run(for: .seconds(10))
    #expect(air.app.take() == (1..<200).map { "value [\($0)]" })
    #expect(sent == 200)
  }

  @Test("Write commands to a slow app stay at the peer, and all arrive in order later")
  func writeCommands() throws {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    let session = try #require(air.peripheralManager.core.with { $0.session })
    for _ in 0..<SessionLimits.waitingEvents { session.eventQueued() }
    var sent: UInt8 = 0
    func send() {
      while sent < 200, peripheral.canSendWriteWithoutResponse {
        peripheral.writeValue(Data([sent]), for: characteristic, type: .withoutResponse)
        sent += 1
      }
    }
    air.app.onEvent = { if $0 == "ready" { send() } }
    air.accessory.onRequests = { _ in }
    _ = air.accessory.take()
    send()
    air.world.run(for: .seconds(10))
    #expect(air.accessory.take() == ["write FFF1@0=[0]"])
    #expect(sent < 100)
    for _ in 0..<SessionLimits.waitingEvents { session.eventHandled() }
    air.world.run(for: .seconds(10))
    #expect(air.accessory.take() == (1..<200).map { "write FFF1@0=[\($0)]" })
  }

  @Test("Discoveries for a slow app are dropped, and a later packet reports them")
  func discoveries() throws {
    let air = TwoDeviceFixture()
    air.add([air.localService])
    air.advertise()
    let session = try #require(air.central.core.with { $0.session })
    for _ in 0..<SessionLimits.waitingEvents { session.eventQueued() }
    air.central.scanForPeripherals(withServices: nil)
    air.world.run(for: .seconds(2))
    #expect(air.app.take().isEmpty)
    session.eventHandled()
    air.world.run(for: .seconds(2))
    #expect(air.app.take().count == 1, "also without duplicates: nothing is lost for good")
  }
}
