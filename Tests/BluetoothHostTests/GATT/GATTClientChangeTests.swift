import BluetoothWire
import Testing

@testable import BluetoothHost

/// The effect of a change of the server's database, or of the MTU, on a procedure in progress.
@Suite("GATT client: changes during a procedure")
struct GATTClientChangeTests {
  private static let outOfSync = Result<GATTResponse, GATTError>.failure(.att(.databaseOutOfSync))

  /// Returns a client that knows Service Changed at handle 3, of a server with a GATT service at 1…4, or to 6 with
  /// Database Hash.
  private func acquainted(isHashed: Bool = false) -> BearerHarness {
    var client = BearerHarness(.central)
    let end = isHashed ? "0600" : "0400"
    _ = client.request(.discoverPrimaryServices)
    _ = client.send("1106 0100 \(end) 0118 0a00ffff 0d18")
    _ = client.send("0501 02000328 0300052a 04000229" + (isHashed ? " 05000328 06002a2b" : ""))
    if isHashed { _ = client.send(hex("0912 0600") + pattern(16)) }
    #expect(client.send("13") == [])
    client.pass(.seconds(1))
    var next = client.take()
    if !next.isEmpty { next = client.send("1106 0100 \(end) 0118 0a00ffff 0d18") }
    if !next.isEmpty { next = client.send(hex("0912 0600") + pattern(16)) }
    #expect(next == [])
    client.events = []
    return client
  }

  @Test("A long read does not mix the value before Service Changed with the value after it")
  func longRead() {
    for parts in 1...2 {
      var client = acquainted()
      _ = client.request(.read(30))
      if parts == 2 { _ = client.send(hex("0b") + pattern(22)) }
      #expect(client.send("1d0300 1400ffff") == [hex("1e")])
      #expect(client.send((parts == 2 ? "0d" : "0b") + String(repeating: "5a", count: parts == 2 ? 3 : 22)) == [])
      #expect(client.events == [.servicesChanged(20...0xFFFF, services: [10...0xFFFF]), .completed(1, Self.outOfSync)])
    }
  }

  @Test("A long read of a handle outside the range of Service Changed goes on")
  func otherLongRead() {
    var client = acquainted()
    _ = client.request(.read(30))
    #expect(client.send("1d0300 28002900") == [hex("1e")])
    #expect(client.send(hex("0b") + pattern(22)) == [hex("0c1e001600")])
    #expect(client.send("0d") == [])
    #expect(client.events.last == .completed(1, .success(.value(pattern(22)))))
  }

  @Test("Service Changed cancels prepared parts, so that they are not written to another attribute")
  func preparedWrite() {
    var client = acquainted()
    let part = client.request(.write(30, pattern(36)))[0]
    #expect(client.send("1d0300 1400ffff") == [hex("1e")])
    #expect(client.send(hex("17") + part.dropFirst(1)) == [hex("1800")])
    #expect(client.send("19") == [])
    #expect(client.events == [.servicesChanged(20...0xFFFF, services: [10...0xFFFF]), .completed(1, Self.outOfSync)])
    #expect(client.request(.read(5), token: 2) == [hex("0a0500")])
  }

  /// Delivers an indication while the device can't send any packet.
  private func indicate(_ client: inout BearerHarness) {
    client.bearer.receive(hex("1d0300 1400ffff"), database: &client.database, at: client.now)
  }

  @Test("Service Changed cancels a request that has not been sent yet")
  func waitingRequest() {
    let requests: [GATTRequest] = [
      .read(30), .write(30, [1]), .writeWithoutResponse(30, [1]), .readMultiple([3, 30]),
      .readMultipleVariable([3, 30]), .write(30, pattern(40)), .readByType(0x2A37, in: 20...30),
    ]
    for request in requests {
      var client = acquainted()
      client.bearer.request(request, token: 1, at: client.now)
      indicate(&client)
      #expect(client.take() == [hex("1e")])
      #expect(client.events == [.servicesChanged(20...0xFFFF, services: [10...0xFFFF]), .completed(1, Self.outOfSync)])
      #expect(client.request(.read(5), token: 2) == [hex("0a0500")])
    }
    var client = acquainted()
    client.bearer.request(.readMultiple([3, 5]), token: 1, at: client.now)
    indicate(&client)
    #expect(client.take() == [hex("1e"), hex("0e03000500")])
  }

  @Test("Service Changed turns an Execute Write Request that has not been sent yet into a cancellation")
  func waitingExecution() {
    var client = acquainted()
    var octets = client.request(.write(30, pattern(30)))[0].bytes
    octets[0] = 0x17
    octets = client.send(ByteSlice(octets))[0].bytes
    octets[0] = 0x17
    client.bearer.receive(ByteSlice(octets), database: &client.database, at: client.now)
    indicate(&client)
    #expect(client.take() == [hex("1e"), hex("1800")])
    #expect(client.send("19") == [])
    #expect(client.events.last == .completed(1, Self.outOfSync))
  }

  @Test("After Service Changed the client reads the hash at once, even without requests of the upper layer")
  func hashAfterChange() {
    var client = acquainted(isHashed: true)
    #expect(client.bearer.cache != nil)
    #expect(client.send("1d0300 0a001400") == [hex("1e"), hex("080100ffff2a2b")])
    #expect(client.send(hex("0912 0600") + pattern(16)) == [])
  }

  @Test("A long read continues if the value fills the old MTU and the MTU changes before the response")
  func mtuDuringRead() {
    var client = BearerHarness(.peripheral)
    #expect(client.request(.read(30)) == [hex("0a1e00")])
    #expect(client.send("026400") == [hex("030502")])
    #expect(client.bearer.mtu == 100)
    #expect(client.send(hex("0b") + pattern(22)) == [hex("0c1e001600")])
    #expect(client.send("0d0102") == [])
    #expect(client.events.last == .completed(1, .success(.value(pattern(22) + [1, 2]))))
  }

  @Test("A GATT service that covers all handles delays app requests by a search of 64 handles at most")
  func endlessService() {
    var client = BearerHarness(.central)
    _ = client.request(.discoverPrimaryServices)
    var next = client.send("1106 0100ffff 0118")
    #expect(next == [hex("0401004000")])
    #expect(client.request(.read(3), token: 2) == [])
    var requests = 0
    while let pdu = next.first, pdu[0] == 0x04, requests < 1000 {
      requests += 1
      next = client.send(hex("0501") + pdu.dropFirst(1).prefix(2) + hex("0129"))
    }
    #expect(requests == 64)
    #expect(next == [hex("0a0300")])
  }
}
