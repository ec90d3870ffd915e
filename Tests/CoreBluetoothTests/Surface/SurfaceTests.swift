// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

private final class MistypedCentral: NSObject, CBCentralManagerDelegate {
  var calls: [String] = []

  func centralManagerDidUpdateState(_ central: CBCentralManager) {}
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { calls.append("connected") }
}

private final class MistypedPeripheral: NSObject, CBPeripheralDelegate {
  var calls: [String] = []

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    calls.append("value")
  }
}

private final class MistypedServer: NSObject, CBPeripheralManagerDelegate {
  var calls: [String] = []

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    calls.append("subscribed")
  }
}

// Methods with a wrong label or a wrong type. The compiler warns of them only where the conformance is declared.
extension MistypedCentral {
  // The protocol has `error: (any Error)?`.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: NSError?
  ) {
    calls.append("error: NSError?")
  }

  // The protocol has `didDisconnectPeripheral`.
  func centralManager(_ central: CBCentralManager, didDisconnect peripheral: CBPeripheral, error: (any Error)?) {
    calls.append("didDisconnect")
  }
}

extension MistypedPeripheral {
  // The protocol has `didReadRSSI`.
  func peripheral(_ peripheral: CBPeripheral, didReadRssi rssi: NSNumber, error: (any Error)?) {
    calls.append("didReadRssi")
  }

  // The protocol has `error: (any Error)?`.
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: any Error
  ) {
    calls.append("error: any Error")
  }
}

extension MistypedServer {
  // The protocol has `characteristic: CBCharacteristic`.
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBMutableCharacteristic
  ) {
    calls.append("CBMutableCharacteristic")
  }
}

