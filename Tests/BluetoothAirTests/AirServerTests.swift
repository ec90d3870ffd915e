import BluetoothAir
import BluetoothLab
import BluetoothTransport
import BluetoothWire
import Foundation
import Requirements
import Testing

/// An air of a test, with the specifier at which hosts join it.
struct ServerFixture {
  let server: AirServer
  let specifier: TransportSpecifier

  init(_ options: AirOptions = AirOptions()) throws {
    server = AirServer(options)
    specifier = try server.listen(at: .tcp(host: "127.0.0.1", port: 0))
  }

  func host(room: Int32? = nil) throws -> HostSocket {
    let host = try HostSocket(specifier, room: room)
    try host.reset()
    return host
  }

  /// Waits until the air has `count` hosts. A host counts until the air has noticed that it has left.
  func waitForHosts(_ count: Int) throws {
    let isReached = DispatchSemaphore(value: 0)
    try server.observeHosts { if $0 == count { isReached.signal() } }
    isReached.wait()
    try server.observeHosts(nil)
  }
}

@Suite(.timeLimit(.minutes(10))) struct AirServerTests {
  @Test("Each connection is a separate controller, and a new host gets the place of one that has left")
  func places() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    let first = try air.host()
    let address = try first.address()
    do {
      let second = try air.host()
      #expect(try second.address() != address)
    }
    try air.waitForHosts(1)
    let third = try air.host()
    #expect(try third.address() != address)
    #expect(air.server.controllerSlots.map(\.isTaken) == [true, true])
    #expect(air.server.controllerSlots.map(\.name) == ["hci-1", "hci-2"])
  }

  @Test("Hosts join by TCP and by a Unix socket at the same time, and only its owner can use the socket")
  func unixSocket() throws {
    let air = try ServerFixture()
    let path = "/tmp/air-\(UUID().uuidString)"
    _ = try air.server.listen(at: .unix(path: path))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let (one, other) = (try air.host(), try HostSocket(.unix(path: path)))
    try other.reset()
    #expect(try one.address() != other.address())
    #expect(throws: AirError.self) { try air.server.listen(at: .unix(path: path)) }
    try air.server.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    "Two hosts find each other, connect and exchange data", .requirement("L074"),
    arguments: [AirOptions.Speed.times(100), .maximum])
  func connecting(speed: AirOptions.Speed) throws {
    var options = AirOptions()
    options.speed = speed
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    let pair = try ConnectedPair(air)
    let sent = (0..<200).map { number in [UInt8](repeating: UInt8(number), count: 100) }
    // The controller has room for no more at a time.
    for start in stride(from: 0, to: sent.count, by: 50) {
      let part = sent[start..<start + 50]
      for payload in part { try pair.central.send(pair.data(payload, on: pair.centralHandle)) }
      for payload in part { try #require(try pair.nextData(at: pair.peripheral) == payload) }
    }
  }

  @Test("A host that sends garbage gets Hardware Error, and resumes with Reset")
  func garbage() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    let (host, other) = (try air.host(), try air.host())
    try host.send([0x55, 0xAA, 0x01, 0x00])
    _ = try host.event(0x10)
    #expect(try host.command(0x0C03) == [0])
    #expect(try other.address().count == 6)
  }

  @Test("A session that is cut at any octet ends its controller and affects no other host")
  func cutting() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    let witness = try air.host()
    // Reset, advertising parameters, data, enable; ACL data on an unknown handle.
    let session: [UInt8] =
      [1, 0x03, 0x0C, 0]
      + [1, 0x06, 0x20, 15, 0xA0, 0, 0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0]
      + [1, 0x0A, 0x20, 1, 1] + [2, 0x01, 0x00, 8, 0, 4, 0, 4, 0, 1, 2, 3, 4] + [1, 0x0A, 0x20, 1, 0]
    for count in 0...session.count {
      let host = try HostSocket(air.specifier)
      try host.send(Array(session.prefix(count)))
    }
    try air.waitForHosts(1)
    #expect(try witness.address().count == 6)
    #expect(try air.host().address().count == 6)
  }

  @Test("A thousand hosts that join and leave free all their places")
  func comingAndLeaving() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    for _ in 0..<1_000 {
      let host = try HostSocket(air.specifier)
      try host.command(0x0C03)
    }
    try air.waitForHosts(0)
    // A host may leave while the next one joins: few places are ever needed at once.
    #expect(air.server.controllerSlots.count < 20)
    #expect(air.server.world.deviceNames.count == air.server.controllerSlots.count)
  }

  @Test("The air stops reading from a host that reads nothing, and serves the other hosts")
  func unresponsiveHost() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    let (unresponsive, other) = (try air.host(room: 4_096), try air.host())
    // Its answers fill every buffer on the way, so the air stops accepting commands at some point.
    let commands = [[UInt8]](repeating: [1, 0x02, 0x10, 0], count: 4_096).flatMap { $0 }
    unresponsive.limitSending(milliseconds: 300)
    var taken = 0
    while taken < 10_000, (try? unresponsive.send(commands)) != nil { taken += 1 }
    #expect(taken < 10_000)
    #expect(try other.address().count == 6)
  }

  @Test("A host that reads nothing loses its connection when its peer causes too many events")
  func unresponsivePeer() throws {
    var options = AirOptions()
    options.waitingLimit = 20
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    let (central, unresponsive) = (try air.host(), try air.host(room: 4_096))
    let handle = try central.connect(to: unresponsive)
    // Until the air accepts nothing for so long that it must have stopped reading.
    let commands = [[UInt8]](repeating: [1, 0x02, 0x10, 0], count: 64).flatMap { $0 }
    unresponsive.limitSending(milliseconds: 500)
    while (try? unresponsive.send(commands)) != nil {}
    // Its controller answers each change of the data length, and each change causes an event.
    var (isLinked, isLong) = (true, false)
    while isLinked {
      isLong.toggle()
      let length: [UInt8] = isLong ? [251, 0, 0x48, 0x08] : [27, 0, 0x48, 0x01]
      isLinked = try central.command(0x2022, handle + length)[0] == 0
      while isLinked, case .event(let code, let parameters)? = try central.next() {
        if code == 0x3E, parameters[0] == 0x07 { break }
        isLinked = code != 0x05
      }
    }
    try air.waitForHosts(1)
    #expect(try central.address().count == 6)
  }

  @Test("A host that sends thousands of commands at once gets each answer once, in order")
  func manyAnswers() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    let host = try air.host()
    // More than a socket accepts at once: Read Local Supported Commands, with a different command at the end.
    for _ in 0..<4_000 { try host.send([1, 0x02, 0x10, 0]) }
    try host.send([1, 0x09, 0x10, 0])
    var answers: [ByteSlice] = []
    while answers.count < 4_001, case .event(0x0E, let parameters)? = try host.next() { answers.append(parameters) }
    #expect(answers.dropLast().allSatisfy { $0[1] == 0x02 })
    #expect(answers.last?[1] == 0x09)
    // No answer came twice.
    #expect(try host.address().count == 6)
  }

  @Test("An event that was delayed for a host that has left does not reach the next host")
  func delayedForAnother() throws {
    var options = AirOptions()
    options.speed = .times(1_000)
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    air.server.world.add([.hci(.delay(.seconds(5)), HCIMatch(.event(0x0E)), .number(1))])
    do { try HostSocket(air.specifier).send([1, 0x02, 0x10, 0]) }
    try air.waitForHosts(0)
    let next = try HostSocket(air.specifier)
    // Far longer than 5 ms.
    for _ in 0..<300 {
      try next.send([1, 0x09, 0x10, 0])
      guard case .event(0x0E, let parameters)? = try next.next() else { break }
      try #require(parameters[1] == 0x09)
    }
  }

  @Test("An air that is full refuses hosts")
  func fullAir() throws {
    var options = AirOptions()
    options.hostLimit = 1
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    let host = try air.host()
    let late = try HostSocket(air.specifier)
    #expect(try late.next() == nil)
    #expect(try host.address().count == 6)
  }

  @Test("An air that is full disconnects the host that has been silent for the longest time, for another one")
  func silentHosts() throws {
    var options = AirOptions()
    options.hostLimit = 3
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    let host = try air.host()
    let silent = try [HostSocket(air.specifier), HostSocket(air.specifier)]
    // The air has taken the connections in their order once the third one is refused or answered.
    let late = try air.host()
    #expect(try silent[0].next() == nil)
    #expect(try silent[1].address().count == 6)
    #expect(try host.address().count == 6 && late.address().count == 6)
    // None is silent any longer.
    #expect(try HostSocket(air.specifier).next() == nil)
  }

  @Test("Hosts get the places of the world file in the order in which they join, and find its devices")
  func givenPlaces() throws {
    var options = AirOptions()
    options.file = try WorldFile(
      text: """
        devices:
          - {name: sensor, accessory: {kind: heart-rate}, address: "C0:FF:EE:00:00:02", position: [1, 0]}
        clients:
          - {name: phone, address: "C0:FF:EE:00:00:01", position: [2, 0]}
        """)
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    let (first, second) = (try air.host(), try air.host())
    #expect(try first.address() == [1, 0, 0, 0xEE, 0xFF, 0xC0])
    #expect(try second.address() != [1, 0, 0, 0xEE, 0xFF, 0xC0])
    #expect(air.server.controllerSlots.map(\.name) == ["phone", "hci-2"])
    // Scanning continuously; the sensor's advertisement is the only one.
    #expect(try first.command(0x200B, [0, 0x10, 0, 0x10, 0, 0, 0]) == [0])
    #expect(try first.command(0x200C, [1, 0]) == [0])
    let report = try first.event(0x3E) { $0[0] == 0x02 }
    #expect(report[1] == 1)
    // The address is public.
    #expect(report[3] == 0)
    #expect((4..<10).map { report[$0] } == [2, 0, 0, 0xEE, 0xFF, 0xC0])
  }
}

