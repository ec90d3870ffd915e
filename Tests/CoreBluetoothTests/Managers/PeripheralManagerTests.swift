import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

@Suite struct PeripheralManagerTests {
  @Test("1.3 A peripheral manager drops and logs commands before poweredOn", .requirement("G005"))
  func notPoweredOn() {
    let bench = PeripheralHarness(state: .unknown)
    bench.manager.startAdvertising(nil)
    bench.manager.stopAdvertising()
    bench.manager.add(bench.service)
    bench.manager.remove(bench.service)
    bench.manager.removeAllServices()
    #expect(bench.manager.updateValue(Data(), for: bench.measurement, onSubscribedCentrals: nil) == false)
    #expect(bench.commands.isEmpty)
    #expect(bench.log.lines(containing: "\(bench.manager!) can only accept this command").count == 6)
    #expect(bench.app.events.isEmpty)
  }

  @Test(
    "1.6 Power off stops advertising and removes services and subscribers before the state is reported",
    .requirement("K047"), .symbol("CBPeripheralManagerDelegate.peripheralManagerDidUpdateState(_:)"))
  func powerOff() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.manager.startAdvertising(nil)
    bench.adapter.tell(.advertisingStarted(nil))
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    _ = bench.app.take()
    bench.adapter.tell(state: .poweredOff)
    #expect(bench.app.take() == ["state poweredOff"])
    #expect(!bench.manager.isAdvertising)
    #expect(bench.measurement.subscribedCentrals?.isEmpty == true)
    bench.adapter.tell(state: .poweredOn)
    _ = bench.publish()
  }

  @Test("1.7 A peripheral manager's delegate is held weakly", .symbol("CBPeripheralManager.delegate"))
  func weakDelegate() {
    var app: PeripheralApp? = PeripheralApp()
    let manager = CBPeripheralManager(
      delegate: app, queue: nil, options: [CBManagerOptionAdapterKey: ScriptedAdapter()])
    #expect(manager.delegate === app)
    app = nil
    #expect(manager.delegate == nil)
  }

  @Test("1.11 A released peripheral manager closes its session", .requirement("L014"))
  func release() {
    let bench = PeripheralHarness()
    _ = bench.publish()
    bench.manager = nil
    #expect(bench.adapter.closedSessions == 1)
    #expect(bench.log.lines(containing: "a CBPeripheralManager was released while in use").isEmpty == false)
  }

  @Test("6.1 Only the name and the service UUIDs are advertised, and a log line names the ignored keys")
  func advertisementKeys() throws {
    let bench = PeripheralHarness()
    bench.manager.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Sensor", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
      CBAdvertisementDataTxPowerLevelKey: 4,
    ])
    guard case .startAdvertising(let name, let services)? = bench.commands.first else {
      Issue.record("no command")
      return
    }
    #expect(name == "Sensor")
    #expect(services == [0x180D])
    #expect(
      bench.log.lines(containing: "\(bench.manager!) can advertise only a name").first?
        .contains("ignored: kCBAdvDataTxPowerLevel") == true)
  }

  @Test(
    "6.1 isAdvertising is true before the callback, and a second start fails with alreadyAdvertising",
    .requirement("A035", "A072"), .symbol("CBPeripheralManager.isAdvertising"))
  func advertising() {
    let bench = PeripheralHarness()
    bench.manager.startAdvertising(nil)
    #expect(!bench.manager.isAdvertising)
    bench.adapter.tell(.advertisingStarted(nil))
    bench.manager.startAdvertising(nil)
    bench.adapter.tell(.advertisingStarted(.alreadyAdvertising))
    #expect(bench.app.events == ["advertising true", "advertising true failed"])
    #expect(bench.app.lastError?.code == .alreadyAdvertising)
  }

  @Test(
    "6.1 isAdvertising is false after a start that was stopped before its callback", .requirement("A035"),
    .symbol("CBPeripheralManager.stopAdvertising()"))
  func stopWhileStarting() {
    let bench = PeripheralHarness()
    bench.manager.startAdvertising(nil)
    bench.manager.stopAdvertising()
    bench.manager.startAdvertising(nil)
    bench.adapter.tell(.advertisingStarted(nil))
    #expect(!bench.manager.isAdvertising)
    bench.adapter.tell(.advertisingStarted(nil))
    #expect(bench.manager.isAdvertising)
    bench.manager.stopAdvertising()
    #expect(!bench.manager.isAdvertising)
  }

  @Test(
    "6.3 Services are added in order, each with its result", .requirement("A034", "L039"),
    .symbol(
      "CBPeripheralManager", "CBPeripheralManager.init(delegate:queue:options:)", "CBPeripheralManager.add(_:)",
      "CBMutableService.init(type:primary:)"))
  func adding() {
    let bench = PeripheralHarness()
    bench.manager.add(bench.service)
    let definition = bench.addedService()
    #expect(definition?.uuid == 0x180D)
    #expect(definition?.isPrimary == true)
    #expect(definition?.characteristics.map(\.definition.uuid) == [0x2A37, 0x2A39])
    #expect(definition?.characteristics.first?.definition.properties == [.read, .write, .notify])
    #expect(definition?.characteristics.first?.definition.permissions == [.readable, .writeable])
    bench.adapter.tell(.serviceAdded(definition!.id, nil))
    #expect(bench.app.events == ["added 180D"])
  }

  @Test("6.3 A service that the daemon refuses is reported and can be added again")
  func refusal() {
    let bench = PeripheralHarness()
    bench.manager.add(bench.service)
    bench.adapter.tell(.serviceAdded(bench.addedService()!.id, .uuidNotAllowed))
    #expect(bench.app.take() == ["added 180D failed"])
    #expect(bench.app.lastError?.code == .uuidNotAllowed)
    _ = bench.publish()
  }

  @Test("6.3 Adding a published service again is refused in the callback")
  func addingTwice() {
    let bench = PeripheralHarness()
    _ = bench.publish()
    bench.manager.add(bench.service)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.events == ["added 180D failed"])
    #expect(bench.app.lastError?.code == .invalidParameters)
  }

  @Test(
    "6.3 Included services must be published first, so that no service includes itself", .requirement("K043"),
    .symbol("CBMutableService.includedServices"))
  func includes() {
    let bench = PeripheralHarness()
    let battery = CBMutableService(type: CBUUID(string: "180F"), primary: false)
    bench.service.includedServices = [battery]
    bench.manager.add(bench.service)
    #expect(bench.commands.isEmpty)
    bench.manager.add(battery)
    let id = bench.addedService()!.id
    bench.adapter.tell(.serviceAdded(id, nil))
    bench.manager.add(bench.service)
    #expect(bench.addedService()?.includes == [id])
    let loop = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
    loop.includedServices = [loop]
    bench.manager.add(loop)
    _ = bench.commands
    #expect(bench.app.events == ["added 180D failed", "added 180F", "added FFF0 failed"])
  }

  @Test("6.4 A cached value with a property other than read stops the program with Apple's reason")
  func cachedValue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bench = PeripheralHarness()
      bench.measurement.value = Data([1])
      bench.manager.add(bench.service)
    }
    #expect(result?.reason.contains("Characteristics with cached values must be read-only") == true)
  }

  @Test("6.4 A cached value with a write permission stops the program")
  func cachedValuePermission() async {
    await #expect(processExitsWith: .failure) {
      let bench = PeripheralHarness()
      bench.service.characteristics = [
        CBMutableCharacteristic(
          type: CBUUID(string: "2A38"), properties: .read, value: Data([1]), permissions: [.readable, .writeable])
      ]
      bench.manager.add(bench.service)
    }
  }

  @Test(
    "6.4 A read-only cached value is served by the daemon",
    .symbol("CBMutableCharacteristic.init(type:properties:value:permissions:)"))
  func staticValue() {
    let bench = PeripheralHarness()
    bench.service.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "2A38"), properties: .read, value: Data([1]), permissions: .readable)
    ]
    bench.manager.add(bench.service)
    #expect(bench.addedService()?.characteristics.first?.definition.value == [1])
  }

  @Test("6.5 Descriptors are published with their encoded values", .symbol("CBMutableCharacteristic.descriptors"))
  func descriptors() {
    let bench = PeripheralHarness()
    bench.measurement.descriptors = [
      CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Né"),
      CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data([4, 0, 0, 0x27, 1, 0, 0])),
    ]
    bench.manager.add(bench.service)
    let descriptors = bench.addedService()?.characteristics.first?.definition.descriptors ?? []
    #expect(descriptors.map(\.uuid) == [0x2901, 0x2904])
    guard case .stored(let value)? = descriptors.first?.content else {
      Issue.record("no stored value")
      return
    }
    #expect(value == [0x4E, 0xC3, 0xA9])
  }

  @Test(
    "6.6 Broadcast and extended properties are refused", .requirement("K032"),
    .symbol("CBCharacteristicProperties.broadcast", "CBCharacteristicProperties.extendedProperties"),
    arguments: [CBCharacteristicProperties.broadcast, .extendedProperties])
  func forbiddenProperties(property: CBCharacteristicProperties) {
    let bench = PeripheralHarness()
    bench.measurement.properties.insert(property)
    bench.manager.add(bench.service)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.events == ["added 180D failed"])
    #expect(bench.app.lastError?.code == .invalidParameters)
  }

  @Test(
    "6.7 Changes after adding a service have no effect", .requirement("K027"),
    .symbol("CBMutableService", "CBMutableCharacteristic", "CBMutableCharacteristic.properties"))
  func frozen() {
    let bench = PeripheralHarness()
    bench.manager.add(bench.service)
    bench.measurement.properties = []
    bench.service.characteristics = nil
    let definition = bench.addedService()
    #expect(definition?.characteristics.first?.definition.properties == [.read, .write, .notify])
    bench.adapter.tell(.serviceAdded(definition!.id, nil))
    bench.adapter.tell(
      .readRequested(.init(number: 1), bench.phone, definition!.characteristics[0].id, offset: 0))
    #expect(bench.app.events == ["added 180D", "read 2A37 from 0"])
    #expect(bench.measurement.service === bench.service)
    #expect(bench.service.peripheral == nil)
  }

  @Test(
    "6.8 A read is one request with its offset, answered with the value from that offset on",
    .requirement("K030", "K052"),
    .symbol(
      "CBPeripheralManager.respond(to:withResult:)", "CBATTRequest.characteristic", "CBATTRequest.value",
      "CBPeripheralManagerDelegate.peripheralManager(_:didReceiveRead:)"))
  func reading() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.readRequested(.init(number: 5), bench.phone, ids.measurement, offset: 22))
    #expect(bench.app.events == ["read 2A37 from 22"])
    let request = bench.app.requests[0]
    #expect(request.characteristic === bench.measurement)
    #expect(request.value == nil)
    #expect(request.central.maximumUpdateValueLength == 20)
    request.value = Data([1, 2, 3])
    bench.manager.respond(to: request, withResult: .success)
    guard case .respond(let id, nil, let value)? = bench.commands.first else {
      Issue.record("no answer")
      return
    }
    #expect(id == .init(number: 5))
    #expect(value == [1, 2, 3])
  }

  @Test("6.8 A second answer is a logged no-op", .requirement("K051", "L045"))
  func answeringTwice() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.readRequested(.init(number: 5), bench.phone, ids.measurement, offset: 0))
    let request = bench.app.requests[0]
    bench.manager.respond(to: request, withResult: .success)
    bench.manager.respond(to: request, withResult: .success)
    #expect(bench.commands.count == 1)
    #expect(bench.log.lines(containing: "\(request) was answered before").count == 1)
  }

  @Test("6.8 An answer to a disconnected central is a logged no-op")
  func answeringTooLate() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.readRequested(.init(number: 5), bench.phone, ids.measurement, offset: 0))
    bench.adapter.tell(.centralDisconnected(bench.phone))
    bench.manager.respond(to: bench.app.requests[0], withResult: .success)
    #expect(bench.commands.isEmpty)
    #expect(bench.log.lines(containing: "\(bench.app.requests[0]) belongs to a link that has ended").count == 1)
  }

  @Test(
    "6.9 Prepared writes arrive as one batch, which one answer completes", .requirement("K050", "L047"),
    .symbol("CBATTRequest", "CBATTRequest.offset", "CBPeripheralManagerDelegate.peripheralManager(_:didReceiveWrite:)"))
  func preparedWrites() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(
      .writeRequested(
        .init(number: 9), bench.phone,
        [
          .init(characteristic: ids.measurement, offset: 0, value: [1, 2]),
          .init(characteristic: ids.measurement, offset: 2, value: [3]),
          .init(characteristic: ids.controlPoint, offset: 0, value: [4]),
        ]))
    #expect(bench.app.events == ["write 2A37@0=[1, 2] 2A37@2=[3] 2A39@0=[4]"])
    bench.manager.respond(to: bench.app.requests[1], withResult: .insufficientResources)
    bench.manager.respond(to: bench.app.requests[0], withResult: .success)
    let commands = bench.commands
    #expect(commands.count == 1)
    guard case .respond(_, .insufficientResources?, _)? = commands.first else {
      Issue.record("no error answered")
      return
    }
  }

  @Test("6.9 Write commands arrive too, and answering one is harmless")
  func writeCommands() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(
      .writeRequested(nil, bench.phone, [.init(characteristic: ids.controlPoint, offset: 0, value: [4])]))
    #expect(bench.app.events == ["write 2A39@0=[4]"])
    bench.manager.respond(to: bench.app.requests[0], withResult: .success)
    bench.manager.respond(to: bench.app.requests[0], withResult: .success)
    #expect(bench.commands.isEmpty)
  }

  @Test("6.11 Application error codes are sent unchanged")
  func applicationErrors() throws {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.readRequested(.init(number: 5), bench.phone, ids.measurement, offset: 0))
    bench.manager.respond(to: bench.app.requests[0], withResult: try #require(CBATTError.Code(rawValue: 0x9F)))
    guard case .respond(_, let error?, _)? = bench.commands.first else {
      Issue.record("no error answered")
      return
    }
    #expect(error.rawValue == 0x9F)
  }

  @Test(
    "6.12 Subscribers are in subscribedCentrals before the callback, one object for each connection",
    .requirement("A050", "K049", "L046"),
    .symbol(
      "CBMutableCharacteristic.subscribedCentrals", "CBATTRequest.central",
      "CBPeripheralManagerDelegate.peripheralManager(_:central:didSubscribeTo:)"))
  func subscriptions() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    bench.adapter.tell(.readRequested(.init(number: 1), bench.phone, ids.measurement, offset: 0))
    #expect(bench.app.requests[0].central === bench.app.centrals[0])
    #expect(bench.measurement.subscribedCentrals?.first === bench.app.centrals[0])
    bench.adapter.tell(.unsubscribed(bench.phone, ids.measurement))
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    #expect(bench.app.centrals[0] === bench.app.centrals[1])
    #expect(
      bench.app.events == [
        "subscribed 2A37, 1 in all", "read 2A37 from 0", "unsubscribed 2A37, 0 left", "subscribed 2A37, 1 in all",
      ])
  }

  @Test(
    "6.12 A disconnected central is unsubscribed from everything and returns as another object", .requirement("L046"),
    .symbol("CBCentral"))
  func disconnection() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    bench.adapter.tell(.centralDisconnected(bench.phone))
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    #expect(
      bench.app.events == [
        "subscribed 2A37, 1 in all", "unsubscribed 2A37, 0 left", "subscribed 2A37, 1 in all",
      ])
    #expect(bench.app.centrals[0] !== bench.app.centrals[1])
    #expect(bench.app.centrals[0].identifier == bench.app.centrals[1].identifier)
  }

  @Test(
    "6.13 Updates are refused when the queue is full, and new room is reported once",
    .requirement("A036", "A093", "K045"))
  func updates() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    _ = bench.app.take()
    var sent = 0
    while bench.manager.updateValue(Data([UInt8(sent)]), for: bench.measurement, onSubscribedCentrals: nil), sent < 100
    {
      sent += 1
    }
    #expect(sent == 20)
    #expect(bench.commands.count == sent)
    #expect(bench.adapter.updateCredits?.put() == true)
    bench.adapter.tell(.readyToUpdate)
    #expect(bench.app.events == ["ready"])
    #expect(bench.manager.updateValue(Data([1]), for: bench.measurement, onSubscribedCentrals: nil))
  }

  @Test(
    "6.13 Without subscribers an update succeeds and sends nothing; centrals without a subscription are omitted",
    .requirement("K046"))
  func receivers() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    #expect(bench.manager.updateValue(Data([1]), for: bench.measurement, onSubscribedCentrals: nil))
    #expect(bench.commands.isEmpty)
    let tablet = CentralInfo(
      handle: PeerHandle(index: 8), identifier: PeerIdentifier(high: 3, low: 4), maximumUpdateLength: 20)
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    bench.adapter.tell(.readRequested(.init(number: 1), tablet, ids.measurement, offset: 0))
    let other = bench.app.requests[0].central
    #expect(bench.manager.updateValue(Data([1]), for: bench.measurement, onSubscribedCentrals: [other]))
    #expect(bench.commands.isEmpty)
    #expect(
      bench.manager.updateValue(
        Data([1]), for: bench.measurement, onSubscribedCentrals: [other, bench.app.centrals[0]]))
    guard case .update(_, _, let handles?)? = bench.commands.first else {
      Issue.record("no update")
      return
    }
    #expect(handles == [bench.phone.handle])
  }

  @Test(
    "6.14 maximumUpdateValueLength follows the link's MTU", .requirement("A052"),
    .symbol("CBCentral.maximumUpdateValueLength"))
  func updateLength() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    var changed = bench.phone
    changed.maximumUpdateLength = 182
    bench.adapter.tell(.maximumUpdateLengthChanged(changed))
    #expect(bench.app.centrals[0].maximumUpdateValueLength == 182)
  }

  @Test("6.15 A removed service has no subscribers, and can be added again")
  func removing() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    bench.manager.remove(bench.service)
    guard case .removeService(ids.service)? = bench.commands.first else {
      Issue.record("not removed")
      return
    }
    #expect(bench.measurement.subscribedCentrals?.isEmpty == true)
    let again = bench.publish()
    #expect(again.service != ids.service)
    bench.manager.removeAllServices()
    guard case .removeAllServices? = bench.commands.first else {
      Issue.record("not removed")
      return
    }
  }

  @Test("6.16 Removing a service of another manager does nothing")
  func removingForeign() {
    let bench = PeripheralHarness()
    bench.manager.remove(CBMutableService(type: CBUUID(string: "180D"), primary: true))
    #expect(bench.commands.isEmpty)
  }
}
