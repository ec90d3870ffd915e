import BluetoothHost
import BluetoothWire
import Testing

/// Arbitrary octets from a controller, and from a peer behind a working controller.
struct HostileInputTests {
  private static func octets(_ range: Range<Int>, _ random: inout RandomStream) -> [UInt8] {
    let count = range.lowerBound + Int(random.next() % UInt64(range.count))
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private static func services() -> [GATTServiceDefinition] {
    [
      GATTServiceDefinition(
        uuid: 0x180D, isPrimary: true, includes: [],
        characteristics: [
          GATTCharacteristicDefinition(
            uuid: 0x2A38, properties: .read, permissions: .readable,
            value: ByteSlice((0..<100).map { UInt8($0) })),
          GATTCharacteristicDefinition(
            uuid: 0x2A37, properties: [.read, .notify, .indicate, .write, .writeWithoutResponse],
            permissions: [.readable, .writeable], value: nil),
        ])
    ]
  }

  /// Answers the host's requests to the upper layer, sometimes with an error, and completes the controller's packets.
  private func answer(_ bench: inout HostHarness, _ random: inout RandomStream) {
    let events = bench.events
    bench.events.removeAll()
    for case .gatt(let handle, let event) in events {
      let request: GATTServerRequest
      switch event {
      case .readRequested(let number, _, _): request = number
      case .writeRequested(let number?, _): request = number
      default: continue
      }
      let result: Result<ByteSlice, ATT.ErrorCode> =
        random.next() % 4 == 0
        ? .failure(.unlikelyError) : .success(ByteSlice(Self.octets(0..<600, &random)))
      bench.perform { host, now in host.respond(to: request, on: handle, with: result, at: now) }
    }
    bench.completeAll()
  }

  @Test("Arbitrary ATT and L2CAP octets are answered or ignored", arguments: 0..<12)
  func peer(seed: Int) {
    var random = RandomStream(seed: UInt64(seed))
    var bench = HostHarness()
    bench.powerOn()
    for service in Self.services() { bench.perform { host, now in _ = host.addService(service, at: now) } }
    var handle = bench.link(seed % 2 == 0 ? .peripheral : .central)
    var number: UInt16 = 0x40
    var token: GATTToken = 0
    var asked: Set<GATTToken> = []
    var answered: [GATTToken: Int] = [:]
    func answerAll() {
      for case .gatt(_, .completed(let token, _)) in bench.events { answered[token, default: 0] += 1 }
      answer(&bench, &random)
      for case .gatt(_, .completed(let token, _)) in bench.events { answered[token, default: 0] += 1 }
    }
    for _ in 0..<400 {
      switch random.next() % 8 {
      case 0:
        bench.receive(Self.octets(0..<60, &random), on: handle, random.next() & 1 == 0 ? .continuing : .firstFlushable)
      case 1: bench.receive(.signalling, Self.octets(0..<40, &random), on: handle)
      case 2:
        let code = UInt8(random.next() % 0x1C)
        let body = Self.octets(0..<26, &random)
        bench.receive(.signalling, [code, UInt8(random.next() % 4), UInt8(body.count), 0] + body, on: handle)
      case 3:
        token += 1
        let next = token
        asked.insert(next)
        let requests: [GATTRequest] = [
          .discoverPrimaryServices, .discoverPrimaryService(0x180D), .findIncludedServices(in: 1...0xFFFF),
          .discoverCharacteristics(in: 1...0xFFFF), .discoverDescriptors(in: 3...9), .read(5),
          .write(5, ByteSlice(Self.octets(0..<512, &random))), .writeWithoutResponse(5, [1, 2]),
        ]
        let request = requests[Int(random.next() % UInt64(requests.count))]
        let link = handle
        bench.perform { host, now in host.request(request, token: next, on: link, at: now) }
      default:
        // Known opcodes and small handles make most PDUs meaningful.
        let opcodes: [UInt8] = [
          0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12,
          0x13, 0x16, 0x17, 0x18, 0x19, 0x1B, 0x1D, 0x1E, 0x20, 0x21, 0x23, 0x52, 0xD2, 0xFF,
        ]
        var body = Self.octets(0..<40, &random)
        if body.count > 1, random.next() & 1 == 0 { (body[0], body[1]) = (UInt8(random.next() % 20), 0) }
        if body.count > 3, random.next() & 1 == 0 { (body[2], body[3]) = (UInt8(random.next() % 20), 0) }
        bench.receive(.attribute, [opcodes[Int(random.next() % UInt64(opcodes.count))]] + body, on: handle)
      }
      answerAll()
      let last = bench.commands.last
      if case .disconnect? = last {
        bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
        bench.forget()
        asked.removeAll()
        number += 1
        handle = bench.link(seed % 2 == 0 ? .peripheral : .central, handle: number)
      }
    }
    // The peer stays silent: pairing and the request in progress time out after 30 s each, and end all others.
    let end = bench.now + .seconds(200)
    var steps = 0
    while let deadline = bench.host.deadline, deadline <= end, steps < 1_000 {
      bench.passToDeadline()
      answerAll()
      steps += 1
    }
    #expect(answered.values.allSatisfy { $0 == 1 })
    #expect(asked.isSubset(of: answered.keys), "requests without an answer")
  }

  @Test("Arbitrary packets from a controller stop neither the host nor its timers", arguments: 0..<12)
  func controller(seed: Int) {
    var random = RandomStream(seed: UInt64(seed) + 500)
    var bench = HostHarness()
    bench.powerOn()
    let codes: [UInt8] = [0x05, 0x08, 0x0C, 0x0E, 0x0F, 0x10, 0x13, 0x1A, 0x30, 0x57, 0x3E, 0x3E, 0x3E, 0x3E]
    for _ in 0..<600 {
      switch random.next() % 8 {
      case 0: bench.receive(Self.octets(0..<60, &random), on: HCI.ConnectionHandle(rawValue: UInt16(random.next() % 4)))
      case 1:
        let peer = DeviceAddress(0xC000_0000_0000 + random.next() % 4, .random)
        bench.perform { host, now in
          switch random.next() % 6 {
          case 0: host.connect(to: peer, at: now)
          case 1: host.cancelConnecting(to: peer, at: now)
          case 2: host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now)
          case 3: host.stopAdvertising(at: now)
          case 4: host.setScanning(ScanParameters(isActive: random.next() & 1 == 0, filterDuplicates: true), at: now)
          default: host.setPower(random.next() % 4 != 0, at: now)
          }
        }
      case 2:
        bench.receive(
          .leConnectionComplete(
            HostHarness.connection(
              random.next() & 1 == 0 ? .central : .peripheral,
              HCI.ConnectionHandle(rawValue: UInt16(random.next() % 4)),
              DeviceAddress(0xC000_0000_0000 + random.next() % 4, .random))))
      case 3:
        // Time passes; each deadline must be later than the previous one.
        var steps = 0
        let end = bench.now + .milliseconds(Int64(random.next() % 3_000))
        while let deadline = bench.host.deadline, deadline <= end, steps < 100 {
          bench.passToDeadline()
          steps += 1
        }
        #expect(steps < 100, "time stands still")
        bench.now = max(bench.now, end)
      default:
        let code = codes[Int(random.next() % UInt64(codes.count))]
        var parameters = Self.octets(0..<40, &random)
        if code == 0x3E, !parameters.isEmpty { parameters[0] = UInt8(random.next() % 0x15) }
        if parameters.count > 4, random.next() & 1 == 0 {
          (parameters[2], parameters[3]) = (UInt8(random.next() % 4), 0)
        }
        bench.host.receive(.event(code: code, parameters: ByteSlice(parameters)), at: bench.now)
        bench.run()
      }
    }
  }
}
