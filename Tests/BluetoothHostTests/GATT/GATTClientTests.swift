import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// The client against a scripted server, including rows of the project's table of hostile peers.
@Suite("GATT client")
struct GATTClientTests {
  private func failure(_ error: GATTError) -> [GATTEvent] { [.completed(1, .failure(error))] }
  private func success(_ response: GATTResponse) -> [GATTEvent] { [.completed(1, .success(response))] }

  @Test("A central starts with the MTU exchange, and other requests wait for it")
  func start() {
    var client = BearerHarness(.central)
    client.bearer.start(at: .zero)
    #expect(client.take() == [hex("020502")])
    #expect(client.request(.read(3)) == [])
    #expect(client.send("03b900") == [hex("0a0300")])
    #expect(client.events == [.mtuChanged(185)])
  }

  @Test("A peripheral starts no MTU exchange")
  func peripheralStart() {
    var server = BearerHarness()
    server.bearer.start(at: .zero)
    #expect(server.take() == [])
  }

  @Test("A server that rejects the MTU exchange leaves the MTU at 23")
  func mtuRefused() {
    var client = BearerHarness(.central)
    client.bearer.start(at: .zero)
    _ = client.take()
    #expect(client.send("0102000006") == [])
    #expect(client.bearer.mtu == 23)
    #expect(client.request(.read(3)) == [hex("0a0300")])
  }

  @Test("An error ends the procedure with its code")
  func refused() {
    var client = BearerHarness(.central)
    _ = client.request(.read(3))
    #expect(client.send("010a030002") == [])
    #expect(client.events == failure(.att(.readNotPermitted)))
  }

  @Test(
    "A long read ends where the server reports the end of the value",
    arguments: ["010c030007", "010c03000b", "010c030006", "0d"])
  func endOfLongRead(last: String) {
    var client = BearerHarness(.central)
    _ = client.request(.read(3))
    #expect(client.send(hex("0b") + pattern(22)) == [hex("0c03001600")])
    #expect(client.send(last) == [])
    #expect(client.events == success(.value(pattern(22))))
  }

  @Test("Another error during a long read is the result")
  func longReadRefused() {
    var client = BearerHarness(.central)
    _ = client.request(.read(3))
    _ = client.send(hex("0b") + pattern(22))
    _ = client.send("010c030002")
    #expect(client.events == failure(.att(.readNotPermitted)))
  }

  /// Reads a value of `length` octets, which repeat `pattern(22)`; returns the number of requests.
  private func readParts(of length: Int, _ client: inout BearerHarness) -> Int {
    var next = client.request(.read(3))
    var parts = 0
    while !next.isEmpty, parts < 4_000 {
      #expect(next == [parts == 0 ? hex("0a0300") : hex("0c0300") + ByteSlice(UInt16(22 * parts).octets)])
      next = client.send(hex(parts == 0 ? "0b" : "0d") + pattern(22).prefix(min(22, length - 22 * parts)))
      parts += 1
    }
    return parts
  }

  @Test(
    "A long read returns a value whole, also if it is longer than 512 octets",
    arguments: [(512, 24), (513, 24), (765, 35), (770, 36), (65_535, 2_979)])
  func longValue(length: Int, requests: Int) {
    var client = BearerHarness(.central)
    #expect(readParts(of: length, &client) == requests)
    let value = ByteSlice((0..<length).map { pattern(22)[$0 % 22] })
    #expect(client.events == success(.value(value)))
  }

  @Test("A15 A long read of an endless value fails where no offset addresses further octets")
  func endlessValue() {
    var client = BearerHarness(.central)
    #expect(readParts(of: .max, &client) == 2_979)
    #expect(client.events == failure(.att(.invalidAttributeValueLength)))
  }

  @Test(
    "A8 A prepared part with a wrong echo is cancelled, and the write fails", .requirement("L158"),
    arguments: ["17030000", "16", "170400", "17030012"])
  func wrongEcho(kind: String) {
    var client = BearerHarness(.central)
    let part = client.request(.write(3, pattern(30)))
    #expect(part == [hex("1603000000") + pattern(18)])
    var echo = part[0].bytes
    echo[0] = 0x17
    switch kind {
    case "17030000": echo[7] ^= 1
    case "16": echo.removeLast()
    case "170400": echo[1] = 4
    default: echo[3] = 1
    }
    #expect(client.send(ByteSlice(echo)) == [hex("1800")])
    #expect(client.events.isEmpty)
    #expect(client.send("19") == [])
    #expect(client.events == failure(.invalidResponse))
  }

  @Test("A refused prepared part cancels the earlier ones")
  func refusedPart() {
    var client = BearerHarness(.central)
    _ = client.request(.write(3, pattern(30)))
    #expect(client.send("0116030009") == [hex("1800")])
    #expect(client.send("19") == [])
    #expect(client.events == failure(.att(.prepareQueueFull)))
  }

  @Test("A value of more than 512 octets is refused")
  func tooLong() {
    var client = BearerHarness(.central)
    #expect(client.request(.write(3, pattern(513))) == [])
    #expect(client.events == failure(.att(.invalidAttributeValueLength)))
  }

