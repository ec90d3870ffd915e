import BluetoothWire

/// The cost of decoding and encoding a packet of each family.
enum Codecs {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = families.map { family in
    ("codec: " + family.name, { try family.measure(family.name, $0) })
  }

  private struct Family: Sendable {
    let name: String
    let measure: @Sendable (String, Int) throws -> Measurement
  }

  private static let families: [Family] = [
    hci("HCI command LE Create Connection", "010d20196000300000010605040302c1001800280000002a0000000000") {
      (packet: HCI.Packet) throws -> HCI.Command in
      guard case .command(let opcode, let parameters) = packet else { throw DidNotHappen() }
      return try HCI.Command(opcode: opcode, parameters: parameters)
    } encode: {
      $0.packet(in: $1)
    },
    hci("HCI event Command Complete, LE Read Buffer Size", "040e0701022000fb0008", decode: event, encode: packet),
    hci("HCI event Number Of Completed Packets, two links", "041309024000010041000300", decode: event, encode: packet),
    hci(
      "HCI event LE Advertising Report, 30 octets",
      "043e2a020103010605040302c11e" + "02011a1aff4c000215b9407f30f5f8466eaff925556b57fe6d00000001d8" + "c4",
      aim: "decoded in ≤ 100 ns, 0 allocations"
    ) {
      guard case .leAdvertisingReport(let reports) = try event($0) else { throw DidNotHappen() }
      var last: HCI.AdvertisingReport?
      for report in reports { last = report }
      guard let report = last else { throw DidNotHappen() }
      return report
    } encode: {
      HCI.Event.leAdvertisingReport(HCI.AdvertisingReports($0, in: $1)).packet(in: $1)
    },
    hci(
      "HCI event LE Extended Advertising Report, 31 octets",
      "043e390d01130000277a2d38c1a40100ff7fdb0000000000000000001f0d09475648353037325f37413237030388ec02010509ff88ec000394906400",
      decode: event, encode: packet),
    hci(
      "HCI event LE Enhanced Connection Complete",
      "043e1f0a004100000177d847a3395400000000000000000000000050000000c80005", decode: event, encode: packet),
    Family(name: "HCI ACL packet of 251 octets, H4") { name, divisor in
      let octets = ByteSlice([0x02, 0x40, 0x20, 251, 0] + [UInt8](repeating: 0x5A, count: 251))
      return try measure(name, octets, divisor) {
        try HCI.Packet(h4: $0)
      } encode: {
        $0.h4(in: $1)
      }
    },
    Family(name: "L2CAP B-frame of 247 octets") { name, divisor in
      let octets = ByteSlice([247, 0, 4, 0] + [UInt8](repeating: 0x5A, count: 247))
      return try measure(name, octets, divisor) {
        try L2CAP.Frame($0)
      } encode: { frame, pool in
        var writer = ByteWriter(pool)
        writer.append(frame.payload)
        return writer.finishFrame(on: frame.channel)
      }
    },
    signal("LE signalling, Connection Parameter Update Request", "12010800" + "1800280000002a00"),
    signal(
      "LE signalling, Enhanced Credit Based Connection Request, five channels",
      "17011200"
        + "80000001f7000a00" + "40004100420043004400"),
    attribute("ATT Read Request", "0a0300"),
    attribute("ATT Read Response, 20 octets", "0b" + String(repeating: "5a", count: 20)),
    attribute("ATT Read By Type Response, 7 characteristics", "0907" + String(repeating: "0b00020c00372a", count: 7)),
    attribute("ATT Write Command, 244 octets", "520300" + String(repeating: "5a", count: 244)),
    attribute("ATT Handle Value Notification, 244 octets", "1b0300" + String(repeating: "5a", count: 244)),
    attribute("ATT Error Response", "01100100 0a"),
    Family(name: "SMP Pairing Request") { name, divisor in
      try measure(name, try octets("01010000100707"), divisor) {
        try SMP.PDU.decode($0)
      } encode: { pdu, pool in
        var writer = ByteWriter(pool)
        pdu.encode(into: &writer)
        return writer.finish()
      }
    },
    advertising("LL ADV_IND", "40100605040302c102010606094d79424c45"),
    advertising(
      "LL CONNECT_IND", "65220605040302c16655443322115ab8d2a156341203050018000000c800ffffffff1fa7"),
    control("LL_LENGTH_REQ", "14fb004808fb004808"),
    control("LL_CONNECTION_UPDATE_IND", "00020300180000002a000700"),
    Family(name: "advertising data, 3 structures") { name, divisor in
      let data = try octets("02010607030218041802180a0950726f78696d697479")
      return try measure(name, data, divisor) {
        AdvertisingFields($0)
      } encode: { _, _ in
        var builder = AdvertisingDataBuilder()
        guard builder.appendFlags(), builder.appendServices([0x1802, 0x1804, 0x1802]),
          builder.appendLocalName("Proximity")
        else { throw DidNotHappen() }
        return ByteSlice(builder.octets)
      }
    },
  ]

