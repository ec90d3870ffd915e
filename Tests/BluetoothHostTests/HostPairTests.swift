import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Two hosts with one link between them, and controllers that relay their packets.
struct HostPair {
  var central = HostHarness()
  var peripheral = HostHarness()
  let atCentral: HCI.ConnectionHandle
  let atPeripheral: HCI.ConnectionHandle
  /// Changes the packets from the peripheral to the central on their way.
  var rewriting: ([UInt8]) -> [UInt8] = { $0 }

  /// - Parameter configuration: the configuration of the central; nil: the usual one.
  init(aclLength: UInt16, aclCount: UInt8, configuration: HostConfiguration? = nil) {
    if let configuration { central = HostHarness(configuration: configuration) }
    central.facts.aclLength = aclLength
    central.facts.aclCount = aclCount
    peripheral.facts.aclLength = aclLength
    peripheral.facts.aclCount = aclCount
    central.powerOn()
    peripheral.powerOn()
    atCentral = central.link(.central, handle: 1, to: DeviceAddress(0xC000_0000_0AAA, .random))
    atPeripheral = peripheral.link(.peripheral, handle: 2, to: DeviceAddress(0xC000_0000_0BBB, .random))
  }

  /// Relays packets until neither host has any.
  mutating func run() {
    while !central.data.isEmpty || !peripheral.data.isEmpty { pass() }
  }

  /// Relays the packets that are pending at the moment.
  mutating func pass() {
    Self.pass(&central, to: &peripheral, on: atPeripheral) { $0 }
    Self.pass(&peripheral, to: &central, on: atCentral, rewriting)
  }

  /// Ends the link, and begins another one.
  ///
  /// - Parameter forgets: true if the central forgets the attributes of servers in between.
  mutating func reconnect(forgets: Bool = false) {
    central.receive(.disconnectionComplete(.success, atCentral, reason: .remoteUserTerminatedConnection))
    peripheral.receive(.disconnectionComplete(.success, atPeripheral, reason: .connectionTerminatedByLocalHost))
    if forgets { central.perform { host, _ in host.forgetRemoteDatabase(of: nil) } }
    central.link(.central, handle: 1, to: DeviceAddress(0xC000_0000_0AAA, .random))
    peripheral.link(.peripheral, handle: 2, to: DeviceAddress(0xC000_0000_0BBB, .random))
    run()
  }

  private static func pass(
    _ sender: inout HostHarness, to receiver: inout HostHarness, on handle: HCI.ConnectionHandle,
    _ rewriting: ([UInt8]) -> [UInt8]
  ) {
    let packets = sender.data
    sender.data.removeAll()
    for packet in packets {
      let boundary: HCI.ACLData.Boundary = packet.boundary == .continuing ? .continuing : .firstFlushable
      receiver.receive(rewriting(packet.payload.bytes), on: handle, boundary)
      sender.receive(.numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: sender.pool)))
    }
  }

  mutating func request(_ request: GATTRequest) -> Result<GATTResponse, GATTError>? {
    let handle = atCentral
    central.events.removeAll()
    central.perform { host, now in host.request(request, token: 7, on: handle, at: now) }
    run()
    for case .gatt(_, .completed(7, let result)) in central.events { return result }
    return nil
  }
}

struct HostPairTests {
  private let value = ByteSlice((0..<500).map { UInt8(truncatingIfNeeded: $0) })

