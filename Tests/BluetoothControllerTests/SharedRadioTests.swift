import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("One radio for several connections")
struct SharedRadioTests {
  @Test("A central keeps ten connections, and each transfers its data", .requirement("L002", "L171"))
  func manyPeripherals() throws {
    let air = PerfectAir()
    let central = ControllerHarness("central", address: 0x1111_1111_1111) { $0.aclBufferCount = 250 }
    air.start(central)
    let peripherals = (0..<10).map { ControllerHarness("peripheral \($0)", address: 0x2222_2222_0000 + UInt64($0)) }
    for peripheral in peripherals {
      air.start(peripheral)
      peripheral.advertise()
      central.connect(to: peripheral)
      #expect(air.run(until: { !peripheral.connectionCompletes.isEmpty }))
    }
    air.clearLog()
    air.run(for: .seconds(10))
    #expect(central.disconnections.isEmpty)
    // The connection events are placed where they do not overlap.
    #expect(air.log.count { $0.device == 0 } >= 10 * 330)
    for (number, complete) in central.connectionCompletes.enumerated() {
      for _ in 0..<20 { central.send(Array(repeating: UInt8(number), count: 27), on: complete.handle) }
    }
    air.run(for: .seconds(2))
    for (number, peripheral) in peripherals.enumerated() {
      #expect(peripheral.data.count == 20)
      #expect(peripheral.data.allSatisfy { $0.payload[0] == UInt8(number) })
    }
  }

