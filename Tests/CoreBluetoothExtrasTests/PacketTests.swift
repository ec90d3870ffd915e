import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// Scans for advertising packets as they are.
@Suite struct PacketTests {
  private static let flags: [UInt8] = [2, 0x01, 0x06]

  /// A world with an advertiser of each kind, and a phone.
  private struct Scene {
    let world = World(seed: 3)
    let stage: AppStage
    let phone: Device
    let central: Central

    init() {
      stage = AppStage(world)
      phone = world.makeDevice(named: "phone")
      central = Central(adapter: phone)
      for (number, kind) in [Advertising.Kind.connectable, .scannable, .broadcast].enumerated() {
        var advertising = Advertising(
          AdvertisingPayload(fitting: [.flags(), .name("\(number)")]),
          scanResponse: AdvertisingPayload(fitting: [.services([0x180D])]))
        advertising.kind = kind
        world.add(
          Broadcaster(advertising), named: "advertiser \(number)", DeviceOptions(position: Position(x: 1)))
      }
    }

    /// Returns the packets that arrive within this time.
    func receive(for time: Duration, isActive: Bool, includesLECoded: Bool = false) throws -> [AdvertisingPacket] {
      let packets = Box<[AdvertisingPacket]>([])
      let now = Box<[Duration]>([])
      let scan = stage.start { [central, world] in
        try await central.waitUntilPoweredOn()
        for try await packet in central.packets(isActive: isActive, includesLECoded: includesLECoded) {
          packets.append(packet)
          now.append(world.now)
        }
      }
      stage.run(for: time)
      scan.cancel()
      #expect(outcome { try stage.value(of: scan) } == .cancelled)
      #expect(!central.isScanning && central.pendingCount == 0)
      // Each packet has the time at which the controller reported it.
      #expect(packets.value.map(\.time) == now.value)
      return packets.value
    }
  }

