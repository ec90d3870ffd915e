// The fields of world files. The reader rejects all other fields; the JSON Schema and the tables of
// Documentation/World-files.md are generated from these descriptions.

/// Ranges that several fields share.
enum WorldLimits {
  /// Seconds: 0 to about 31 years, as in fault plans.
  static let seconds = 0.0...1e9
  /// Metres: the range to which the lab clamps positions.
  static let metres = -1e6...1e6
  /// The transmit power of a radio, dBm.
  static let power = -20.0...20.0
  /// The octets of a characteristic Device Name · Vol 3, Part C, 12.1.
  static let name = 1...248
  static let devices = 0...10_000
  static let points = 1...10_000
  static let losses = 0...100_000
  static let sources = 0...100
}

extension ObjectShape {
  /// The root object of the file.
  static let world = ObjectShape(
    "world", "what an air has in it",
    [
      WorldField(
        "$schema", .text(0...1_000), "Where editors find the schema; it means nothing here", else: "nothing",
        example: #""../../Documentation/world.schema.json""#),
      WorldField(
        "seed", .seed, "Decides all chance in the world; `--seed` on the command line goes before it",
        else: "what the command line says", example: "7"),
      WorldField(
        "environment", .word(Array(EnvironmentNames.all.keys).sorted(), or: .environment),
        "How signals weaken on their way", else: #""free""#, example: #""office""#),
      WorldField(
        "interference", .list(.kinds(ObjectShape.interferenceKinds), count: WorldLimits.sources),
        "What disturbs the band and is no device", else: "none",
        example: #"[{"kind": "jammer", "channels": [39]}]"#),
      WorldField(
        "losses", .list(.object(.loss), count: WorldLimits.losses),
        "What the way between two devices or clients loses, in place of what the environment says", else: "none",
        example: #"[{"between": ["a", "b"], "decibels": 80}]"#),
      WorldField(
        "devices", .list(.object(.device), count: WorldLimits.devices),
        "What has a radio and is played by the lab; in this order they join the world", else: "none",
        example: #"[{"name": "strap", "accessory": "heart-rate"}]"#),
      WorldField(
        "clients", .list(.object(.client), count: WorldLimits.devices),
        "Places for controllers that programs elsewhere use by HCI: the first that connects has the first place",
        else: "none: each stands where all axes meet", example: #"[{"name": "phone"}]"#),
      WorldField(
        "faults", .list(.object(.fault), count: WorldLimits.devices), "What shall go wrong", else: "nothing",
        example: #"[{"layer": "air", "fault": "lose", "percent": 5}]"#),
    ])

  static let environment = ObjectShape(
    "environment", "how signals weaken: reference + 10 · exponent · log₁₀ d + margin decibels, d in metres",
    [
      WorldField("reference", .number(0...200), "Decibels over the first metre", else: "40", example: "45"),
      WorldField(
        "exponent", .number(0...10), "2 in free space, up to 4 indoors", else: "2.5", example: "3"),
      WorldField(
        "margin", .number(-200...200), "Decibels that walls, bodies and fading take away besides", else: "0",
        example: "10"),
      WorldField(
        "shadowing", .number(0...50), "The standard deviation of what each pair of devices has besides, decibels",
        else: "0", example: "4"),
    ])

  static let loss = ObjectShape(
    "loss", "what the way between two loses",
    [
      WorldField(
        required: "between", .list(.text(WorldLimits.name), count: 2...2), "The names of two devices or clients",
        example: #"["a", "b"]"#),
      WorldField(
        required: "decibels", .number(0...300), "Decibels, in both directions and wherever they are", example: "80"),
    ])

  static let waypoint = ObjectShape(
    "waypoint", "where something is at a time",
    [
      WorldField(required: "at", .number(WorldLimits.seconds), "Seconds of the world's radio time", example: "10"),
      WorldField(required: "position", .position, "Metres", example: "[5, 2]"),
    ])

  static let powerSwitch = ObjectShape(
    "power", "when Bluetooth is switched",
    [
      WorldField(required: "at", .number(WorldLimits.seconds), "Seconds of the world's radio time", example: "10"),
      WorldField(required: "isOn", .flag, "Whether it is on from then on", example: "false"),
    ])

  static let signalStrength = ObjectShape(
    "signalStrength", "what a chip makes of a level before it tells it as RSSI",
    [
      WorldField("offset", .number(-100...100), "Decibels that it tells too much", else: "0", example: "3"),
      WorldField("step", .number(0...100), "It tells multiples of so many decibels; 0: any", else: "0", example: "2"),
      WorldField("minimum", .number(-127...20), "The least that it tells, dBm", else: "-127", example: "-100"),
      WorldField("maximum", .number(-127...20), "The most that it tells, dBm", else: "20", example: "-20"),
    ])

  // MARK: Devices

  static let device = ObjectShape(
    "device", "something with a radio that the lab plays itself",
    [
      WorldField(
        required: "name", .text(WorldLimits.name),
        "Tells it from all others of the world: in captures, faults, losses, and in its share of the seed",
        example: #""strap""#),
      WorldField(
        required: "accessory", .kinds(ObjectShape.accessoryKinds),
        "What it is: one of the lab's accessories, or one that is described here", example: #""heart-rate""#),
    ] + radioFields + [
      WorldField(
        "gapName", .text(WorldLimits.name), "What its characteristic Device Name says", else: "its name",
        example: #""Strap 3000""#),
      WorldField(
        "bondLimit", .integer(0...1_000), "With how many devices it bonds at most", else: "64", example: "2"),
      WorldField(
        "usesPrivateAddresses", .flag, "It changes its address every 15 minutes; only who has bonded knows it again",
        else: "false", example: "true"),
      WorldField(
        "power", .list(.object(.powerSwitch), count: WorldLimits.points),
        "When its Bluetooth is switched on and off, in the order of time", else: "it is on from the beginning",
        example: #"[{"at": 5, "isOn": false}]"#),
    ])

  static let client = ObjectShape(
    "client", "a place for a controller that a program elsewhere uses by HCI",
    [
      WorldField(
        required: "name", .text(WorldLimits.name),
        "Tells it from all others of the world: in captures, faults, losses, and in its share of the seed",
        example: #""phone""#)
    ] + radioFields)

  /// The fields that devices and clients share.
  private static let radioFields = [
    WorldField("position", .position, "Where it is at first, metres", else: "[0, 0, 0]", example: "[3, 1]"),
    WorldField(
      "path", .list(.object(.waypoint), count: WorldLimits.points),
      "Places that it passes, in the order of time: it moves evenly from each to the next, stands at the first before that and "
        + "stays at the last", else: "it stays at `position`",
      example: #"[{"at": 0, "position": [0, 0]}, {"at": 10, "position": [8, 0]}]"#),
    WorldField("transmitPower", .number(WorldLimits.power), "dBm", else: "0", example: "-8"),
    WorldField(
      "address", .address, "Its public device address", else: "one is drawn", example: #""C0:FF:EE:00:00:01""#),
    WorldField(
      "generation", .choice(GenerationNames.all.keys.sorted()),
      "What its chip can do: `bluetooth40` has ATT_MTU 23, data PDUs of 27 octets and one connection, and does not scan",
      else: #""bluetooth54""#, example: #""bluetooth40""#),
    WorldField(
      "sleepClockAccuracy", .integer(0...500), "What it claims of its sleep clock, parts per million", else: "50",
      example: "20"),
    WorldField(
      "sleepClockDrift", .number(-100_000...100_000),
      "By how much the seconds of its sleep clock are really longer, parts per million", else: "0", example: "30"),
    WorldField(
      "antennaGain", .number(-100...100), "dBi, of sending and receiving alike", else: "0", example: "2"),
    WorldField(
      "sensitivity", .number(-130 ... -20),
      "The level at which one bit in a thousand of a packet on LE 1M is lost, dBm", else: "-90", example: "-96"),
    WorldField(
      "signalStrength", .object(.signalStrength), "What its receiver tells of a level", else: "what is",
      example: #"{"offset": 3}"#),
    WorldField(
      "chip", .choice(ChipNames.all.keys.sorted()), "What its chip draws, for reports of energy",
      else: #""modern""#, example: #""nrf52832""#),
    WorldField(
      "cell", .choice(CellNames.all.keys.sorted()), "Its battery, for reports of energy", else: #""cr2032""#,
      example: #""cr2450""#),
  ]

  // MARK: Interference

  static let interferenceKinds = [
    ObjectShape(
      "wi-fi", "a Wi-Fi network, 22 MHz wide",
      [
        WorldField(required: "channel", .integer(1...13), "Its channel", example: "6"),
        WorldField(required: "dutyCycle", .number(0...1), "The part of the time for which it sends", example: "0.5"),
        WorldField(
          "burst", .number(0.00001...1), "How long it sends at a time, seconds", else: "0.001", example: "0.002"),
      ] + sourceFields),
    ObjectShape(
      "microwave-oven", "a microwave oven",
      [
        WorldField(
          "dutyCycle", .number(0...1), "The part of each period of the mains for which it radiates", else: "0.5",
          example: "0.4")
      ] + sourceFields),
    ObjectShape(
      "classic-bluetooth", "a connection of classic Bluetooth, which hops over the whole band",
      [
        WorldField(
          "dutyCycle", .number(0...1), "The part of the time for which it sends", else: "1", example: "0.5")
      ] + sourceFields),
    ObjectShape(
      "jammer", "a transmitter that sends all the time",
      [
        WorldField(
          required: "channels", .list(.integer(0...39), count: 1...40),
          "Radio channels, 2402 + 2k MHz: 0, 12 and 39 are those of advertising", example: "[0, 12]")
      ] + sourceFields),
  ]

  private static let sourceFields = [
    WorldField("position", .position, "Where it stands, metres", else: "[0, 0, 0]", example: "[3, 1]"),
    WorldField(
      "power", .number(-100...100), "dBm while it sends, over its whole width", else: "20", example: "10"),
  ]
}
