import BluetoothWire
import Testing

@testable import BluetoothHost

/// Several requesters on one bearer.
@Suite("Turns of requesters")
struct GATTRequesterTests {
  var client = BearerHarness(.central)
  let one = GATTRequester(number: 1)
  let two = GATTRequester(number: 2)
  let three = GATTRequester(number: 3)

  /// Queues reads with these handles, whose tokens are the handles.
  private mutating func read(_ handles: [AttributeHandle], of requester: GATTRequester) {
    for handle in handles {
      client.bearer.request(.read(handle), token: GATTToken(handle), of: requester, at: client.now)
    }
  }

  /// Answers all requests. Returns the handles that were read, in order.
  private mutating func answerAll() -> [AttributeHandle] {
    var handles: [AttributeHandle] = []
    var pdus = client.take()
    while let pdu = pdus.first {
      guard pdu.count == 3, pdu[0] == ATT.Opcode.readRequest.rawValue else { break }
      handles.append(AttributeHandle(pdu[1]) | AttributeHandle(pdu[2]) << 8)
      pdus = client.send("0b00")
    }
    return handles
  }

  @Test("A requester's read waits for the request in progress and no other one of a requester with many")
  mutating func late() {
    read([10, 11, 12, 13], of: one)
    read([20], of: two)
    #expect(answerAll() == [10, 20, 11, 12, 13])
  }

  @Test("Requesters take turns in the order of their first requests, and the requests of each keep their order")
  mutating func turns() {
    read([10, 11, 12, 13], of: one)
    read([20, 21, 22], of: two)
    read([30, 31], of: three)
    read([14], of: one)
    #expect(answerAll() == [10, 20, 11, 30, 21, 12, 31, 22, 13, 14])
  }

  @Test("A procedure of several requests keeps its turn until it ends")
  mutating func longProcedure() {
    client.bearer.request(.discoverCharacteristics(in: 20...40), token: 1, of: one, at: client.now)
    read([50], of: two)
    #expect(client.take() == [hex("08140028000328")])
    // A characteristic is declared at 21, with the value at 22: the discovery goes on from 22.
    #expect(client.send("090715000216000f2a") == [hex("08160028000328")])
    #expect(client.send("010816000a") == [hex("0a3200")])
  }

  @Test("A shared request moves to the requester whose turn comes earlier, and to no other one")
  mutating func shared() {
    read([10, 11, 12, 13], of: one)
    read([20], of: two)
    client.bearer.client.share(13, with: three)
    client.bearer.client.share(20, with: one)
    client.bearer.client.share(12, with: one)
    #expect(answerAll() == [10, 20, 11, 13, 12])
  }

  @Test("Dropped requests are not sent and have no event; the request in progress is not dropped")
  mutating func dropped() {
    read([10, 11, 12], of: one)
    read([20, 21], of: two)
    #expect(client.bearer.drop([10, 11, 20, 21], at: client.now).sorted() == [11, 20, 21])
    #expect(answerAll() == [10, 12])
    let tokens = client.events.compactMap { event -> GATTToken? in
      if case .completed(let token, _) = event { token } else { nil }
    }
    #expect(tokens == [10, 12])
  }

  @Test("A background request whose turn is awaited does not wait for dropped requests")
  mutating func backgroundTurn() {
    client.bearer.client.noteUse(at: client.now)
    client.bearer.awaitBackgroundTurn(at: client.now)
    read([10, 11], of: one)
    _ = client.bearer.drop([11], at: client.now)
    #expect(answerAll() == [10])
    client.pass(.milliseconds(100))
    #expect(client.takeEvents().contains(.backgroundTurn))
  }
}
