extension ObjectShape {
  static let peripheral = ObjectShape(
    "peripheral", "a peripheral whose advertising and services are described here",
    [
      WorldField(
        "localName", .text(WorldLimits.name),
        "The local name in advertising, unless `advertising` has a payload",
        else: "`gapName` or `name`", example: #""Acme""#),
      WorldField(
        "appearance", .integer(0...65_535), "The value of the Appearance characteristic", else: "0: unknown",
        example: "833"),
      WorldField(
        "advertising", .object(.advertising), "The advertising parameters and data",
        else: "connectable, every 0.1 s, with flags, primary services and name if they fit",
        example: #"{"interval": 1}"#),
      WorldField(
        "connection", .object(.preferredParameters), "The connection parameters that it requests after connecting",
        else: "no request",
        example: #"{"interval": 0.05}"#),
      WorldField(
        "services", .list(.object(.service), count: WorldLimits.services),
        "The services, of which several may have one UUID; the GAP and GATT services are added automatically",
        else: "none",
        example: #"[{"uuid": "180F"}]"#),
      WorldField(
        "firstHandle", .integer(1...65_000),
        "The attribute handle of the GAP service, which the GATT service follows", else: "1", example: "256"),
    ])

  static let service = ObjectShape(
    "service", "a service",
    [
      WorldField(required: "uuid", .uuid, "The UUID", example: #""180F""#),
      WorldField(
        "isPrimary", .flag, "True for a primary service, false for a secondary service",
        else: "true", example: "false"),
      WorldField(
        "includes", .list(.uuid, count: 0...100),
        "The included services, which must be defined before this one; of several with one UUID, the first",
        else: "none",
        example: #"["180A"]"#),
      WorldField(
        "includedHandles", .list(.integer(1...65_535), count: 0...100),
        "Further included services, by the `handle` that each of them has; they may be defined after this one",
        else: "none", example: "[1]"),
      WorldField(
        "handle", .integer(1...65_535), "The attribute handle of the declaration",
        else: "the first one after those of the services before", example: "300"),
      WorldField(
        "presentFrom", .number(WorldLimits.seconds),
        "The time after the start from which the service is there, seconds. Clients that have subscribed to Service "
          + "Changed are told", else: "0", example: "10"),
      WorldField(
        "presentUntil", .number(WorldLimits.seconds),
        "The time after the start at which the service is removed, seconds. If it is before `presentFrom`, the service "
          + "is there at the start, is removed, and returns", else: "never", example: "20"),
      WorldField(
        "characteristics", .list(.object(.characteristic), count: WorldLimits.characteristics),
        "The characteristics, of which several may have one UUID: fields that name one mean the first",
        else: "none", example: #"[{"uuid": "2A19", "properties": ["read"]}]"#),
    ])

  static let characteristic = ObjectShape(
    "characteristic", "a characteristic",
    [
      WorldField(required: "uuid", .uuid, "The UUID", example: #""2A19""#),
      WorldField(
        required: "properties", .list(.choice(PropertyNames.all.keys.sorted()), count: 0...7),
        "The properties. A written value is stored, and sent to the subscribed clients",
        example: #"["read", "notify"]"#),
      WorldField("value", .octets(0...512), "The value", else: "none", example: #""64""#),
      WorldField("text", .text(0...512), "The value, as UTF-8 text", else: "none", example: #""Acme""#),
      WorldField(
        "values", .list(.octets(0...512), count: 1...10_000),
        "A repeating sequence of values; the next value is used after each `notifyPeriod`", else: "none",
        example: #"["01", "02"]"#),
      WorldField(
        "notifyPeriod", .number(0.001...WorldLimits.seconds.upperBound),
        "The period for sending the value to subscribed clients, seconds; requires `notify` or `indicate`",
        else: "only after a write",
        example: "1"),
      WorldField(
        "command", .text(1...4_096),
        "A shell command whose output is the value: it runs for each read, and every `notifyPeriod`. Only `ble serve` "
          + "runs it; a world uses the value in the file", else: "none", example: #""cat /proc/loadavg""#),
      WorldField(
        "lines", .text(1...4_096),
        "A shell command that runs as long as `ble serve`: each line of its output is the value from then on, and is "
          + "sent to the subscribed clients; `-`: the lines of the standard input", else: "none",
        example: #""vmstat 1""#),
      WorldField(
        "output", .choice(OutputNames.all.keys.sorted()),
        "The form of the output of `command` or `lines`: `text`: UTF-8 without the line break; `octets`: as it is; "
          + "`value`: as a value of `ble write`, such as `u16:500`",
        else: #""text""#, example: #""value""#),
      WorldField(
        "echo", .uuid,
        "Another characteristic of the service: a value written to it becomes the value of this one too, and is sent "
          + "to the subscribed clients", else: "none", example: #""2A19""#),
      WorldField(
        "maximumLength", .integer(0...512), "The maximum length of a written value, octets", else: "512",
        example: "20"),
      WorldField(
        "protection", .choice(ProtectionNames.all.keys.sorted()),
        "The link security that reads, writes and subscriptions require", else: #""none""#,
        example: #""encrypted""#),
      WorldField(
        "permissions", .list(.choice(PermissionNames.all.keys.sorted()), count: 0...8),
        "The permissions of the value. An operation needs its property, too",
        else: "those that the properties and `protection` need", example: #"["readable"]"#),
      WorldField(
        "shownProperties", .list(.choice(PropertyNames.all.keys.sorted()), count: 0...7),
        "The properties that clients see, if they differ from those that the server performs", else: "`properties`",
        example: #"["read"]"#),
      WorldField(
        "refuses", .object(.refusal),
        "The accesses that the server does not authorize: they get the error Insufficient Authorization",
        else: "none", example: #"{"accesses": ["write"]}"#),
      WorldField(
        "handle", .integer(1...65_534),
        "The attribute handle of the declaration, which the value follows", else: "the next one", example: "300"),
      WorldField(
        "reliableWrite", .flag, "True if it supports reliable writes", else: "false",
        example: "true"),
      WorldField(
        "userDescription", .text(0...512), "The Characteristic User Description descriptor", else: "none",
        example: #""Level""#),
      WorldField(
        "writableUserDescription", .flag,
        "True if clients may write the Characteristic User Description descriptor, which is empty without "
          + "`userDescription`", else: "false", example: "true"),
      WorldField(
        "presentationFormat", .object(.presentationFormat), "The Characteristic Presentation Format descriptor",
        else: "none", example: #"{"format": 4, "unit": 10157}"#),
      WorldField(
        "aggregateFormat", .list(.uuid, count: 1...100),
        "The Characteristic Aggregate Format descriptor: the characteristics of the service whose presentation formats "
          + "describe the parts of the value, in their order", else: "none", example: #"["2A6E"]"#),
      WorldField(
        "descriptors", .list(.object(.descriptor), count: WorldLimits.descriptors), "Other descriptors", else: "none",
        example: #"[{"uuid": "2908", "value": "0001"}]"#),
    ], exclusive: [["value", "text", "values"], ["values", "command", "lines"]])

  static let refusal = ObjectShape(
    "refusal", "accesses that the server does not authorize",
    [
      WorldField(
        required: "accesses", .list(.choice(AccessNames.all.keys.sorted()), count: 1...2), "The accesses",
        example: #"["write"]"#),
      WorldField(
        "until", .number(WorldLimits.seconds),
        "The time after the start from which the server authorizes them, seconds", else: "never", example: "5"),
    ])

  static let presentationFormat = ObjectShape(
    "presentationFormat", "the presentation format of a value, as assigned numbers",
    [
      WorldField(required: "format", .integer(0...255), "The format type", example: "4"),
      WorldField("exponent", .integer(-128...127), "The decimal exponent", else: "0", example: "-2"),
      WorldField(required: "unit", .integer(0...65_535), "The unit", example: "10157"),
      WorldField(
        "namespace", .integer(0...255), "The namespace of the description", else: "1: Bluetooth SIG", example: "2"),
      WorldField("description", .integer(0...65_535), "The description", else: "0", example: "1"),
    ])

  static let descriptor = ObjectShape(
    "descriptor", "a descriptor",
    [
      WorldField(
        required: "uuid", .uuid,
        "The UUID, except 2900 to 2905, which are added automatically or have their own fields", example: #""2908""#),
      WorldField("value", .octets(0...512), "The value", else: "none", example: #""0001""#),
      WorldField(
        "permissions", .list(.choice(PermissionNames.all.keys.sorted()), count: 0...8),
        "The permissions; a written value is stored", else: #"["readable"]"#,
        example: #"["readable", "writeable"]"#),
      WorldField(
        "handle", .integer(1...65_535), "The attribute handle", else: "the next one", example: "300"),
    ])

  // MARK: Advertising

  static let advertising = ObjectShape(
    "advertising", "advertising parameters and data",
    [
      WorldField(
        "kind", .choice(AdvertisingKindNames.all.keys.sorted()),
        "`connectable`: ADV_IND; `scannable`: ADV_SCAN_IND; `broadcast`: ADV_NONCONN_IND; `directed`: ADV_DIRECT_IND "
          + "to the last connected central", else: #""connectable", or "broadcast" for a broadcaster"#,
        example: #""scannable""#),
      WorldField(
        "interval", .number(0.02...10.24), "The advertising interval, seconds, in steps of 0.625 ms", else: "0.1",
        example: "1"),
      WorldField(
        "schedule", .list(.object(.phase), count: 1...100), "A sequence of advertising intervals",
        else: "`interval`, without end",
        example: #"[{"interval": 0.02, "for": 30}, {"interval": 1}]"#),
      WorldField(
        "channels", .list(.integer(37...39), count: 1...3), "The advertising channels", else: "[37, 38, 39]",
        example: "[37]"),
      WorldField(
        "transmitPower", .integer(-20...20), "The transmit power, dBm", else: "that of the device", example: "-8"),
      WorldField(
        "payload", .object(.payload), "The advertising data, in this order, at most 31 octets",
        else: "flags, primary services and name if they fit; empty for a broadcaster", example: #"{"flags": 6}"#),
      WorldField(
        "scanResponse", .object(.payload), "The scan response data, in this order, at most 31 octets",
        else: "empty, or the name if it does not fit in the payload", example: #"{"name": "Acme"}"#),
    ], exclusive: [["interval", "schedule"]])

  static let phase = ObjectShape(
    "phase", "a part of an advertising schedule",
    [
      WorldField(
        required: "interval", .number(0.02...10.24), "The advertising interval, seconds, in steps of 0.625 ms",
        example: "0.02"),
      WorldField(
        "for", .number(0.001...WorldLimits.seconds.upperBound),
        "The duration, seconds; advertising stops after the last part if it has a duration",
        else: "without end", example: "30"),
    ])

  static let payload = ObjectShape(
    "payload", "AD structures, in the order in which they are written",
    [
      WorldField(
        "flags", .integer(0...255), "Flags; 6: LE General Discoverable Mode, BR/EDR Not Supported", else: "none",
        example: "6"),
      WorldField("name", .text(0...29), "Complete Local Name", else: "none", example: #""Acme""#),
      WorldField("shortenedName", .text(0...29), "Shortened Local Name", else: "none", example: #""Ac""#),
      WorldField(
        "services", .list(.uuid, count: 1...14),
        "Complete Lists of 16-bit, 32-bit and 128-bit Service UUIDs, one for each size that occurs",
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
        "structures", .list(.object(.structure), count: 1...15), "Other AD structures", else: "none",
        example: #"[{"type": 36, "data": "00"}]"#),
    ])

  static let serviceData = ObjectShape(
    "serviceData", "a Service Data structure",
    [
      WorldField(required: "uuid", .uuid, "The UUID of the service", example: #""180F""#),
      WorldField("data", .octets(0...29), "The data", else: "none", example: #""64""#),
    ])

  static let manufacturerData = ObjectShape(
    "manufacturerData", "a Manufacturer Specific Data structure",
    [
      WorldField(required: "company", .integer(0...65_535), "The company identifier", example: "65535"),
      WorldField("data", .octets(0...29), "The data", else: "none", example: #""0102""#),
    ])

  static let structure = ObjectShape(
    "structure", "an AD structure",
    [
      WorldField(required: "type", .integer(0...255), "The AD type", example: "36"),
      WorldField("data", .octets(0...29), "The data after the type", else: "none", example: #""00""#),
    ])
}