  @Test("A2 PDUs that answer no request are ignored")
  func unsolicited() {
    var client = BearerHarness(.central)
    #expect(client.send("0b01") == [])
    _ = client.request(.read(3))
    for other in ["13", "0d01", "0112030002", "03ff00", "19", "01"] { #expect(client.send(other) == []) }
    #expect(client.events.isEmpty)
    _ = client.send("0b05")
    #expect(client.events == success(.value([5])))
  }

  @Test(
    "A6 A discovery ends at handle 0xFFFF",
    arguments: [
      (GATTRequest.discoverPrimaryServices, "1106 0100ffff 0018"), (.discoverPrimaryService(0x180D), "07 0100ffff"),
      (.discoverDescriptors(in: 1...0xFFFF), "0501 ffff0229"),
      (.discoverCharacteristics(in: 0xFFFE...0xFFFF), "0907 feff 02 ffff 372a"),
    ])
  func lastHandle(request: GATTRequest, response: String) {
    var client = BearerHarness(.central)
    _ = client.request(request)
    _ = client.send(response)
    guard case .completed(1, .success) = client.events.first else {
      // A characteristic at 0xFFFE is followed by one more request, for 0xFFFF.
      #expect(client.send("0108ffff0a") == [])
      #expect(client.events.count == 1)
      return
    }
  }

  @Test("A14 No response for 30 s closes the bearer, and all pending and later requests fail", .requirement("L143"))
  func timeout() {
    var client = BearerHarness(.central)
    client.now = .zero + .seconds(1)
    _ = client.request(.read(3), token: 1)
    _ = client.request(.writeWithoutResponse(3, [1]), token: 2)
    #expect(client.bearer.deadline == .zero + .seconds(31))
    client.pass(.seconds(29))
    #expect(!client.bearer.isClosed)
    client.pass(.seconds(1))
    #expect(client.bearer.isClosed)
    #expect(client.take() == [])
    #expect(client.events == [.completed(1, .failure(.timeout)), .completed(2, .failure(.timeout))])
    #expect(client.bearer.deadline == nil)
    #expect(client.request(.read(3), token: 3) == [])
    #expect(client.events.last == .completed(3, .failure(.timeout)))
    #expect(client.send("0b01") == [])
  }

  @Test("A14 The 30 s start when the request is sent")
  func timeoutStart() {
    var client = BearerHarness(.central)
    client.bearer.request(.read(3), token: 1, at: .zero)
    #expect(client.bearer.deadline == nil)
    client.now = .zero + .seconds(10)
    _ = client.take()
    #expect(client.bearer.deadline == .zero + .seconds(40))
  }

  @Test("A16 The long reads of two clients stay separate")
  func twoClients() {
    var first = BearerHarness(.central)
    var second = BearerHarness(.central)
    _ = first.request(.read(3))
    _ = second.request(.read(3))
    _ = first.send(hex("0b") + pattern(22))
    _ = second.send(ByteSlice([0x0B] + [UInt8](repeating: 9, count: 22)))
    _ = first.send("0d01")
    _ = second.send("0d02")
    #expect(first.events == success(.value(ByteSlice(pattern(22).bytes + [1]))))
    #expect(second.events == success(.value(ByteSlice([UInt8](repeating: 9, count: 22) + [2]))))
  }

  @Test("Notifications of one or several values, and indications, are reported; indications are confirmed")
  func values() {
    var client = BearerHarness(.central)
    #expect(client.send("1b0c000102") == [])
    #expect(client.send("230c000100070d00020008 09") == [])
    #expect(client.send("1d0c0003") == [hex("1e")])
    #expect(
      client.events == [
        .valueReceived(12, [1, 2]), .valueReceived(12, [7]), .valueReceived(13, [8, 9]), .valueReceived(12, [3]),
      ])
  }

  @Test("A PDU longer than the MTU is ignored")
  func tooLongPDU() {
    var client = BearerHarness(.central)
    #expect(client.send(hex("1b0c00") + pattern(21)) == [])
    #expect(client.events.isEmpty)
  }

  @Test("An included service with a long UUID and an unreadable declaration is an error")
  func includeWithoutUUID() {
    var client = BearerHarness(.central)
    _ = client.request(.findIncludedServices(in: 10...11))
    #expect(client.send("0906 0b00 1400 1500") == [hex("0a1400")])
    #expect(client.send("0b0102030405060708") == [])
    #expect(client.events == failure(.invalidResponse))
  }

  @Test("A malformed Service Changed indication is confirmed and changes nothing")
  func malformedServiceChanged() {
    var pair = GATTPair(.named())
    _ = pair.perform(.discoverPrimaryServices)
    pair.centralEvents = []
    for indication in ["1d0c00", "1d0c000100", "1d0c0000000500", "1d0c0005000100", "1d0c00010005000000"] {
      pair.central.receive(hex(indication), database: &pair.centralDatabase, at: pair.now)
      #expect(pair.central.takePDU(at: pair.now) == .handleValueConfirmation)
    }
    #expect(pair.central.takeEvent() == nil)
  }
}
