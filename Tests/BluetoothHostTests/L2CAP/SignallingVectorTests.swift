import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

/// A host's reactions to the L2CAP and Security Manager PDUs of `pdus.json`.
@Suite("Vectors of L2CAP")
struct SignallingVectorTests {
  private func rows(_ section: String, layer: String? = nil) throws -> [[String: Any]] {
    let rows = try #require(try TestVectors.load("pdus")[section] as? [[String: Any]])
    return rows.filter { layer == nil || $0["layer"] as? String == layer }
  }

  private func octets(_ value: Any?) throws -> [UInt8] {
    let text = try #require(value as? String)
    return try #require([UInt8](hexadecimal: text))
  }

  @Test("The PDU vectors have exactly the sections and the numbers of rows that the tests cover")
  func sections() throws {
    let vectors = try TestVectors.load("pdus")
    let counts = vectors.compactMapValues { ($0 as? [Any])?.count }
    #expect(counts == ["att": 60, "signalling": 25, "smp": 31, "l2cap_sdu": 2, "invalid": 33])
    let layers = Dictionary(grouping: try rows("invalid")) { $0["layer"] as? String ?? "" }
    #expect(layers.mapValues(\.count) == ["ATT": 15, "L2CAP signalling": 10, "SMP": 8])
  }

  @Test("The SDUs of the vectors are segmented into their frames and reassembled")
  func frames() throws {
    var seen = 0
    for row in try rows("l2cap_sdu") {
      let sdu = try octets(row["sdu"])
      let frames = try #require(row["frames"] as? [String]).map { try octets($0) }
      let mps = UInt16(try #require(row["mps"] as? Int))
      var stand = ChannelHarness()
      let ids = stand.open([0x41], L2CAP.CreditParameters(mtu: 100, mps: mps, initialCredits: 10))
      let isTaken = stand.send(sdu, on: ids[0])
      #expect(isTaken)
      #expect(stand.bench.data.map(\.payload.bytes) == frames)
      for frame in frames { stand.receive(Array(frame.dropFirst(L2CAP.headerLength)), on: ids[0].rawValue) }
      #expect(stand.bench.sdus == [sdu])
      seen += 1
    }
    #expect(seen == 2)
  }

  @Test("Each invalid signalling vector gets the reaction that the vectors specify")
  func invalid() throws {
    func refusal(_ result: L2CAP.ConnectionResult) -> [L2CAP.SignalContent] {
      [.leCreditBasedConnectionResponse(destination: .none, .none, result)]
    }
    let reactions: [String: [L2CAP.SignalContent]] = [
      "connection parameter update to a peripheral's peer (we are the peripheral)": [
        .commandReject(.commandNotUnderstood)
      ],
      "identifier 0": [], "length longer than frame": [], "unknown code": [.commandReject(.commandNotUnderstood)],
      "MTU below 23": refusal(.unacceptableParameters), "MPS above 65533": refusal(.unacceptableParameters),
      "credits overflow": [
        .disconnectionRequest(destination: ChannelHarness.id(0x40), source: ChannelHarness.id(0x40))
      ],
      "credits zero": [], "SCID below 0x40": refusal(.invalidSourceCID),
      "enhanced with 6 channels": [.commandReject(.signallingMTUExceeded(actual: 23))],
    ]
    var seen = 0
    for row in try rows("invalid", layer: "L2CAP signalling") {
      let name = try #require(row["name"] as? String)
      let reaction = try #require(reactions[name], "\(name)")
      var stand = ChannelHarness()
      // The credits are for the peer's end 0x0040; the requests come from it.
      if name.hasPrefix("credits") { _ = stand.open([0x40]) }
      stand.bench.receive(.signalling, try octets(row["pdu"]), on: stand.handle)
      #expect(try stand.contents() == reaction, "\(name)")
      #expect(stand.bench.opened.isEmpty, "\(name)")
      try stand.expectUnharmed()
      seen += 1
    }
    #expect(seen == reactions.count)
  }

  @Test("Each invalid SMP vector gets the reaction that the vectors specify")
  func invalidSecurity() throws {
    let reactions: [String: [UInt8]?] = [
      "reserved code": nil, "Pairing Request short": [0x05, 0x0A], "IO capability 5": [0x05, 0x0A],
      "key size 6": [0x05, 0x06], "key size 17": [0x05, 0x0A], "OOB flag 2": [0x05, 0x0A],
      "Confirm outside pairing": nil,
      // Outside a pairing the content of a key is not checked.
      "Public Key not on curve": [0x05, 0x08],
    ]
    var seen = 0
    for row in try rows("invalid", layer: "SMP") {
      let name = try #require(row["name"] as? String)
      let reaction = try #require(reactions[name], "\(name)")
      var stand = ChannelHarness()
      stand.bench.receive(.securityManager, try octets(row["pdu"]), on: stand.handle)
      #expect(try stand.bench.payloads(on: stand.handle, .securityManager) == (reaction.map { [$0] } ?? []), "\(name)")
      try stand.expectUnharmed()
      seen += 1
    }
    #expect(seen == reactions.count)
  }

  @Test("Security Manager requests are answered in the right role and refused in the other")
  func pairing() throws {
    let request: [UInt8] = [0x01, 3, 0, 1, 16, 0, 1]
    for (role, octets, answer) in [
      (.peripheral, request, [0x02, 3, 0, 9, 16, 0, 1]), (.central, [0x0B, 1], [0x01, 3, 0, 9, 16, 7, 7]),
      (.central, request, [0x05, 0x07]), (.peripheral, [0x0B, 1], [0x05, 0x07]),
    ] as [(Link.Role, [UInt8], [UInt8])] {
      var stand = ChannelHarness(role)
      stand.bench.receive(.securityManager, octets, on: stand.handle)
      #expect(try stand.bench.payloads(on: stand.handle, .securityManager) == [answer])
    }
  }
}
