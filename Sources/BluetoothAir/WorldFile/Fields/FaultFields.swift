extension ObjectShape {
  /// A fault in the form of the lab's `FaultPlan`, which checks the combination of fields.
  static let fault = ObjectShape(
    "fault", "something that shall go wrong, as in a fault plan of the lab",
    [
      WorldField(
        required: "layer", .choice(["air", "device", "hci"]), "Where it goes wrong", example: #""air""#),
      WorldField(
        required: "fault",
        .choice([
          "corrupt", "delay", "driftClock", "duplicate", "inject", "lose", "mute", "refuseConnections",
          "resetController", "stopAnswering",
        ]),
        "What goes wrong: `lose`, `corrupt`, `inject` on the air; `lose`, `delay`, `duplicate`, `corrupt` at HCI; the others "
          + "of a device", example: #""lose""#),
    ] + matchFields + [
      WorldField(
        "by", .number(WorldLimits.seconds), "How long `delay` holds a packet back, seconds", else: "required there",
        example: "0.02"),
      WorldField(
        "octets", .hexadecimal(0...255), "What `inject` puts in the place of the payload", else: "required there",
        example: #""0102""#),
      WorldField(
        "partsPerMillion", .number(-100_000...100_000), "By how much `driftClock` makes seconds longer",
        else: "required there", example: "100"),
      WorldField(
        "for", .number(WorldLimits.seconds), "How long a device's fault lasts, seconds", else: "for ever",
        example: "1.5"),
      WorldField(
        "at", .number(WorldLimits.seconds), "When a device's fault begins: seconds of the world's radio time",
        else: "`after` says it", example: "5"),
      WorldField(
        "after", .object(.faultTrigger), "What a device's fault waits for", else: "`at` says it",
        example: #"{"layer": "air", "control": "0x02"}"#),
    ], exclusive: [["at", "after"], occurrences])

  static let faultTrigger = ObjectShape(
    "faultTrigger", "a packet that a device's fault waits for",
    [
      WorldField(required: "layer", .choice(["air", "hci"]), "Where the packet is", example: #""air""#)
    ] + matchFields, exclusive: [occurrences])

  private static let occurrences = ["number", "numbers", "percent"]

  private static func number(_ name: String, _ bits: Int, _ meaning: String, _ example: String) -> WorldField {
    WorldField(name, .protocolNumber(bits: bits), meaning, else: "any packet", example: example)
  }

  private static let matchFields = [
    WorldField(
      "from", .text(WorldLimits.name), "On the air: the device or client that sends", else: "any", example: #""a""#),
    WorldField(
      "to", .text(WorldLimits.name), "On the air: the device or client that hears it, and nobody else is struck",
      else: "any", example: #""b""#),
    number("advertising", 8, "On the air: PDUs of the advertising physical channels with this PDU_Type", "5"),
    number("control", 8, "On the air: LL Control PDUs with this opcode", #""0x02""#),
    number("channel", 16, "On the air: beginnings of L2CAP frames on the channel with this CID", "5"),
    number("attribute", 8, "On the air: beginnings of ATT PDUs with this opcode", #""0x1B""#),
    number("handle", 16, "On the air: beginnings of ATT PDUs about the attribute with this handle", #""0x0016""#),
    WorldField(
      "empty", .flag, "On the air: data PDUs that carry nothing; true or left out", else: "any packet", example: "true"),
    WorldField(
      "device", .text(WorldLimits.name), "At HCI and of devices: which device or client", else: "any",
      example: #""a""#),
    number("command", 16, "At HCI: commands with this opcode", #""0x200A""#),
    number("event", 8, "At HCI: events with this code", #""0x3E""#),
    number("subevent", 8, "At HCI: LE Meta events with this subevent code", #""0x01""#),
    WorldField("data", .flag, "At HCI: ACL data; true or left out", else: "any packet", example: "true"),
    WorldField(
      "direction", .choice(["toController", "toHost"]), "At HCI: where the packet goes", else: "either way",
      example: #""toHost""#),
    WorldField(
      "number", .integer(1...Int(Int32.max)), "Which of the packets that match, from 1", else: "each", example: "3"),
    WorldField(
      "numbers", .list(.integer(1...Int(Int32.max)), count: 2...2), "The first and the last of them", else: "each",
      example: "[2, 5]"),
    WorldField("percent", .number(0...100), "Each of them with this probability, %", else: "each", example: "5"),
  ]
}