  @Test("An active scan reports each packet and scan response with its type, octets, level and time")
  func active() throws {
    let scene = Scene()
    let packets = try scene.receive(for: .seconds(2), isActive: true)
    #expect(Set(packets.map(\.pduType)) == [.advInd, .advScanInd, .advNonconnInd, .scanRsp])
    for packet in packets {
      switch packet.pduType {
      case .scanRsp: #expect(packet.data == Data([3, 0x03, 0x0D, 0x18]) && !packet.isConnectable)
      case .advInd: #expect(packet.data == Data(Self.flags + [2, 0x09, 0x30]) && packet.isConnectable)
      default: #expect(packet.data.prefix(3) == Data(Self.flags) && !packet.isConnectable)
      }
      #expect(packet.primaryPHY == .le1M && packet.secondaryPHY == nil && packet.advertisingSID == nil)
      #expect(packet.txPower == nil && packet.periodicInterval == nil && !packet.isTruncated)
      #expect(packet.rssi.map { -60...(-30) ~= $0 } == true)
      #expect(packet.address == packet.peripheral.address)
    }
    let times = packets.map(\.time)
    #expect(times == times.sorted())
    // The two clocks show the same differences.
    let first = try #require(packets.first)
    let last = try #require(packets.last)
    let seconds = (last.time - first.time) / .seconds(1)
    #expect(abs(last.date.timeIntervalSince(first.date) - seconds) < 0.001)
    // At least 18 events of each advertiser in two seconds. A scanner that changes its channel meanwhile receives two
    // packets of one event.
    let events = packets.filter { $0.pduType == .advInd }.map(\.time)
    #expect(18...30 ~= events.count)
    let gaps = zip(events, events.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 < .milliseconds(5) || $0 > .milliseconds(95) })
  }

  @Test("A passive scan reports no scan responses, and a peripheral from it can be connected")
  func passive() throws {
    let scene = Scene()
    let packets = try scene.receive(for: .seconds(1), isActive: false, includesLECoded: true)
    #expect(Set(packets.map(\.pduType)) == [.advInd, .advScanInd, .advNonconnInd])
    let peripheral = try #require(packets.first { $0.isConnectable }).peripheral
    try scene.stage.perform { try await peripheral.connect() }
    #expect(peripheral.state == .connected)
  }

  @Test("A scan for packets and a scan for peripherals of one central end each other")
  func oneScan() throws {
    let scene = Scene()
    let (stage, central) = (scene.stage, scene.central)
    try stage.perform { try await central.waitUntilPoweredOn() }
    let packets = stage.start { for try await _ in central.packets() {} }
    stage.run(for: .seconds(1))
    let discovery = try stage.perform { try await central.scan().first { _ in true } }
    #expect(discovery?.rssi != nil)
    #expect(outcome { try stage.value(of: packets) } == .core(.operationCancelled))
    let scan = stage.start { for try await _ in central.scan() {} }
    stage.run(for: .seconds(1))
    let packet = try stage.perform { try await central.packets().first { _ in true } }
    #expect(packet != nil)
    #expect(outcome { try stage.value(of: scan) } == .core(.operationCancelled))
    scene.phone.setPower(false)
    #expect(outcome { try stage.perform { for try await _ in central.packets() {} } } == .core(.operationCancelled))
  }

  @Test("Scans of two centrals on one adapter share the controller: it asks for scan responses if one needs them")
  func sharedController() throws {
    let scene = Scene()
    let other = Central(adapter: scene.phone)
    let stage = scene.stage
    let names = Box<[String?]>([])
    let scan = stage.start {
      try await other.waitUntilPoweredOn()
      for try await discovery in other.scan(for: [CBUUID(string: "180D")]) {
        names.append(discovery.advertisement.localName)
      }
    }
    stage.run(for: .milliseconds(500))
    let packets = try scene.receive(for: .seconds(1), isActive: false)
    #expect(packets.contains { $0.pduType == .scanRsp })
    scan.cancel()
    #expect(outcome { try stage.value(of: scan) } == .cancelled)
    #expect(Set(names.value) == ["0", "1"])
    let later = try scene.receive(for: .seconds(1), isActive: false)
    #expect(!later.isEmpty && !later.contains { $0.pduType == .scanRsp })
  }

  @Test("Packets that no task has taken keep no peripheral when the scan has ended")
  func bufferedPackets() throws {
    let scene = Scene()
    let (stage, central) = (scene.stage, scene.central)
    let scan = stage.start {
      try await central.waitUntilPoweredOn()
      for try await _ in central.packets() {
        // Waits for something that does not happen, and takes no further packets.
        _ = await central.states.first { $0 == .poweredOff }
      }
    }
    stage.run(for: .seconds(1))
    #expect(central.peripheralCount == 3)
    scan.cancel()
    #expect(outcome { try stage.value(of: scan) } == .cancelled)
    #expect(central.peripheralCount == 0)
  }

  // MARK: Extended advertising

  /// Returns the first packet that a phone receives of this advertising.
  private func packet(
    of parameters: AdvertisingParameters, _ type: AdvertisingPacket.PDUType, includesLECoded: Bool = false
  ) throws -> AdvertisingPacket {
    let meeting = LocalMeeting()
    let (stage, local, central) = (meeting.stage, meeting.local, meeting.central)
    try stage.perform { try await local.waitUntilPoweredOn() }
    let advertising = stage.start { try await local.advertise(parameters) }
    let packet = try stage.perform {
      try await central.waitUntilPoweredOn()
      return try await central.packets(includesLECoded: includesLECoded).first { $0.pduType == type }.orThrow()
    }
    #expect(local.isAdvertising)
    advertising.cancel()
    #expect(outcome { try stage.value(of: advertising) } == .cancelled)
    #expect(!local.isAdvertising && local.pendingCount == 0)
    return packet
  }

  @Test("Extended advertising carries long data on LE 2M, with its SID and transmit power, to a scan for packets")
  func extended() throws {
    var parameters = AdvertisingParameters([
      .flags(), .manufacturerData(company: 0xFFFF, Array(repeating: 7, count: 200)),
    ])
    parameters.kind = .broadcast
    parameters.interval = .milliseconds(50)
    parameters.txPower = -4
    parameters.extended = ExtendedAdvertising(secondaryPHY: .le2M, advertisingSID: 5, includesTxPower: true)
    let packet = try packet(of: parameters, .advExtInd)
    #expect(packet.data.count == 3 + 204 && packet.data.last == 7 && !packet.isTruncated)
    #expect(packet.primaryPHY == .le1M && packet.secondaryPHY == .le2M)
    #expect(packet.advertisingSID == 5 && packet.txPower == -4 && packet.periodicInterval == nil)
    #expect(!packet.isConnectable && !packet.isScannable)
  }

  @Test("Advertising on LE Coded is received by a scan that includes LE Coded")
  func leCoded() throws {
    var parameters = AdvertisingParameters([.flags(), .name("Far")])
    parameters.extended = ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .leCoded)
    let packet = try packet(of: parameters, .advExtInd, includesLECoded: true)
    #expect(packet.primaryPHY == .leCoded && packet.secondaryPHY == .leCoded && packet.isConnectable)
    #expect(packet.data == Data([2, 1, 6, 4, 9, 0x46, 0x61, 0x72]))
  }

  @Test("An extended scan response has its own type, and legacy advertising with parameters its kind")
  func kinds() throws {
    var parameters = AdvertisingParameters([], scanResponse: [.name("Response")])
    parameters.kind = .scannable
    parameters.extended = ExtendedAdvertising()
    #expect(try packet(of: parameters, .auxScanRsp).data.count == 10)
    parameters.extended = nil
    parameters.data = [.flags()]
    #expect(try packet(of: parameters, .advScanInd).data == Data([2, 1, 6]))
    #expect(try packet(of: parameters, .scanRsp).data.count == 10)
    parameters.kind = .broadcast
    #expect(try packet(of: parameters, .advNonconnInd).data == Data([2, 1, 6]))
  }

  @Test("A central connects to extended advertising on LE Coded, and reads")
  func connecting() throws {
    let meeting = LocalMeeting()
    let (stage, local, central) = (meeting.stage, meeting.local, meeting.central)
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.read]) { _ in Data([6]) }
    try stage.perform {
      try await local.waitUntilPoweredOn()
      try await local.add(LocalService(LocalMeeting.service, [characteristic]))
    }
    var parameters = AdvertisingParameters([.flags(), .services([0xFF00])])
    parameters.extended = ExtendedAdvertising(advertisingSID: 1)
    let value = try stage.perform { [parameters] in
      try await local.withAdvertising(parameters) {
        try await central.findLocal().read()
      }
    }
    #expect(value == Data([6]) && !local.isAdvertising)
  }

  @Test("Advertising with values out of range is refused, and so is a second one beside it on the adapter")
  func refusals() throws {
    let meeting = LocalMeeting()
    let (stage, local) = (meeting.stage, meeting.local)
    try stage.perform { try await local.waitUntilPoweredOn() }
    func refused(_ change: (inout AdvertisingParameters) -> Void) -> Outcome {
      var parameters = AdvertisingParameters([.flags()])
      change(&parameters)
      return outcome { try stage.perform { [parameters] in try await local.advertise(parameters) } }
    }
    let long = ADStructure.manufacturerData(company: 1, Array(repeating: 0, count: 30))
    #expect(refused { $0.interval = .milliseconds(19) } == .core(.invalidParameters))
    #expect(refused { $0.interval = .seconds(11) } == .core(.invalidParameters))
    #expect(refused { $0.txPower = 21 } == .core(.invalidParameters))
    #expect(refused { $0.extended = ExtendedAdvertising(primaryPHY: .le2M) } == .core(.invalidParameters))
    #expect(refused { $0.extended = ExtendedAdvertising(advertisingSID: 16) } == .core(.invalidParameters))
    #expect(refused { $0.extended = ExtendedAdvertising(isAnonymous: true) } == .core(.invalidParameters))
    #expect(
      refused { $0.data = [ADStructure(.flags, Array(repeating: 0, count: 255))] } == .core(.invalidParameters))
    #expect(refused { $0.data = [long] } == .core(.outOfSpace))
    #expect(local.pendingCount == 0)
    let other = LocalPeripheral(adapter: meeting.device)
    try stage.perform { try await other.waitUntilPoweredOn() }
    let first = stage.start { try await local.advertise(AdvertisingParameters([.flags()])) }
    stage.run(until: { local.isAdvertising })
    #expect(outcome { try stage.perform { try await other.advertise() } } == .core(.alreadyAdvertising))
    first.cancel()
    #expect(outcome { try stage.value(of: first) } == .cancelled)
    let second = stage.start { try await other.advertise() }
    stage.run(until: { other.isAdvertising })
    #expect(refused { _ in } == .core(.alreadyAdvertising))
    second.cancel()
    #expect(outcome { try stage.value(of: second) } == .cancelled)
  }
}
