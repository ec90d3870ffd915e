import BluetoothWire
import Testing

@testable import BluetoothHost

/// A device with two clients: a hostile one, whose PDUs the test writes, and one that must remain unaffected.
struct HostileClient {
  var bench = HostHarness()
  private let hostile: HCI.ConnectionHandle
  private let honest: HCI.ConnectionHandle
  /// The events of the server about the hostile client.
  var events: [GATTEvent] = []
  private static let other = DeviceAddress(0xC0_00_00_00_00_03, .random)

  /// The characteristics have the handles from 20 on, after the declaration of their service.
  init(_ characteristics: GATTCharacteristicDefinition...) {
    bench.powerOn()
    bench.perform { host, now in
      _ = host.addService(
        GATTServiceDefinition(uuid: 0x180D, isPrimary: true, includes: [], characteristics: characteristics), at: now)
    }
    hostile = bench.link(.peripheral)
    honest = bench.link(.peripheral, handle: 0x41, to: Self.other)
    _ = take(hostile)
    bench.forget()
  }

  /// Passes `text` to the server. Returns the PDUs that the server sends.
  mutating func send(_ text: String) -> [ByteSlice] { send(hex(text)) }

  mutating func send(_ octets: ByteSlice) -> [ByteSlice] {
    bench.receive(.attribute, octets.bytes, on: hostile)
    return take(hostile)
  }

  /// Sends several PDUs before the controller has room for an answer.
  mutating func sendAtOnce(_ texts: String...) -> [ByteSlice] {
    for text in texts { bench.receive(.attribute, hex(text).bytes, on: hostile) }
    return take(hostile)
  }

  mutating func respond(
    _ request: GATTServerRequest, _ result: Result<ByteSlice, ATT.ErrorCode> = .success(ByteSlice())
  ) -> [ByteSlice] {
    let handle = hostile
    bench.perform { host, now in host.respond(to: request, on: handle, with: result, at: now) }
    return take(hostile)
  }

  mutating func update(_ value: AttributeHandle, _ bytes: ByteSlice) -> [ByteSlice] {
    let handle = hostile
    bench.perform { host, now in host.update(value, with: bytes, on: handle, at: now) }
    return take(hostile)
  }

  mutating func secure(_ security: HostLinkSecurity) {
    let handle = hostile
    bench.perform { host, now in host.setSecurity(security, on: handle, at: now) }
  }

  mutating func setVerifier(_ verifier: SignatureVerifier?) {
    bench.host.setSignatureVerifier(verifier, on: hostile)
  }

  mutating func addService(_ definition: GATTServiceDefinition) -> [ByteSlice] {
    bench.perform { host, now in _ = host.addService(definition, at: now) }
    return take(hostile)
  }

  mutating func pass(_ time: TimeSpan) {
    bench.now += time
    bench.perform { host, now in host.timeReached(now) }
    _ = take(hostile)
  }

  var mtu: Int { bench.host.mtu(of: hostile) }

  /// True if the host disconnects the link.
  var isClosed: Bool {
    bench.commands.contains { if case .disconnect(hostile, _) = $0 { true } else { false } }
  }

  /// The request in the last event.
  var lastRequest: GATTServerRequest? {
    switch events.last {
    case .readRequested(let request, _, _): return request
    case .writeRequested(let request, _): return request
    default: return nil
    }
  }

  /// Returns the host's PDUs for one link after the controller has accepted all of them.
  private mutating func take(_ link: HCI.ConnectionHandle) -> [ByteSlice] {
    var carried: [HCI.ACLData] = []
    while !bench.data.isEmpty {
      let packets = bench.data
      bench.data.removeAll()
      carried += packets
      for packet in packets {
        bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: bench.pool)))
      }
    }
    bench.data = carried
    defer { bench.data.removeAll() }
    for case .gatt(hostile, let event) in bench.events { events.append(event) }
    bench.events.removeAll { if case .gatt = $0 { true } else { false } }
    return ((try? bench.payloads(on: link, .attribute)) ?? []).map { ByteSlice($0) }
  }

  /// Checks the general oracle: the other client is served, and after this one has gone the device advertises, accepts
  /// a connection and answers a read of Appearance.
  mutating func expectUnharmed(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    func expect(_ isTrue: Bool) { #expect(isTrue, comment, sourceLocation: sourceLocation) }
    let appearance = [ByteSlice([0x0B, 0x00, 0x00])]
    bench.receive(.attribute, [0x0A, 0x05, 0x00], on: honest)
    expect(take(honest) == appearance)
    bench.receive(.disconnectionComplete(.success, hostile, reason: .remoteUserTerminatedConnection))
    bench.forget()
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    expect(bench.advertisingAnswers == [nil])
    let next = bench.link(.peripheral, handle: 0x42)
    _ = take(next)
    bench.receive(.attribute, [0x0A, 0x05, 0x00], on: next)
    expect(take(next) == appearance)
    bench.receive(.attribute, [0x0A, 0x05, 0x00], on: honest)
    expect(take(honest) == appearance)
  }
}
