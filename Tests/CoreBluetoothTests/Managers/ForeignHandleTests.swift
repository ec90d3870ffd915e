import BluetoothLab
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

/// Objects of one manager or peripheral that an app passes to another one: a misuse that is logged and has no effect on
/// the air.
@Suite struct ForeignHandleTests {
  // MARK: Peripheral managers

  @Test("Answering on another device's manager is a misuse, and the request stays open for its own manager")
  func answerOnOtherDevice() {
    let (bench, other) = (PeripheralHarness(), PeripheralHarness())
    let (ids, otherIDs) = (bench.publish(), other.publish())
    // Both devices use the same request numbers.
    bench.adapter.tell(.readRequested(.init(number: 5), bench.phone, ids.measurement, offset: 0))
    other.adapter.tell(.readRequested(.init(number: 5), other.phone, otherIDs.measurement, offset: 0))
    let request = bench.app.requests[0]
    request.value = Data([1])
    other.manager.respond(to: request, withResult: .success)
    #expect(other.commands.isEmpty, "the other device's client does not get the value")
    #expect(bench.log.lines(containing: "\(request) was received by another manager").count == 1)
    bench.manager.respond(to: request, withResult: .success)
    guard case .respond(let id, nil, let value)? = bench.commands.first else {
      Issue.record("the request is not open any more")
      return
    }
    #expect(id == .init(number: 5) && value == [1])
  }

  @Test("Answering on the same device's other manager is a misuse, and the request stays open for its own manager")
  func answerOnSameDevice() throws {
    let log = LogRecorder()
    let air = TwoDeviceFixture()
    let other = CBPeripheralManager(
      delegate: nil, queue: air.queue, options: [CBManagerOptionAdapterKey: air.sensor])
    air.world.run(until: { other.state == .poweredOn })
    let (peripheral, characteristic) = air.ready()
    var request: CBATTRequest?
    air.accessory.onRequests = { requests in
      request = requests[0]
      other.respond(to: requests[0], withResult: .unlikelyError)
      air.peripheralManager.respond(to: requests[0], withResult: .readNotPermitted)
    }
    peripheral.readValue(for: characteristic)
    air.expect("value [] failed")
    #expect(air.app.lastATTError?.code == .readNotPermitted)
    let name = "\(try #require(request))"
    #expect(log.lines(containing: "\(name) was received by another manager").count == 1)
  }

  @Test("Answering a write command on another manager is a misuse too")
  func writeCommand() {
    let (bench, other) = (PeripheralHarness(), PeripheralHarness())
    let ids = bench.publish()
    bench.adapter.tell(
      .writeRequested(nil, bench.phone, [.init(characteristic: ids.controlPoint, offset: 0, value: [4])]))
    other.manager.respond(to: bench.app.requests[0], withResult: .success)
    #expect(other.commands.isEmpty)
    #expect(bench.log.lines(containing: "\(bench.app.requests[0]) was received by another manager").count == 1)
  }