  private func pair(_ aclLength: UInt16, _ aclCount: UInt8) throws -> (HostPair, GATTServicePlacement) {
    var pair = HostPair(aclLength: aclLength, aclCount: aclCount)
    pair.run()
    let definition = GATTServiceDefinition(
      uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(uuid: 0x2A38, properties: .read, permissions: .readable, value: value),
        GATTCharacteristicDefinition(
          uuid: 0x2A37, properties: [.notify, .write], permissions: .writeable, value: nil),
      ])
    let placement = try pair.peripheral.host.addService(definition, at: .zero).get()
    pair.peripheral.run()
    pair.run()
    return (pair, placement)
  }

  @Test("The services of a peer without Service Changed are known on the next link, if the host keeps them")
  func unbondedServices() {
    for (keeps, hasServiceChanged) in [(true, false), (true, true), (false, false)] {
      var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
      configuration.keepsUnbondedServices = keeps
      var pair = HostPair(aclLength: 251, aclCount: 8, configuration: configuration)
      // Find Information Response: Service Changed becomes a characteristic that is not assigned.
      pair.rewriting = { octets in
        guard !hasServiceChanged, octets.count > 4, octets[4] == 0x05 else { return octets }
        return octets.indices.map { $0 > 5 && octets[$0 - 1] == 0x05 && octets[$0] == 0x2A ? 0xFF : octets[$0] }
      }
      pair.run()
      guard case .success(.services(let services))? = pair.request(.discoverPrimaryServices) else {
        Issue.record("no services")
        return
      }
      pair.run()
      pair.reconnect()
      let known = pair.central.host.remoteDatabase(on: pair.atCentral).primaryServices
      #expect(known == (keeps && !hasServiceChanged ? services : nil))
      pair.reconnect()
      #expect(pair.central.host.remoteDatabase(on: pair.atCentral).primaryServices == known)
      pair.reconnect(forgets: true)
      #expect(pair.central.host.remoteDatabase(on: pair.atCentral).primaryServices == nil)
    }
  }

  @Test("The MTU exchange starts as soon as the link exists", arguments: [(27, 1), (251, 8)] as [(UInt16, UInt8)])
  func mtu(_ length: UInt16, _ count: UInt8) throws {
    let (pair, _) = try pair(length, count)
    #expect(pair.central.host.mtu(of: pair.atCentral) == 517)
    #expect(pair.peripheral.host.mtu(of: pair.atPeripheral) == 517)
    #expect(pair.central.host.mtu(of: HCI.ConnectionHandle(rawValue: 9)) == 23)
  }

  @Test(
    "Services are discovered and a long value is read through controllers with small and large buffers",
    arguments: [(27, 1), (27, 3), (251, 8), (1021, 2)] as [(UInt16, UInt8)])
  func read(_ length: UInt16, _ count: UInt8) throws {
    var (pair, placement) = try pair(length, count)
    guard case .success(.services(let services))? = pair.request(.discoverPrimaryServices) else {
      Issue.record("no services")
      return
    }
    #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x180D])
    guard case .success(.value(let read))? = pair.request(.read(placement.values[0])) else {
      Issue.record("no value")
      return
    }
    #expect(read == value)
  }

  @Test(
    "A long write reaches the upper layer of the server, and the answer reaches the client",
    arguments: [(27, 1), (251, 8)] as [(UInt16, UInt8)])
  func write(_ length: UInt16, _ count: UInt8) throws {
    var (pair, placement) = try pair(length, count)
    #expect(pair.request(.write(placement.values[1], value)) == nil)
    var number: GATTServerRequest?
    for case .gatt(_, .writeRequested(let request, let parts)) in pair.peripheral.events {
      number = request
      #expect(parts.map(\.value) == [value])
    }
    let request = try #require(number)
    let handle = pair.atPeripheral
    pair.peripheral.perform { host, now in
      host.respond(to: request, on: handle, with: .success([]), at: now)
    }
    pair.run()
    let isDone = pair.central.events.contains {
      if case .gatt(_, .completed(7, .success(.done))) = $0 { true } else { false }
    }
    #expect(isDone)
  }

  @Test("Notifications arrive in order, and each delivery makes room for the next")
  func notify() throws {
    var (pair, placement) = try pair(27, 2)
    let configuration = placement.values[1] + 1
    guard case .success(.done)? = pair.request(.write(configuration, [1, 0])) else {
      Issue.record("not subscribed")
      return
    }
    let handle = pair.atPeripheral
    let characteristic = placement.values[1]
    for number: UInt8 in 0..<20 {
      let bytes = ByteSlice([UInt8](repeating: number, count: 100))
      pair.peripheral.perform { host, now in host.update(characteristic, with: bytes, on: handle, at: now) }
    }
    pair.run()
    let received = pair.central.events.compactMap { event -> UInt8? in
      if case .gatt(_, .valueReceived(characteristic, let bytes)) = event, bytes.count == 100 { return bytes[99] }
      return nil
    }
    #expect(received == Array(0..<20))
    let sent = pair.peripheral.events.count { if case .gatt(_, .updateSent) = $0 { true } else { false } }
    #expect(sent == 20)
  }

  @Test("In the steady state the pools allocate no further storage")
  func pools() throws {
    var (pair, placement) = try pair(251, 8)
    for _ in 0..<10 { _ = pair.request(.read(placement.values[0])) }
    let counts = [pair.central.pool.count, pair.peripheral.pool.count]
    for _ in 0..<1000 { _ = pair.request(.read(placement.values[0])) }
    #expect([pair.central.pool.count, pair.peripheral.pool.count] == counts)
  }
}
