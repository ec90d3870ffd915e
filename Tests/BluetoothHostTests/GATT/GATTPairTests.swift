import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

@Suite("GATT client and server back to back")
struct GATTPairTests {
  /// Returns a database with GAP 1…9, GATT 10…19, Heart Rate 20…28, Battery 29…32, a secondary service 33…35, and 36…42
  /// that includes all three.
  static func sensor() throws -> GATTDatabase {
    var database = GATTDatabase.named()
    let heartRate = try database.add(
      GATTServiceDefinition(
        uuid: 0x180D, isPrimary: true, includes: [],
        characteristics: [
          .dynamic(0x2A37, .notify),
          GATTCharacteristicDefinition(
            uuid: 0x2A38, properties: .read, permissions: .readable, value: [0x01],
            descriptors: [GATTDescriptorDefinition(uuid: 0x2901, value: ByteSlice("Location".utf8))]),
          .dynamic(0x2A39, .write),
        ]))
    let battery = try database.add(
      GATTServiceDefinition(
        uuid: 0x180F, isPrimary: true, includes: [], characteristics: [.dynamic(0x2A19, [.read, .indicate])]))
    let hidden = try database.add(
      GATTServiceDefinition(
        uuid: .custom(9), isPrimary: false, includes: [], characteristics: [.stored(.custom(10), pattern(3))]))
    _ = try database.add(
      GATTServiceDefinition(
        uuid: .custom(1), isPrimary: true,
        includes: [heartRate.range.lowerBound, battery.range.lowerBound, hidden.range.lowerBound],
        characteristics: [.dynamic(.custom(2), [.read, .write, .writeWithoutResponse, .notify])]))
    return database
  }

  @Test(
    "The two sides agree on the smaller MTU, never below 23", .requirement("A060", "L148"),
    arguments: [(517, 517), (185, 185), (23, 23), (5, 23)])
  func mtuExchange(maximum: Int, agreed: Int) {
    let pair = GATTPair(.named(), maximumMTU: maximum)
    #expect(pair.central.mtu == agreed)
    #expect(pair.peripheral.mtu == agreed)
    let expected: [GATTEvent] = agreed == 23 ? [] : [.mtuChanged(agreed)]
    #expect(pair.centralEvents == expected)
    #expect(pair.peripheralEvents == expected)
  }

