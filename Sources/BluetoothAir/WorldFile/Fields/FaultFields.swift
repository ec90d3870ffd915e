extension ObjectShape {
  /// A fault in the form of the lab's `FaultPlan`, which checks the combination of fields.
  static let fault = ObjectShape(
    "fault", "a fault, in the form of a fault plan",
    [
      WorldField(
        required: "layer", .choice(["air", "device", "hci"]), "The layer of the fault", example: #""air""#),
      WorldField(
        required: "fault",
        .choice([
          "corrupt", "delay", "driftClock", "duplicate", "inject", "lose", "mute", "refuseConnections",
          "resetController", "stopAnswering",
        ]),
        "The kind of the fault: `lose`, `corrupt`, `inject` for `air`; `lose`, `delay`, `duplicate`, `corrupt` for "
          + "`hci`; the others for `device`", example: #""lose""#),
    ] + matchFields + [
      WorldField(
        "by", .number(WorldLimits.seconds), "The delay of `delay`, seconds", else: "required for `delay`",
        example: "0.02"),
      WorldField(
        "octets", .hexadecimal(0...255), "The payload that `inject` sends instead", else: "required for `inject`",
        example: #""0102""#),
      WorldField(
        "partsPerMillion", .number(-100_000...100_000), "The clock drift of `driftClock`, ppm; positive: slow",
        else: "required for `driftClock`", example: "100"),
      WorldField(
        "for", .number(WorldLimits.seconds), "The duration of a device fault, seconds", else: "without end",
        example: "1.5"),
      WorldField(
        "at", .number(WorldLimits.seconds), "The start of a device fault: simulation time, seconds",
        else: "use `after`", example: "5"),
      WorldField(
        "after", .object(.faultTrigger), "The packet that starts a device fault", else: "use `at`",
        example: #"{"layer": "air", "control": "0x02"}"#),
    ], exclusive: [["at", "after"], selectionFields])

  static let faultTrigger = ObjectShape(
    "faultTrigger", "a packet that starts a device fault",
    [
      WorldField(required: "layer", .choice(["air", "hci"]), "The layer of the packet", example: #""air""#)
    ] + matchFields, exclusive: [selectionFields])

  private static let selectionFields = ["number", "numbers", "percent"]

  private static func number(_ name: String, _ bits: Int, _ meaning: String, _ example: String) -> WorldField {
    WorldField(name, .protocolNumber(bits: bits), meaning, else: "any packet", example: example)
  }

  private static let matchFields = [
    WorldField(
      "from", .text(WorldLimits.name), "`air`: the sending device or client", else: "any", example: #""a""#),
    WorldField(
      "to", .text(WorldLimits.name), "`air`: the receiving device or client; other receivers are not affected",
      else: "any", example: #""b""#),
    number("advertising", 8, "`air`: advertising physical channel PDUs with this PDU type", "5"),
    number("control", 8, "`air`: LL Control PDUs with this opcode", #""0x02""#),
    number("channel", 16, "`air`: the first fragments of L2CAP frames on the channel with this CID", "5"),
    number("attribute", 8, "`air`: the first fragments of ATT PDUs with this opcode", #""0x1B""#),
    number("handle", 16, "`air`: the first fragments of ATT PDUs with this attribute handle", #""0x0016""#),
    WorldField(
      "empty", .flag, "`air`: empty data PDUs; true or omitted", else: "any packet", example: "true"),
    WorldField(
      "device", .text(WorldLimits.name), "`hci` and `device`: the device or client", else: "any",
      example: #""a""#),
    number("command", 16, "`hci`: commands with this opcode", #""0x200A""#),
    number("event", 8, "`hci`: events with this event code", #""0x3E""#),
    number("subevent", 8, "`hci`: LE Meta events with this subevent code", #""0x01""#),
    WorldField("data", .flag, "`hci`: ACL data packets; true or omitted", else: "any packet", example: "true"),
    WorldField(
      "direction", .choice(["toController", "toHost"]), "`hci`: the direction of the packet", else: "both",
      example: #""toHost""#),
    WorldField(
      "number", .integer(1...Int(Int32.max)), "The number of the matching packet, from 1", else: "every packet",
      example: "3"),
    WorldField(
      "numbers", .list(.integer(1...Int(Int32.max)), count: 2...2),
      "The numbers of the first and the last matching packet", else: "every packet",
      example: "[2, 5]"),
    WorldField(
      "percent", .number(0...100), "The probability for each matching packet, %", else: "every packet", example: "5"),
  ]
}
