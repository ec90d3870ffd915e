import BluetoothCrypto
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

@Suite("GATT client: procedures of Vol 3, Part G, 4")
struct GATTProcedureTests {
  private func result(_ client: BearerHarness) -> Result<GATTResponse, GATTError>? {
    guard case .completed(1, let result)? = client.events.last else { return nil }
    return result
  }

  @Test("4.6.2 Characteristics are discovered by their UUID")
  func characteristicByUUID() throws {
    var pair = GATTPair(try GATTPairTests.sensor())
    let wanted = GATTCharacteristic(declaration: 24, value: 25, properties: .read, uuid: 0x2A38)
    #expect(pair.perform(.discoverCharacteristic(0x2A38, in: 20...28)) == .success(.characteristics([wanted])))
    #expect(pair.perform(.discoverCharacteristic(0x2A99, in: 20...28)) == .success(.characteristics([])))
  }

  @Test("4.8.2 Values are read by their UUID, with their handles")
  func readByType() throws {
    var pair = GATTPair(.with(.stored(0x2A38, [1, 2]), .stored(0x2A99, [9]), .stored(0x2A38, [3, 4])))
    guard case .success(.values(let values))? = pair.perform(.readByType(0x2A38, in: 1...0xFFFF)) else {
      Issue.record("no values")
      return
    }
    #expect(values.map(\.value) == [[1, 2], [3, 4]])
    for value in values { #expect(pair.perform(.read(value.handle)) == .success(.value(value.value))) }
    let last = try #require(values.last).handle
    #expect(pair.perform(.readByType(0x2A38, in: last...last)) == .success(.values([values[1]])))
    #expect(pair.perform(.readByType(0x2A77, in: 1...0xFFFF)) == .failure(.att(.attributeNotFound)))
  }

  @Test("4.8.4 Several values are read at once; fewer than two handles, or more than fit, are not requested")
  func readMultiple() {
    var client = BearerHarness(.central)
    #expect(client.request(.readMultiple([3, 5, 3])) == [hex("0e030005000300")])
    _ = client.send("0f010203")
    #expect(result(client) == .success(.value([1, 2, 3])))
    for handles in [[], [3], [AttributeHandle](repeating: 3, count: 12)] {
      #expect(client.request(.readMultiple(handles)) == [])
      #expect(result(client) == .failure(.att(.invalidPDU)))
    }
    #expect(client.request(.readMultiple([AttributeHandle](repeating: 3, count: 11))).first?.count == 23)
  }

  @Test("4.8.5 Values of variable length are told apart; a truncated one is left out, and an excess one is an error")
  func readMultipleVariable() {
    var client = BearerHarness(.central)
    for (response, expected): (ByteSlice, [GATTValue]?) in [
      (hex("21 0100 07 0000"), [GATTValue(handle: 3, value: [7]), GATTValue(handle: 5, value: [])]),
      (hex("21 0100 07 0300 0102"), [GATTValue(handle: 3, value: [7])]),
      (hex("21 0100 07 03"), [GATTValue(handle: 3, value: [7])]), (hex("21 0200 07"), []),
      (hex("21 0100 07 0000 0000"), nil),
    ] {
      #expect(client.request(.readMultipleVariable([3, 5])) == [hex("2003000500")])
      _ = client.send(response)
      #expect(result(client) == expected.map { .success(.values($0)) } ?? .failure(.invalidResponse))
    }
    for handles in [[], [3], [AttributeHandle](repeating: 3, count: 12)] {
      #expect(client.request(.readMultipleVariable(handles)) == [])
      #expect(result(client) == .failure(.att(.invalidPDU)))
    }
  }

  @Test(
    "4.9.5 A reliable write prepares all parts and compares their echoes before it executes them", .requirement("L158"))
  func reliableWrite() {
    var client = BearerHarness(.central)
    let parts = [
      GATTWritePart(handle: 3, offset: 0, value: pattern(20)), GATTWritePart(handle: 5, offset: 7, value: [9]),
      GATTWritePart(handle: 6, offset: 0, value: []),
    ]
    var next = client.request(.reliableWrite(parts))
    #expect(next == [hex("1603000000") + pattern(18)])
    next = client.send(hex("1703000000") + pattern(18))
    #expect(next == [hex("1603001200") + pattern(20).dropFirst(18)])
    next = client.send(hex("1703001200") + pattern(20).dropFirst(18))
    #expect(next == [hex("160500070009")])
    #expect(client.send("170500070009") == [hex("1606000000")])
    #expect(client.events.isEmpty)
    #expect(client.send("1706000000") == [hex("1801")])
    #expect(client.send("19") == [])
    #expect(result(client) == .success(.done))
  }

  @Test(
    "4.9.5 A reliable write is cancelled as a whole when a part is refused or echoed wrongly",
    arguments: ["0116050009", "170600070009", "170500080009", "170500070008", "1705000700", "17050007000900"])
  func reliableWriteCancelled(answer: String) {
    var client = BearerHarness(.central)
    let parts = [
      GATTWritePart(handle: 3, offset: 0, value: [1]), GATTWritePart(handle: 5, offset: 7, value: [9]),
      GATTWritePart(handle: 6, offset: 0, value: [2]),
    ]
    _ = client.request(.reliableWrite(parts))
    #expect(client.send("170300000001") == [hex("160500070009")])
    #expect(client.send(answer) == [hex("1800")])
    #expect(client.events.isEmpty)
    #expect(client.send("19") == [])
    #expect(result(client) == .failure(answer.hasPrefix("01") ? .att(.prepareQueueFull) : .invalidResponse))
  }

  @Test("A reliable write beyond octet 512, or without parts, sends nothing")
  func reliableWriteBounds() {
    var client = BearerHarness(.central)
    #expect(client.request(.reliableWrite([GATTWritePart(handle: 3, offset: 500, value: pattern(13))])) == [])
    #expect(result(client) == .failure(.att(.invalidAttributeValueLength)))
    #expect(client.request(.reliableWrite([GATTWritePart(handle: 3, offset: -1, value: [1])])) == [])
    #expect(result(client) == .failure(.att(.invalidAttributeValueLength)))
    #expect(client.request(.reliableWrite([])) == [])
    #expect(result(client) == .success(.done))
  }

  @Test("A long write may begin at an offset")
  func writeAtOffset() {
    var pair = GATTPair(.with(.dynamic(0x2A39, [.read, .write])), maximumMTU: 23)
    let handle: AttributeHandle = 22
    #expect(pair.perform(.write(handle, pattern(60))) == .success(.done))
    let part = GATTWritePart(handle: handle, offset: 10, value: ByteSlice([UInt8](repeating: 0xEE, count: 30)))
    #expect(pair.perform(.reliableWrite([part])) == .success(.done))
    #expect(pair.values[handle]?.count == 40)
    #expect(pair.values[handle]?.dropFirst(10) == part.value)
  }

  @Test("4.9.2 A signed write carries the counter and the signature; the server's verifier accepts it once")
  func signedWrite() throws {
    let key = Block(high: 0x0123, low: 0x4567)
    var client = BearerHarness(.central)
    client.bearer.signatureMaker = Signer(key: key, nextCounter: 5)
    var verifier = SignatureVerifier(key: key)
    for counter in UInt8(5)...6 {
      let sent = client.request(.signedWriteWithoutResponse(3, [7, 8]))
      let pdu = try #require(sent.first)
      #expect(pdu.count == 5 + 12)
      #expect(pdu.prefix(5) == hex("d203000708"))
      #expect(pdu[5] == counter)
      #expect(result(client) == .success(.done))
      #expect(verifier.verify(pdu.dropFirst(5), of: pdu.prefix(5)) == true)
      #expect(verifier.verify(pdu.dropFirst(5), of: pdu.prefix(5)) == false)
    }
  }

  @Test("A signed write fails without a signer, after the last counter, or if it is too long for the MTU")
  func signedWriteRefused() {
    var client = BearerHarness(.central)
    #expect(client.request(.signedWriteWithoutResponse(3, [7])) == [])
    #expect(client.refuseSecurity() == .encrypted)
    #expect(result(client) == .failure(.att(.insufficientAuthentication)))
    client.bearer.signatureMaker = Signer(key: Block(high: 1, low: 2), nextCounter: .max)
    #expect(client.request(.signedWriteWithoutResponse(3, pattern(9))) == [])
    #expect(client.refuseSecurity() == .encrypted)
    #expect(result(client) == .failure(.att(.insufficientAuthentication)))
    #expect(client.request(.signedWriteWithoutResponse(3, pattern(21))) == [])
    #expect(result(client) == .failure(.att(.invalidAttributeValueLength)))
    #expect(client.request(.signedWriteWithoutResponse(3, pattern(8))).first?.count == 23)
    #expect(client.request(.signedWriteWithoutResponse(3, [7])) == [])
    #expect(client.refuseSecurity() == .encrypted)
    #expect(result(client) == .failure(.att(.insufficientAuthentication)))
  }

  @Test("On an encrypted link a signed write is a write without response", .requirement("L146"))
  func signedWriteEncrypted() {
    var client = BearerHarness(.central)
    client.bearer.securityChanged(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true), at: .zero)
    #expect(client.request(.signedWriteWithoutResponse(3, [7])) == [hex("52030007")])
  }
}