/// Two connected hosts of an air.
struct ConnectedPair {
  let central: HostSocket
  let peripheral: HostSocket
  let centralHandle: UInt16
  let peripheralHandle: UInt16

  init(_ air: ServerFixture) throws {
    (central, peripheral) = (try air.host(), try air.host())
    let address = try peripheral.address()
    // Advertises with the shortest interval.
    #expect(
      try peripheral.command(0x2006, [0x20, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0]) == [0])
    #expect(try peripheral.command(0x200A, [1]) == [0])
    // Scans in windows of 30 ms for that address; interval 7.5 ms, supervision timeout 2 s.
    #expect(
      try central.command(
        0x200D, [0x30, 0, 0x30, 0, 0, 0] + address + [0, 6, 0, 6, 0, 0, 0, 0xC8, 0, 0, 0, 0, 0]) == [0])
    centralHandle = try Self.handle(at: central)
    peripheralHandle = try Self.handle(at: peripheral)
  }

  private static func handle(at host: HostSocket) throws -> UInt16 {
    // Enhanced Connection Complete.
    let event = try host.event(0x3E) { $0.count > 4 && $0[0] == 0x0A }
    #expect(event[1] == 0)
    return UInt16(event[2]) | UInt16(event[3]) << 8
  }

  func data(_ payload: [UInt8], on handle: UInt16) -> HCI.Packet {
    .acl(
      HCI.ACLData(
        handle: HCI.ConnectionHandle(rawValue: handle), boundary: .firstNonFlushable, payload: ByteSlice(payload)))
  }

  /// Returns the next 100 octets of data at `host`, from any number of packets.
  func nextData(at host: HostSocket) throws -> [UInt8] {
    var result: [UInt8] = []
    while result.count < 100, let packet = try host.next() {
      if case .acl(let data) = packet { result += data.payload.withUnsafeBytes { Array($0) } }
    }
    return result
  }
}
