extension ObjectShape {
  static let peripheral = ObjectShape(
    "peripheral", "a peripheral that is described here: what it advertises and serves",
    [
      WorldField(
        "localName", .text(WorldLimits.name),
        "What it calls itself where it advertises, unless `advertising` has a payload",
        else: "`gapName`, or its name", example: #""Acme""#),
      WorldField(
        "appearance", .integer(0...65_535), "The value of the characteristic Appearance", else: "0: unknown",
        example: "833"),
      WorldField(
        "advertising", .object(.advertising), "What, how often, and where",
        else: "connectable, every 0.1 s, with flags, primary services and name as far as they fit",
        example: #"{"interval": 1}"#),
      WorldField(
        "connection", .object(.connectionWish), "What it asks for when somebody has connected", else: "nothing",
        example: #"{"interval": 0.05}"#),
      WorldField(
        "services", .list(.object(.service), count: 0...100),
        "What it serves; GAP and GATT are there by themselves. Each service has another UUID", else: "none",
        example: #"[{"uuid": "180F"}]"#),
    ])

  static let service = ObjectShape(
    "service", "a service",
    [
      WorldField(required: "uuid", .uuid, "What it is", example: #""180F""#),
      WorldField(
        "isPrimary", .flag, "Whether clients find it by itself, and not only where another service includes it",
        else: "true", example: "false"),
      WorldField(
        "includes", .list(.uuid, count: 0...100), "Services that it includes, which stand before it", else: "none",
        example: #"["180A"]"#),
      WorldField(
        "characteristics", .list(.object(.characteristic), count: 0...100), "What it has, each with another UUID",
        else: "none", example: #"[{"uuid": "2A19", "properties": ["read"]}]"#),
    ])

  static let characteristic = ObjectShape(
    "characteristic", "a characteristic",
    [
      WorldField(required: "uuid", .uuid, "What it is", example: #""2A19""#),
      WorldField(
        required: "properties", .list(.choice(PropertyNames.all.keys.sorted()), count: 1...6),
        "What may be done with it. What a client writes is its value from then on, and who listens is told",
        example: #"["read", "notify"]"#),
      WorldField("value", .octets(0...512), "Its value", else: "none", example: #""64""#),
      WorldField("text", .text(0...512), "Its value, as UTF-8", else: "none", example: #""Acme""#),
      WorldField(
        "values", .list(.octets(0...512), count: 1...10_000),
        "Its values, one after the other and from the beginning again: it goes on each `notifyPeriod`", else: "none",
        example: #"["01", "02"]"#),
      WorldField(
        "notifyPeriod", .number(0.001...WorldLimits.seconds.upperBound),
        "How often who listens is sent the value, seconds; it needs `notify` or `indicate`",
        else: "only when it is written",
        example: "1"),
      WorldField(
        "maximumLength", .integer(0...512), "The longest value that a client may write, octets", else: "512",
        example: "20"),
      WorldField(
        "protection", .choice(ProtectionNames.all.keys.sorted()),
        "How well a link has to be protected before it is read, written or subscribed to", else: #""none""#,
        example: #""encrypted""#),
      WorldField(
        "reliableWrite", .flag, "It says that it can be written together with others, all or none", else: "false",
        example: "true"),
      WorldField(
        "userDescription", .text(0...512), "Its descriptor Characteristic User Description", else: "none",
        example: #""Level""#),
      WorldField(
        "presentationFormat", .object(.presentationFormat), "Its descriptor Characteristic Presentation Format",
        else: "none", example: #"{"format": 4, "unit": 10157}"#),
      WorldField(
        "descriptors", .list(.object(.descriptor), count: 0...10), "Other descriptors", else: "none",
        example: #"[{"uuid": "2908", "value": "0001"}]"#),
    ], exclusive: [["value", "text", "values"]])

  static let presentationFormat = ObjectShape(
    "presentationFormat", "how a value is to be read, in assigned numbers",
    [
      WorldField(required: "format", .integer(0...255), "The format type", example: "4"),
      WorldField("exponent", .integer(-128...127), "The power of ten", else: "0", example: "-2"),
      WorldField(required: "unit", .integer(0...65_535), "The unit", example: "10157"),
      WorldField(
        "namespace", .integer(0...255), "Whose description it is", else: "1: the Bluetooth SIG's", example: "2"),
      WorldField("description", .integer(0...65_535), "The description", else: "0", example: "1"),
    ])

  static let descriptor = ObjectShape(
    "descriptor", "a descriptor that can be read",
    [
      WorldField(required: "uuid", .uuid, "What it is; 2900 to 2905 are there by themselves", example: #""2908""#),
      WorldField("value", .octets(0...512), "Its value", else: "none", example: #""0001""#),
    ])

  // MARK: Advertising

  static let advertising = ObjectShape(
    "advertising", "how a device advertises",
    [
      WorldField(
        "kind", .choice(AdvertisingKindNames.all.keys.sorted()),
        "`connectable`: ADV_IND; `scannable`: ADV_SCAN_IND; `broadcast`: ADV_NONCONN_IND; `directed`: ADV_DIRECT_IND to the "
          + "central that was connected last", else: #""connectable", and "broadcast" of a broadcaster"#,
        example: #""scannable""#),
      WorldField(
        "interval", .number(0.02...10.24), "Seconds, in steps of 0.625 ms", else: "0.1", example: "1"),
      WorldField(
        "schedule", .list(.object(.phase), count: 1...100), "Intervals, one after the other",
        else: "`interval` for ever",
        example: #"[{"interval": 0.02, "for": 30}, {"interval": 1}]"#),
      WorldField(
        "channels", .list(.integer(37...39), count: 1...3), "Advertising channels", else: "[37, 38, 39]",
        example: "[37]"),
      WorldField(
        "transmitPower", .integer(-20...20), "dBm", else: "that of the device", example: "-8"),
      WorldField(
        "payload", .object(.payload), "What every packet says, in this order: 31 octets at most",
        else: "flags, primary services and name as far as they fit; of a broadcaster nothing", example: #"{"flags": 6}"#
      ),
      WorldField(
        "scanResponse", .object(.payload), "What those who ask are told: 31 octets at most",
        else: "nothing, or the name where it did not fit", example: #"{"name": "Acme"}"#),
    ], exclusive: [["interval", "schedule"]])

  static let phase = ObjectShape(
    "phase", "a part of a schedule",
    [
      WorldField(
        required: "interval", .number(0.02...10.24), "Seconds, in steps of 0.625 ms", example: "0.02"),
      WorldField(
        "for", .number(0.001...WorldLimits.seconds.upperBound),
        "For how many seconds; nothing is sent after a last part that has it",
        else: "for ever", example: "30"),
    ])

  static let payload = ObjectShape(
    "payload", "AD structures, in the order in which they stand here",
    [
      WorldField("flags", .integer(0...255), "Flags; 6: discoverable, no BR/EDR", else: "none", example: "6"),
      WorldField("name", .text(0...29), "Complete Local Name", else: "none", example: #""Acme""#),
      WorldField("shortenedName", .text(0...29), "Shortened Local Name", else: "none", example: #""Ac""#),
      WorldField(
        "services", .list(.uuid, count: 1...14),
        "Complete Lists of Service UUIDs: one of 16, one of 32 and one of 128 bits, as far as there are such",
        else: "none",
        example: #"["180D", "180F"]"#),
      WorldField(
        "serviceData", .list(.object(.serviceData), count: 1...14), "Service Data", else: "none",
        example: #"[{"uuid": "180F", "data": "64"}]"#),
      WorldField(
        "manufacturerData", .object(.manufacturerData), "Manufacturer Specific Data", else: "none",
        example: #"{"company": 65535, "data": "0102"}"#),
      WorldField("transmitPower", .integer(-127...127), "Tx Power Level, dBm", else: "none", example: "4"),
      WorldField("appearance", .integer(0...65_535), "Appearance", else: "none", example: "833"),
      WorldField(
        "structures", .list(.object(.structure), count: 1...15), "Any other AD structures", else: "none",
        example: #"[{"type": 36, "data": "00"}]"#),
    ])

  static let serviceData = ObjectShape(
    "serviceData", "data of a service",
    [
      WorldField(required: "uuid", .uuid, "The service", example: #""180F""#),
      WorldField("data", .octets(0...29), "Its data", else: "none", example: #""64""#),
    ])

  static let manufacturerData = ObjectShape(
    "manufacturerData", "data of a company",
    [
      WorldField(required: "company", .integer(0...65_535), "The Company Identifier", example: "65535"),
      WorldField("data", .octets(0...29), "Its data", else: "none", example: #""0102""#),
    ])

  static let structure = ObjectShape(
    "structure", "an AD structure",
    [
      WorldField(required: "type", .integer(0...255), "The AD type", example: "36"),
      WorldField("data", .octets(0...29), "What follows the type", else: "none", example: #""00""#),
    ])
}