@Suite struct SurfaceTests {
  private final class Central: NSObject, CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
  }

  private final class Peripheral: NSObject, CBPeripheralDelegate {}

  private final class Server: NSObject, CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
  }

  @Test(
    "Delegates need only the method for the state: the others have empty default implementations",
    .requirement("K012", "K024"),
    .symbol("CBCentralManagerDelegate", "CBPeripheralDelegate", "CBPeripheralManagerDelegate"))
  func defaultBodies() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    air.world.startTrace()
    let descriptor = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "x")
    let central: any CBCentralManagerDelegate = Central()
    central.centralManager(air.central, willRestoreState: [:])
    central.centralManager(air.central, didDiscover: peripheral, advertisementData: [:], rssi: -40)
    central.centralManager(air.central, didConnect: peripheral)
    central.centralManager(air.central, didFailToConnect: peripheral, error: nil)
    central.centralManager(air.central, didDisconnectPeripheral: peripheral, error: nil)
    central.centralManager(
      air.central, didDisconnectPeripheral: peripheral, timestamp: 0, isReconnecting: false, error: nil)
    central.centralManager(air.central, connectionEventDidOccur: .peerConnected, for: peripheral)
    central.centralManager(air.central, didUpdateANCSAuthorizationFor: peripheral)
    let client: any CBPeripheralDelegate = Peripheral()
    client.peripheralDidUpdateName(peripheral)
    client.peripheral(peripheral, didModifyServices: [])
    client.peripheralDidUpdateRSSI(peripheral, error: nil)
    client.peripheral(peripheral, didReadRSSI: -40, error: nil)
    client.peripheral(peripheral, didDiscoverServices: nil)
    client.peripheral(peripheral, didDiscoverIncludedServicesFor: air.localService, error: nil)
    client.peripheral(peripheral, didDiscoverCharacteristicsFor: air.localService, error: nil)
    client.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
    client.peripheral(peripheral, didWriteValueFor: characteristic, error: nil)
    client.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: nil)
    client.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: nil)
    client.peripheral(peripheral, didUpdateValueFor: descriptor, error: nil)
    client.peripheral(peripheral, didWriteValueFor: descriptor, error: nil)
    client.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    client.peripheral(peripheral, didOpen: nil, error: nil)
    client.peripheral(peripheral, didReceive: nil, error: nil)
    client.peripheral(peripheral, didCompleteChannelSoundingSession: nil)
    let server: any CBPeripheralManagerDelegate = Server()
    server.peripheralManager(air.peripheralManager, willRestoreState: [:])
    server.peripheralManagerDidStartAdvertising(air.peripheralManager, error: nil)
    server.peripheralManager(air.peripheralManager, didAdd: air.localService, error: nil)
    server.peripheralManagerIsReady(toUpdateSubscribers: air.peripheralManager)
    server.peripheralManager(air.peripheralManager, didPublishL2CAPChannel: 0x80, error: nil)
    server.peripheralManager(air.peripheralManager, didUnpublishL2CAPChannel: 0x80, error: nil)
    server.peripheralManager(air.peripheralManager, didOpen: nil, error: nil)
    air.world.run(for: .seconds(1))
    let calls = { air.world.trace.entries.filter { $0.kind == .call }.map(\.text) }
    #expect(calls() == [], "none of the default implementations calls a manager or a peripheral")
    peripheral.readRSSI()
    air.world.run(for: .seconds(1))
    #expect(calls().count == 1, "the trace does show calls")
  }

  @Test(
    "An app whose delegates only implement the method for the state connects, subscribes and disconnects normally",
    .requirement("K012", "K024"))
  func silentDelegates() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    let (central, client, server) = (Central(), Peripheral(), Server())
    air.central.delegate = central
    peripheral.delegate = client
    air.peripheralManager.delegate = server
    _ = (air.app.take(), air.accessory.take())
    peripheral.setNotifyValue(true, for: characteristic)
    #expect(air.world.run(until: { characteristic.isNotifying }, limit: .seconds(5)))
    #expect(air.value.subscribedCentrals?.count == 1)
    #expect(air.peripheralManager.updateValue(Data([7]), for: air.value, onSubscribedCentrals: nil))
    #expect(air.world.run(until: { characteristic.value == Data([7]) }, limit: .seconds(5)))
    air.central.cancelPeripheralConnection(peripheral)
    #expect(air.world.run(until: { peripheral.state == .disconnected }, limit: .seconds(5)))
    air.central.connect(peripheral)
    #expect(air.world.run(until: { peripheral.state == .connected }, limit: .seconds(5)))
    #expect(air.app.events.isEmpty && air.accessory.events.isEmpty)
  }

  @Test("A delegate's method with a wrong label or a wrong type compiles, and is never called", .requirement("L015"))
  func mistypedMethods() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    let (central, client, server) = (MistypedCentral(), MistypedPeripheral(), MistypedServer())
    air.central.delegate = central
    peripheral.delegate = client
    air.peripheralManager.delegate = server
    peripheral.readRSSI()
    peripheral.setNotifyValue(true, for: characteristic)
    #expect(air.world.run(until: { characteristic.isNotifying }, limit: .seconds(5)))
    #expect(air.peripheralManager.updateValue(Data([7]), for: air.value, onSubscribedCentrals: nil))
    #expect(air.world.run(until: { characteristic.value == Data([7]) }, limit: .seconds(5)))
    air.central.cancelPeripheralConnection(peripheral)
    #expect(air.world.run(until: { peripheral.state == .disconnected }, limit: .seconds(5)))
    #expect(air.world.run(until: { air.value.subscribedCentrals?.isEmpty == true }, limit: .seconds(5)))
    air.central.connect(peripheral)
    #expect(air.world.run(until: { peripheral.state == .connected }, limit: .seconds(5)))
    // The right methods of the same delegates are called.
    #expect(central.calls == ["connected"] && client.calls == ["value"] && server.calls == ["subscribed"])
  }

  private final class CountingCentral: CBCentralManager {
    nonisolated(unsafe) static var scans = 0
    override func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
      Self.scans += 1
      super.scanForPeripherals(withServices: serviceUUIDs, options: options)
    }
    override init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
      super.init(delegate: delegate, queue: queue, options: options)
    }
  }

  @Test("Apps can subclass managers, and their overrides are called", .symbol("CBCentralManager"))
  func subclassing() {
    let air = TwoDeviceFixture()
    let manager = CountingCentral(
      delegate: nil, queue: air.queue, options: [CBManagerOptionAdapterKey: air.phone])
    air.world.run(until: { manager.state == .poweredOn })
    manager.scanForPeripherals(withServices: nil)
    #expect(CountingCentral.scans == 1)
    #expect(manager.isScanning)
  }

  @Test(
    "Managers can be created without arguments, and start in the state unknown",
    .symbol("CBCentralManager.init()", "CBPeripheralManager.init()", "CBPeripheralManager.init(delegate:queue:)"))
  func plainManagers() {
    #expect(CBCentralManager().delegate == nil)
    #expect(CBPeripheralManager().delegate == nil)
    // This queue is never served, so that no callback can intervene.
    let queue = DispatchQueue(label: "never served", attributes: .initiallyInactive)
    defer { queue.activate() }
    #expect(CBCentralManager(delegate: nil, queue: queue).state == .unknown)
    #expect(CBPeripheralManager(delegate: nil, queue: queue).state == .unknown)
  }

  @Test("An L2CAP channel created by an app is empty", .symbol("CBL2CAPPSM"))
  func plainChannel() {
    let channel = CBL2CAPChannel()
    #expect(channel.peer == nil && channel.inputStream == nil && channel.outputStream == nil)
    #expect(channel.psm == CBL2CAPPSM(0))
  }

  @Test("Deprecated members still work", .symbol("CBManager.authorization (instance)", "CBPeripheral.rssi"))
  func deprecated() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    peripheral.readRSSI()
    air.expect("RSSI")
    #expect((peripheral as any OldPeripheral).rssi == -48)
    #expect((air.value as any OldCharacteristic).isBroadcasted == false)
    #expect((air.central as any OldManager).authorization == .allowedAlways)
    #expect(peripheral.ancsAuthorized == false)
  }
}

// Deprecated members, reached without a warning.
private protocol OldPeripheral { var rssi: NSNumber? { get } }
extension CBPeripheral: OldPeripheral {}
private protocol OldCharacteristic { var isBroadcasted: Bool { get } }
extension CBCharacteristic: OldCharacteristic {}
private protocol OldManager { var authorization: CBManagerAuthorization { get } }
extension CBManager: OldManager {}