  @Test(
    "Every service, inclusion, characteristic and descriptor is discovered", .requirement("A003", "L036", "L156"),
    arguments: [23, 517])
  func discovery(mtu: Int) throws {
    var pair = GATTPair(try Self.sensor(), maximumMTU: mtu)
    let services: [GATTService] = [
      GATTService(range: 1...9, uuid: 0x1800), GATTService(range: 10...19, uuid: 0x1801),
      GATTService(range: 20...28, uuid: 0x180D), GATTService(range: 29...32, uuid: 0x180F),
      GATTService(range: 36...42, uuid: .custom(1)),
    ]
    #expect(pair.perform(.discoverPrimaryServices) == .success(.services(services)))
    #expect(pair.perform(.discoverPrimaryService(.custom(1))) == .success(.services([services[4]])))
    #expect(pair.perform(.discoverPrimaryService(0x1234)) == .success(.services([])))
    let includes = [
      GATTInclude(declaration: 37, service: services[2]), GATTInclude(declaration: 38, service: services[3]),
      GATTInclude(declaration: 39, service: GATTService(range: 33...35, uuid: .custom(9))),
    ]
    #expect(pair.perform(.findIncludedServices(in: 36...42)) == .success(.includedServices(includes)))
    #expect(pair.perform(.findIncludedServices(in: 20...28)) == .success(.includedServices([])))
    let characteristics = [
      GATTCharacteristic(declaration: 21, value: 22, properties: .notify, uuid: 0x2A37),
      GATTCharacteristic(declaration: 24, value: 25, properties: .read, uuid: 0x2A38),
      GATTCharacteristic(declaration: 27, value: 28, properties: .write, uuid: 0x2A39),
    ]
    #expect(pair.perform(.discoverCharacteristics(in: 20...28)) == .success(.characteristics(characteristics)))
    let custom = GATTCharacteristic(
      declaration: 40, value: 41, properties: [.read, .write, .writeWithoutResponse, .notify], uuid: .custom(2))
    #expect(pair.perform(.discoverCharacteristics(in: 36...42)) == .success(.characteristics([custom])))
    #expect(
      pair.perform(.discoverDescriptors(in: 23...23))
        == .success(.descriptors([GATTDescriptor(handle: 23, uuid: 0x2902)])))
    #expect(
      pair.perform(.discoverDescriptors(in: 26...26))
        == .success(.descriptors([GATTDescriptor(handle: 26, uuid: 0x2901)])))
  }

  @Test(
    "A value of any length is read completely", .requirement("A004", "L048", "L147"),
    arguments: [0, 1, 21, 22, 23, 44, 511, 512], [23, 50, 517])
  func read(length: Int, mtu: Int) throws {
    var pair = GATTPair(.with(.dynamic(0x2A39, .read), .stored(pattern(length))), maximumMTU: mtu)
    pair.values[22] = pattern(length)
    #expect(pair.perform(.read(22)) == .success(.value(pattern(length))))
    #expect(pair.perform(.read(24)) == .success(.value(pattern(length))))
  }

  @Test(
    "A value of any length is written completely, in prepared parts if it is long", .requirement("L147"),
    arguments: [0, 20, 21, 200, 512],
    [23, 517])
  func write(length: Int, mtu: Int) throws {
    var pair = GATTPair(.with(.dynamic(0x2A39, .write)), maximumMTU: mtu)
    #expect(pair.perform(.write(22, pattern(length))) == .success(.done))
    #expect(pair.values[22] == pattern(length))
    #expect(pair.sent.contains(.prepareWriteRequest) == (length > mtu - 3))
  }

  @Test("Writes without response are sent one after the other and complete when sent", .requirement("A004"))
  func writeWithoutResponse() {
    var pair = GATTPair(.with(.dynamic(0x2A39, .writeWithoutResponse)))
    for token in GATTToken(1)...3 {
      pair.central.request(.writeWithoutResponse(22, [UInt8(token)]), token: token, at: pair.now)
    }
    #expect(pair.central.takeEvent() == nil)
    pair.run()
    #expect(pair.values[22] == [3])
    #expect(
      pair.centralEvents.dropFirst() == [
        .completed(1, .success(.done)), .completed(2, .success(.done)), .completed(3, .success(.done)),
      ])
  }

  @Test("A write without response that is too long fails and is not sent")
  func writeWithoutResponseTooLong() {
    var pair = GATTPair(.with(.dynamic(0x2A39, .writeWithoutResponse)), maximumMTU: 23)
    #expect(
      pair.perform(.writeWithoutResponse(22, pattern(21))) == .failure(.att(.invalidAttributeValueLength)))
    #expect(pair.perform(.writeWithoutResponse(22, pattern(20))) == .success(.done))
    #expect(pair.values[22] == pattern(20))
  }

  @Test(
    "A subscribed client gets notifications truncated to MTU − 3; an unsubscribed one gets none",
    .requirement("A004", "L048"))
  func notifications() {
    var pair = GATTPair(.with(.dynamic(0x2A37, .notify)), maximumMTU: 23)
    pair.peripheral.update(22, with: [1], at: pair.now)
    pair.run()
    #expect(pair.centralEvents.isEmpty)
    #expect(pair.peripheralEvents == [.updateSent(22)])
    #expect(pair.perform(.write(23, [1, 0])) == .success(.done))
    pair.peripheral.update(22, with: pattern(30), at: pair.now)
    pair.run()
    #expect(pair.centralEvents.last == .valueReceived(22, pattern(20)))
    #expect(
      pair.peripheralEvents == [.updateSent(22), .subscriptionChanged(22, .notification), .updateSent(22)])
  }

  @Test("Indications wait for the previous confirmation", .requirement("A004"))
  func indications() {
    var pair = GATTPair(.with(.dynamic(0x2A37, .indicate)))
    #expect(pair.perform(.write(23, [2, 0])) == .success(.done))
    pair.peripheral.update(22, with: [1], at: pair.now)
    pair.peripheral.update(22, with: [2], at: pair.now)
    #expect(pair.peripheral.takePDU(at: pair.now) == .handleValueIndication(handle: 22, value: [1]))
    #expect(pair.peripheral.takePDU(at: pair.now) == nil)
    pair.peripheral.receive([0x1E], database: &pair.database, at: pair.now)
    #expect(pair.peripheral.takeEvent() == .updateSent(22))
    pair.run()
    #expect(pair.centralEvents.last == .valueReceived(22, [2]))
    #expect(pair.sent.last == .handleValueConfirmation)
    #expect(pair.peripheral.deadline == nil)
  }

  @Test("A pending indication does not delay a response; PDUs are sent in order")
  func orderOfResponses() {
    var pair = GATTPair(.with(.dynamic(0x2A37, [.indicate, .read])))
    #expect(pair.perform(.write(23, [2, 0])) == .success(.done))
    pair.peripheral.update(22, with: [1], at: pair.now)
    pair.peripheral.update(22, with: [2], at: pair.now)
    pair.peripheral.receive(hex("0a0300"), database: &pair.database, at: pair.now)
    #expect(pair.peripheral.takePDU(at: pair.now)?.opcode == .handleValueIndication)
    #expect(pair.peripheral.takePDU(at: pair.now)?.opcode == .readResponse)
    #expect(pair.peripheral.takePDU(at: pair.now) == nil)
  }

  @Test(
    "The client subscribes to Service Changed by itself after services have been discovered, and reports changes")
  func serviceChanged() throws {
    var pair = GATTPair(.named())
    #expect(pair.perform(.read(3)) == .success(.value(ByteSlice("Sensor".utf8))))
    #expect(!pair.sent.contains(.writeRequest))
    #expect(pair.perform(.discoverPrimaryService(0x180D)) == .success(.services([])))
    #expect(pair.sent.last == .writeRequest)
    let placement = try pair.database.add(
      GATTServiceDefinition(uuid: 0x180D, isPrimary: true, includes: [], characteristics: [.dynamic(0x2A37, .notify)]))
    pair.peripheral.databaseChanged(placement.range, in: pair.database, at: pair.now)
    pair.run()
    #expect(pair.centralEvents.last == .servicesChanged(20...23, services: []))
    // The client reads the hash of the current database.
    #expect(pair.sent.suffix(2) == [.handleValueConfirmation, .readByTypeRequest])
    #expect(pair.peripheralEvents == [.mtuChanged(517)])
  }

  @Test("Changes during a pending indication are merged into one indication")
  func serviceChangedMerged() {
    var pair = GATTPair(.named())
    _ = pair.perform(.discoverPrimaryServices)
    for handle in [AttributeHandle(20), 40, 30] {
      pair.peripheral.databaseChanged(handle...handle + 1, in: pair.database, at: pair.now)
    }
    pair.run()
    let events = pair.centralEvents.filter { if case .servicesChanged = $0 { true } else { false } }
    #expect(events == [.servicesChanged(20...41, services: [])])
  }

  @Test("6.15 Removing a service ends the subscriptions to it")
  func removal() throws {
    var pair = GATTPair(.with(.dynamic(0x2A37, .notify)))
    #expect(pair.perform(.write(23, [1, 0])) == .success(.done))
    let removed = pair.database.remove(declaration: 20)
    let range = try #require(removed)
    #expect(range == 20...23)
    pair.peripheral.databaseChanged(range, in: pair.database, at: pair.now)
    pair.run()
    #expect(pair.peripheralEvents.last == .subscriptionChanged(22, []))
    #expect(pair.perform(.read(22)) == .failure(.att(.invalidHandle)))
  }

  @Test("Procedures run one after the other, in order", .requirement("L142"))
  func order() {
    var pair = GATTPair(.with(.dynamic(0x2A39, [.read, .write])), maximumMTU: 23)
    pair.values[22] = pattern(50)
    pair.central.request(.read(22), token: 1, at: pair.now)
    pair.central.request(.write(22, [9]), token: 2, at: pair.now)
    pair.central.request(.read(22), token: 3, at: pair.now)
    pair.run()
    #expect(
      pair.centralEvents == [
        .completed(1, .success(.value(pattern(50)))), .completed(2, .success(.done)),
        .completed(3, .success(.value([9]))),
      ])
  }

  @Test(
    "Endless commands do not delay a response, and endless notifications do not delay a request", .requirement("L145"))
  func turns() {
    var pair = GATTPair(.with(.dynamic(0x2A37, .notify)))
    #expect(pair.perform(.write(23, [1, 0])) == .success(.done))
    for token in GATTToken(1)...9 { pair.central.request(.writeWithoutResponse(22, [1]), token: token, at: pair.now) }
    pair.central.receive(hex("0a0300"), database: &pair.centralDatabase, at: pair.now)
    let ofCentral = [pair.central.takePDU(at: .zero)?.opcode, pair.central.takePDU(at: .zero)?.opcode]
    #expect(Set(ofCentral) == [.writeCommand, .readResponse])
    for _ in 1...9 { pair.peripheral.update(22, with: [1], at: pair.now) }
    pair.peripheral.request(.read(3), token: 1, at: pair.now)
    let ofPeripheral = [pair.peripheral.takePDU(at: .zero)?.opcode, pair.peripheral.takePDU(at: .zero)?.opcode]
    #expect(Set(ofPeripheral) == [.handleValueNotification, .readRequest])
  }

  @Test(
    "The client's configuration selects a notification, an indication or neither for an update", .requirement("A005"))
  func configurationDecides() {
    var pair = GATTPair(.with(.dynamic(0x2A37, [.notify, .indicate])))
    #expect(update(&pair, [1, 0]) == .handleValueNotification(handle: 22, value: [7]))
    #expect(update(&pair, [2, 0]) == .handleValueIndication(handle: 22, value: [7]))
    pair.peripheral.receive([0x1E], database: &pair.database, at: pair.now)
    #expect(update(&pair, [0, 0]) == nil)
  }

  /// Configures the characteristic, updates it and returns the PDU that the server sends.
  private func update(_ pair: inout GATTPair, _ configuration: ByteSlice) -> ATT.PDU? {
    #expect(pair.perform(.write(23, configuration)) == .success(.done))
    pair.peripheral.update(22, with: [7], at: pair.now)
    return pair.peripheral.takePDU(at: pair.now)
  }

  @Test("Both sides can be client and server at the same time", .requirement("A006", "L003"))
  func bothWays() {
    var pair = GATTPair(.named())
    pair.peripheral.request(.read(3), token: 1, at: pair.now)
    pair.central.request(.read(3), token: 2, at: pair.now)
    pair.run()
    #expect(pair.peripheralEvents.last == .completed(1, .success(.value(ByteSlice("Phone".utf8)))))
    #expect(pair.centralEvents.last == .completed(2, .success(.value(ByteSlice("Sensor".utf8)))))
  }
}