  @Test("Two connections with the same anchor points share them without starvation")
  func collision() throws {
    let air = PerfectAir()
    let peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222)
    air.start(peripheral)
    var centrals: [ControllerHarness] = []
    for number in 0..<2 {
      let central = ControllerHarness("central", address: 0x1111_1111_0000 + UInt64(number), seed: UInt64(number))
      air.start(central)
      centrals.append(central)
      peripheral.advertise()
      central.connect(to: peripheral)
      air.run(until: { !central.connectionCompletes.isEmpty })
    }
    // The second connection gets the anchor points of the first.
    let start = centrals[0].controller.connections[0].schedule.start
    centrals[1].controller.connections[0].schedule.anchored(at: start - .milliseconds(30))
    centrals[1].controller.connections[0].schedule.advance()
    let place = try #require(peripheral.controller.connections.indices.last)
    peripheral.controller.connections[place].schedule.anchored(at: start - .milliseconds(30))
    peripheral.controller.connections[place].schedule.advance()
    air.run(for: .seconds(30))
    #expect(peripheral.disconnections.isEmpty)
    for (central, complete) in zip(centrals, peripheral.connectionCompletes) {
      #expect(central.disconnections.isEmpty)
      peripheral.send([1], on: complete.handle)
      air.run(for: .seconds(1))
      #expect(central.data.count == 1)
    }
  }

  @Test("Long packets on one connection leave time for another connection", arguments: [400, 900, 1_400, 1_900, 2_400])
  func longPackets(distance: Int64) throws {
    let air = PerfectAir()
    let peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222)
    air.start(peripheral)
    var centrals: [ControllerHarness] = []
    for number in 0..<2 {
      let central = ControllerHarness("central", address: 0x1111_1111_0000 + UInt64(number), seed: UInt64(number)) {
        $0.aclBufferCount = 1_000
      }
      air.start(central)
      central.send(.leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2120)))
      centrals.append(central)
      peripheral.advertise()
      central.connect(to: peripheral)
      air.run(until: { !central.connectionCompletes.isEmpty })
    }
    air.run(for: .milliseconds(500))
    // The second connection's anchor points come shortly after those of the first.
    let start = centrals[0].controller.connections[0].schedule.start + .microseconds(distance)
    centrals[1].controller.connections[0].schedule.anchored(at: start - .milliseconds(30))
    centrals[1].controller.connections[0].schedule.advance()
    let place = try #require(peripheral.controller.connections.indices.last)
    peripheral.controller.connections[place].schedule.anchored(at: start - .milliseconds(30))
    peripheral.controller.connections[place].schedule.advance()
    let handle = try #require(centrals[0].connectionCompletes.first).handle
    for number in 0..<400 { centrals[0].send(Array(repeating: UInt8(number % 256), count: 251), on: handle) }
    air.run(for: .seconds(10))
    #expect(peripheral.disconnections.isEmpty)
    for central in centrals { #expect(central.disconnections.isEmpty) }
    #expect(peripheral.data.count { $0.payload.count == 251 } > 100)
    let second = try #require(centrals[1].connectionCompletes.first).handle
    centrals[1].send([1, 2, 3], on: second)
    air.run(for: .seconds(1))
    #expect(peripheral.data.contains { $0.payload == [1, 2, 3] })
  }

  @Test("A connection full of data leaves time for advertising and scanning", arguments: [6, 24, 80])
  func fullConnection(interval: UInt16) throws {
    let length = HCI.DataLength(octets: 251, time: 2120)
    let link = try LinkHarness(
      interval: interval, central: { $0.aclBufferCount = 10_000 }, peripheral: { $0.aclBufferCount = 10_000 },
      prepare: { central, peripheral in
        for device in [central, peripheral] { device.send(.leWriteSuggestedDefaultDataLength(length)) }
      })
    let other = ControllerHarness("other", address: 0x3333_3333_3333)
    link.air.add(other)
    other.start()
    other.scan()
    other.advertise()
    link.peripheral.advertise()
    link.central.scan()
    for _ in 0..<4_000 { link.peripheral.send(Array(repeating: 7, count: 251), on: link.peripheralHandle) }
    link.air.run(for: .seconds(4))
    #expect(link.central.disconnections.isEmpty)
    // The connection is still full, and has transferred most of its capacity.
    #expect(link.peripheral.completedPackets < 4_000)
    #expect(link.central.data.count > 800)
    #expect(other.reports.count { $0.address == HCI.PeerAddress(link.peripheral.address) } >= 10)
    #expect(link.central.reports.count { $0.address == HCI.PeerAddress(other.address) } >= 4)
  }

  @Test("One seed gives the same packets at the same instants")
  func determinism() throws {
    func packets(seed: UInt64) -> [(Instant, AirPacket)] {
      let air = PerfectAir()
      let central = ControllerHarness("central", address: 0x1111_1111_1111, seed: seed)
      let peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222, seed: seed)
      air.start(central, peripheral)
      peripheral.advertise()
      central.scan(isActive: true)
      air.run(for: .seconds(2))
      central.connect(to: peripheral)
      air.run(for: .seconds(2))
      return air.log.map { ($0.start, $0.packet) }
    }
    let (one, two, other) = (packets(seed: 3), packets(seed: 3), packets(seed: 4))
    #expect(one.map(\.0) == two.map(\.0) && one.map(\.1) == two.map(\.1))
    #expect(one.map(\.0) != other.map(\.0))
  }

  @Test("After any random mixture of commands, loss and data, each device serves a newcomer", arguments: 0..<20)
  func mixture(seed: Int) {
    let air = PerfectAir()
    var random = RandomStream(seed: UInt64(seed))
    let devices = (0..<3).map {
      ControllerHarness("device \($0)", address: 0x1000_0000_0000 + UInt64($0), seed: UInt64(seed))
    }
    for device in devices {
      air.start(device)
    }
    var airRandom = RandomStream(seed: UInt64(seed) + 1_000)
    air.outcome = { transmission in
      switch airRandom.next() % 20 {
      case 0: return .lost
      case 1: return .corrupt
      case 2:
        transmission.packet.header = UInt16(truncatingIfNeeded: airRandom.next())
        return .arrives
      case 3:
        transmission.packet.payload = ByteSlice((0..<airRandom.next() % 40).map { _ in UInt8(airRandom.next() & 0xFF) })
        transmission.packet.header = transmission.packet.header & 0xFF | UInt16(transmission.packet.payload.count) << 8
        return .arrives
      default: return .arrives
      }
    }
    for _ in 0..<300 {
      let device = devices[Int(random.next() % 3)]
      let peer = devices[Int(random.next() % 3)]
      let handle = device.connectionCompletes.last?.handle ?? HCI.ConnectionHandle(rawValue: 1)
      switch random.next() % 12 {
      case 0: device.send(.leSetAdvertisingEnable(true))
      case 1: device.send(.leSetAdvertisingEnable(false))
      case 2: device.send(.leSetScanEnable(true, filterDuplicates: random.next() & 1 == 0))
      case 3: device.send(.leSetScanEnable(false, filterDuplicates: false))
      case 4, 5: device.send(.leCreateConnection(.to(peer, interval: 6 + UInt16(random.next() % 40))))
      case 6: device.send(.leCreateConnectionCancel)
      case 7: device.send(.disconnect(handle, reason: .remoteUserTerminatedConnection))
      case 8: device.send(.leReadRemoteFeatures(handle))
      case 9: device.send(.leSetHostChannelClassification(random.next()))
      case 10: if random.next() % 8 == 0 { device.start() }
      default: device.send(Array(repeating: 1, count: Int(random.next() % 60)), on: handle)
      }
      air.run(for: .milliseconds(Int64(random.next() % 200)))
    }
    // No device retains any state, and each serves a newcomer.
    air.outcome = { _ in .arrives }
    for device in devices { device.stopEverything() }
    // The longest supervision timeout is 32 s, and that of procedures 40 s.
    air.run(for: .seconds(80))
    for device in devices {
      let heldPackets = device.controller.heldPackets
      #expect(device.controller.connections.isEmpty && heldPackets == 0)
      #expect(device.servesLateJoiner())
    }
  }
}