  // MARK: Families

  @Sendable private static func event(_ packet: HCI.Packet) throws -> HCI.Event {
    guard case .event(let code, let parameters) = packet else { throw DidNotHappen() }
    return try HCI.Event(code: code, parameters: parameters)
  }

  @Sendable private static func packet(_ event: HCI.Event, _ pool: PacketPool) -> HCI.Packet { event.packet(in: pool) }

  /// The packet exists already; only the decoding of its content is measured.
  private static func hci<Unit>(
    _ name: String, _ h4: String, aim: String = "0 allocations",
    decode: @Sendable @escaping (HCI.Packet) throws -> Unit,
    encode: @Sendable @escaping (Unit, PacketPool) -> HCI.Packet
  ) -> Family {
    Family(name: name) { name, divisor in
      let packet = try HCI.Packet(h4: try octets(h4))
      return try measure(name, packet, aim: aim, divisor, decode: decode, encode: encode)
    }
  }

  private static func signal(_ name: String, _ text: String) -> Family {
    Family(name: name) { name, divisor in
      try measure(name, try octets(text), divisor) {
        try L2CAP.Signal($0)
      } encode: { signal, pool in
        var writer = ByteWriter(pool)
        signal.encode(into: &writer)
        return writer.finish()
      }
    }
  }

  private static func attribute(_ name: String, _ text: String) -> Family {
    Family(name: name) { name, divisor in
      try measure(name, try octets(text), divisor) {
        try ATT.PDU.decode($0)
      } encode: { pdu, pool in
        var writer = ByteWriter(pool)
        pdu.encode(into: &writer)
        return writer.finish()
      }
    }
  }

  private static func advertising(_ name: String, _ text: String) -> Family {
    Family(name: name) { name, divisor in
      let octets = try octets(text)
      let header = UInt16(octets[0]) | UInt16(octets[1]) << 8
      return try measure(name, octets.dropFirst(2), divisor) {
        try LL.AdvertisingPDU(header: header, payload: $0)
      } encode: { pdu, pool in
        pdu.packet(in: pool).payload
      }
    }
  }

  private static func control(_ name: String, _ text: String) -> Family {
    Family(name: name) { name, divisor in
      try measure(name, try octets(text), divisor) {
        try LL.ControlPDU(payload: $0)
      } encode: { pdu, pool in
        pdu.payload(in: pool)
      }
    }
  }

  // MARK: Measuring

  private static func measure<Source: Equatable, Unit>(
    _ name: String, _ source: Source, aim: String = "0 allocations", _ divisor: Int,
    decode: (Source) throws -> Unit, encode: (Unit, PacketPool) throws -> Source
  ) throws -> Measurement {
    let count = 200_000 / divisor
    let pool = PacketPool()
    let unit = try decode(source)
    guard try encode(unit, pool) == source else { throw DidNotHappen() }
    let decoding = try bestTime(of: 5) { for _ in 0..<count { use(try decode(source)) } }
    let encoding = try bestTime(of: 5) { for _ in 0..<count { use(try encode(unit, pool)) } }
    let decoded = try allocations { for _ in 0..<count { use(try decode(source)) } }
    let encoded = try allocations { for _ in 0..<count { use(try encode(unit, pool)) } }
    func text(_ time: Double, _ allocated: UInt64?) -> String {
      let number = allocated.map { (Double($0) / Double(count)).rounded(to: 1) } ?? "uncounted"
      return "\((time / Double(count) * 1e9).rounded(to: 0)) ns, \(number) allocations"
    }
    return Measurement(
      name: name, result: "decode \(text(decoding, decoded)); encode \(text(encoding, encoded))", aim: aim,
      method: "\(count.grouped) times, best of 5")
  }

  /// Consumes a result, so that the optimizer does not remove its computation.
  @inline(never) private static func use<Unit>(_ unit: borrowing Unit) {}

  private static func octets(_ text: String) throws -> ByteSlice {
    var octets: [UInt8] = []
    var high: UInt8?
    for digit in text where !digit.isWhitespace {
      guard let value = digit.hexDigitValue.map(UInt8.init) else { throw DidNotHappen() }
      if let first = high {
        octets.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil else { throw DidNotHappen() }
    return ByteSlice(octets)
  }
}