  @Test("A manager does not update a characteristic that another manager has published")
  func updatedCharacteristic() {
    let (bench, other) = (PeripheralHarness(), PeripheralHarness())
    let (ids, otherIDs) = (bench.publish(), other.publish())
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    other.adapter.tell(.subscribed(other.phone, otherIDs.measurement))
    #expect(bench.manager.updateValue(Data([1]), for: other.measurement, onSubscribedCentrals: nil))
    #expect(bench.commands.isEmpty && other.commands.isEmpty)
    #expect(
      bench.log.lines(containing: "\(other.measurement) is published by another manager: not updated").count == 1)
  }

  @Test("A manager sends no update to another manager's central")
  func updatedCentral() {
    let (bench, other) = (PeripheralHarness(), PeripheralHarness())
    let (ids, otherIDs) = (bench.publish(), other.publish())
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    other.adapter.tell(.subscribed(other.phone, otherIDs.measurement))
    let (own, foreign) = (bench.app.centrals[0], other.app.centrals[0])
    #expect(bench.manager.updateValue(Data([1]), for: bench.measurement, onSubscribedCentrals: [foreign]))
    #expect(bench.commands.isEmpty)
    #expect(logLines(of: bench, about: foreign, with: "another manager").count == 1)
    #expect(bench.manager.updateValue(Data([1]), for: bench.measurement, onSubscribedCentrals: [foreign, own]))
    guard case .update(_, _, let receivers?)? = bench.commands.first else {
      Issue.record("its own central does not get the update")
      return
    }
    #expect(receivers == [bench.phone.handle])
  }

  /// Returns the log lines since the creation of the harness that contain the object's address.
  private func logLines(of bench: PeripheralHarness, about object: AnyObject, with text: String) -> [String] {
    bench.log.lines(containing: addressText(of: object)).filter { $0.contains(text) }
  }

  @Test("A manager does not change the latency of another manager's central, or of a link that has ended")
  func latency() {
    let (bench, other) = (PeripheralHarness(), PeripheralHarness())
    let (ids, otherIDs) = (bench.publish(), other.publish())
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    other.adapter.tell(.subscribed(other.phone, otherIDs.measurement))
    let (own, foreign) = (bench.app.centrals[0], other.app.centrals[0])
    bench.manager.setDesiredConnectionLatency(.low, for: foreign)
    #expect(bench.commands.isEmpty)
    #expect(logLines(of: bench, about: foreign, with: "API MISUSE").count == 1)
    bench.adapter.tell(.centralDisconnected(bench.phone))
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    bench.manager.setDesiredConnectionLatency(.low, for: own)
    #expect(bench.commands.isEmpty)
    bench.manager.setDesiredConnectionLatency(.low, for: bench.app.centrals[1])
    #expect(bench.commands.count == 1)
  }

  @Test("A service or characteristic published by another manager is refused until that manager has removed it")
  func publishedElsewhere() {
    let (bench, other) = (PeripheralHarness(), PeripheralHarness())
    let ids = bench.publish()
    other.manager.add(bench.service)
    #expect(other.commands.isEmpty)
    #expect(other.app.take() == ["added 180D failed"])
    #expect(other.app.lastError?.code == .invalidParameters)
    #expect(
      bench.log.lines(containing: "\(bench.service), or one of its characteristics, is published by").count == 1)

    // One such characteristic suffices, and the others stay unpublished.
    let mixed = CBMutableService(type: CBUUID(string: "180F"), primary: true)
    mixed.characteristics = [other.measurement, bench.controlPoint]
    other.manager.add(mixed)
    #expect(other.commands.isEmpty)
    #expect(other.app.take() == ["added 180F failed"])
    _ = other.publish()

    other.manager.remove(bench.service)
    #expect(other.commands.isEmpty)
    #expect(bench.log.lines(containing: "\(bench.service) is published by another manager: not removed").count == 1)
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    #expect(bench.measurement.subscribedCentrals?.count == 1)

    bench.manager.remove(bench.service)
    other.manager.add(bench.service)
    #expect(other.addedService() != nil)
  }

  @Test("Power off or release of a manager frees its attributes", arguments: [true, false])
  func freeAgain(_ isOff: Bool) {
    let other = PeripheralHarness()
    let bench = PeripheralHarness()
    _ = bench.publish()
    if isOff { bench.adapter.tell(state: .poweredOff) } else { bench.manager = nil }
    other.manager.add(bench.service)
    #expect(other.addedService() != nil)
  }

  @Test("A manager can't unpublish a channel of another manager on the same device")
  func channel() {
    let air = TwoDeviceFixture()
    let app = PeripheralApp()
    let other = CBPeripheralManager(delegate: app, queue: air.queue, options: [CBManagerOptionAdapterKey: air.sensor])
    air.world.run(until: { other.state == .poweredOn })
    air.peripheralManager.publishL2CAPChannel(withEncryption: false)
    air.expectOfAccessory("published")
    let text = air.accessory.events.last { $0.hasPrefix("published ") } ?? ""
    guard let psm = CBL2CAPPSM(text.dropFirst("published ".count)) else {
      Issue.record("no number in \(text)")
      return
    }
    other.unpublishL2CAPChannel(psm)
    air.world.run(for: .seconds(1))
    #expect(app.events.last == "unpublished \(psm) failed")
    let peripheral = air.connect()
    peripheral.openL2CAPChannel(psm)
    air.expect("channel open")
  }

  // MARK: Peripherals

  @Test("A manager neither connects nor cancels a peripheral of another manager on the same device")
  func peripheral() {
    let log = LogRecorder()
    let air = TwoDeviceFixture()
    let other = CBCentralManager(delegate: nil, queue: air.queue, options: [CBManagerOptionAdapterKey: air.phone])
    air.world.run(until: { other.state == .poweredOn })
    let peripheral = air.connect()
    other.cancelPeripheralConnection(peripheral)
    other.connect(peripheral)
    air.world.run(for: .seconds(1))
    #expect(peripheral.state == .connected && air.app.events.isEmpty)
    #expect(log.lines(containing: "a peripheral of \(other)").count == 2)
  }

  @Test("Attributes of another peripheral are refused in the callback, and the log describes the mistake")
  func attributes() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let descriptor = bench.discoverDescriptors([0x2901], of: sensor)[0]
    // The other peripheral has attributes with the same handles.
    let other = bench.connect(1)
    bench.adapter.tell(
      .servicesDiscovered(other.handle, .success([.init(id: .init(1), uuid: 0x180D, isPrimary: true)])))
    bench.adapter.tell(
      .characteristicsDiscovered(
        other.handle, .init(1), .success([.init(id: .init(3), uuid: 0x2A37, properties: [.read, .write, .notify])])))
    _ = bench.app.take()
    let uses: [(String, () -> Void)] = [
      ("included failed", { other.discoverIncludedServices(nil, for: sensor.service) }),
      ("characteristics failed", { other.discoverCharacteristics(nil, for: sensor.service) }),
      ("descriptors failed", { other.discoverDescriptors(for: sensor.characteristic) }),
      ("value [] failed", { other.readValue(for: sensor.characteristic) }),
      ("written failed", { other.writeValue(Data([1]), for: sensor.characteristic, type: .withResponse) }),
      ("notifying false failed", { other.setNotifyValue(true, for: sensor.characteristic) }),
      ("descriptor value failed", { other.readValue(for: descriptor) }),
      ("descriptor written failed", { other.writeValue(Data([1]), for: descriptor) }),
    ]
    for (event, use) in uses {
      use()
      #expect(bench.commands.isEmpty)
      #expect(bench.app.take() == [event])
      #expect(bench.app.lastError?.code == .uuidNotAllowed)
    }
    other.writeValue(Data([1]), for: sensor.characteristic, type: .withoutResponse)
    #expect(bench.commands.isEmpty)
    #expect(bench.log.lines(containing: "is not an attribute of \(other)").count == uses.count + 1)
  }

  @Test("A local characteristic is refused by a peripheral")
  func localAttribute() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let local = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .read, value: nil, permissions: .readable)
    sensor.peripheral.readValue(for: local)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.events == ["value [] failed"])
    #expect(bench.log.lines(containing: "\(local) is not an attribute of").count == 1)
  }
}
