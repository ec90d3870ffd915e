// The fields of world files. The reader rejects all other fields; the JSON Schema and the lists of
// Documentation/World-files.md are generated from these descriptions.

/// Ranges that several fields share.
package enum WorldLimits {
  /// Seconds: 0 to about 31 years, as in fault plans.
  static let seconds = 0.0...1e9
  /// Metres: the range to which the lab clamps positions.
  static let metres = -1e6...1e6
  /// The transmit power of a radio, dBm.
  static let power = -20.0...20.0
  /// The octets of a characteristic Device Name · Vol 3, Part C, 12.1.
  static let name = 1...248
  /// The services of a device, the characteristics of a service, and the descriptors without a field of their own.
  package static let services = 0...100
  package static let characteristics = 0...100
  package static let descriptors = 0...10
  /// The largest number of characteristics of a device. With all attributes that a characteristic can have, this number
  /// and its services use about half of the available handles.
  package static let allCharacteristics = 1_000
  static let devices = 0...10_000
  static let points = 1...10_000
  static let losses = 0...100_000
  static let sources = 0...100
}

extension ObjectShape {
  /// The root object of the file.
  static let world = ObjectShape(
    "world", "the contents of an air",
    [
      WorldField(
        "$schema", .text(0...1_000), "The location of the JSON Schema, for editors; ignored by the reader",
        else: "none",
        example: #""world.schema.json""#),
      WorldField(
        "seed", .seed, "The seed for all randomness in the simulation; overridden by `--seed` on the command line",
        else: "0", example: "7"),
      WorldField(
        "environment", .word(Array(EnvironmentNames.all.keys).sorted(), or: .environment),
        "The path loss model", else: #""free""#, example: #""office""#),
      WorldField(
        "interference", .list(.kinds(ObjectShape.interferenceKinds), count: WorldLimits.sources),
        "Sources of interference in the 2.4 GHz band", else: "none",
        example: #"[{"kind": "jammer", "channels": [39]}]"#),
      WorldField(
        "losses", .list(.object(.loss), count: WorldLimits.losses),
        "Fixed path losses between two devices or clients, which replace those of the environment", else: "none",
        example: #"[{"between": ["a", "b"], "decibels": 80}]"#),
      WorldField(
        "devices", .list(.object(.device), count: WorldLimits.devices),
        "The simulated devices, in the order in which they join the world", else: "none",
        example: #"[{"name": "strap", "accessory": "heart-rate"}]"#),
      WorldField(
        "clients", .list(.object(.client), count: WorldLimits.devices),
        "Settings for the controllers of hosts that join over HCI, in the order in which the hosts join",
        else: "none: each is at [0, 0, 0]", example: #"[{"name": "phone"}]"#),
      WorldField(
        "faults", .list(.object(.fault), count: WorldLimits.devices), "Faults to inject", else: "none",
        example: #"[{"layer": "air", "fault": "lose", "percent": 5}]"#),
    ])

  /// The root object of a file with a fault plan.
  static let faultPlan = ObjectShape(
    "fault plan", "faults to inject",
    [
      WorldField(
        required: "faults", .list(.object(.fault), count: WorldLimits.devices), "The faults, in order of priority",
        example: #"[{"layer": "air", "fault": "lose", "percent": 5}]"#)
    ])

  static let environment = ObjectShape(
    "environment", "a path loss model: reference + 10 · exponent · log₁₀ d + margin decibels, d in metres",
    [
      WorldField("reference", .number(0...200), "The path loss at 1 m, dB", else: "40", example: "45"),
      WorldField(
        "exponent", .number(0...10), "The path loss exponent: 2 in free space, up to 4 indoors", else: "2.5",
        example: "3"),
      WorldField(
        "margin", .number(-200...200), "Additional loss by walls, bodies and fading, dB", else: "0",
        example: "10"),
      WorldField(
        "shadowing", .number(0...50), "The standard deviation of log-normal shadowing for each pair of devices, dB",
        else: "0", example: "4"),
    ])

  static let loss = ObjectShape(
    "loss", "the path loss between two devices or clients",
    [
      WorldField(
        required: "between", .list(.text(WorldLimits.name), count: 2...2), "The names of two devices or clients",
        example: #"["a", "b"]"#),
      WorldField(
        required: "decibels", .number(0...300), "The path loss in both directions, independent of the positions, dB",
        example: "80"),
    ])

  static let waypoint = ObjectShape(
    "waypoint", "a position at a point in time",
    [
      WorldField(required: "at", .number(WorldLimits.seconds), "The simulation time, seconds", example: "10"),
      WorldField(required: "position", .position, "The position, metres", example: "[5, 2]"),
    ])

  static let powerSwitch = ObjectShape(
    "power", "a change of the Bluetooth power state",
    [
      WorldField(required: "at", .number(WorldLimits.seconds), "The simulation time, seconds", example: "10"),
      WorldField(required: "isOn", .flag, "True if Bluetooth is on from this time", example: "false"),
    ])

  static let signalStrength = ObjectShape(
    "signalStrength", "the RSSI measurement error of a chip",
    [
      WorldField("offset", .number(-100...100), "The offset of the reported RSSI, dB", else: "0", example: "3"),
      WorldField(
        "step", .number(0...100), "The resolution of the reported RSSI, dB; 0: unlimited", else: "0", example: "2"),
      WorldField("minimum", .number(-127...20), "The lowest reported RSSI, dBm", else: "-127", example: "-100"),
      WorldField("maximum", .number(-127...20), "The highest reported RSSI, dBm", else: "20", example: "-20"),
    ])

  static let antenna = ObjectShape(
    "antenna", "the directions in which an antenna is weaker, for sending and receiving",
    [
      WorldField(
        "shape", .choice(AntennaShape.allCases.map(\.rawValue)),
        "`directional`: strongest along the axis, as a patch; `dipole`: strongest all around the axis",
        else: #""directional""#, example: #""dipole""#),
      WorldField(
        "axis", .position, "The direction of the axis, as a vector of any length", else: "[1, 0, 0]",
        example: "[0, 0, 1]"),
      WorldField(
        "beamwidth", .number(1...360), "The angle between the directions of half power, degrees; a dipole ignores it",
        else: "65", example: "90"),
      WorldField(
        "frontToBackRatio", .number(0...100),
        "The attenuation against the axis, for a dipole the attenuation along it, dB", else: "20; for a dipole 30",
        example: "15"),
      WorldField(
        "attenuations", .list(.number(0...100), count: 2...181),
        "Measured values in place of the shape: the attenuation at equal steps of the angle to the axis, from 0° to "
          + "180°, dB", else: "those of `shape`", example: "[0, 3, 20]"),
    ])

  // MARK: Devices

  static let device = ObjectShape(
    "device", "a simulated device",
    [
      WorldField(
        required: "name", .text(WorldLimits.name),
        "The unique name in captures, faults and losses; it also selects the random numbers of the device",
        example: #""strap""#),
      WorldField(
        required: "accessory", .kinds(ObjectShape.accessoryKinds),
        "The kind of the device: a ready-made accessory, or a peripheral described here", example: #""heart-rate""#),
    ] + radioFields + [
      WorldField(
        "gapName", .text(WorldLimits.name), "The value of the Device Name characteristic", else: "`name`",
        example: #""Strap 3000""#),
      WorldField(
        "bondLimit", .integer(0...1_000), "The maximum number of bonds", else: "64", example: "2"),
      WorldField(
        "usesPrivateAddresses", .flag, "True if it uses resolvable private addresses, which change every 15 minutes",
        else: "false", example: "true"),
      WorldField(
        "power", .list(.object(.powerSwitch), count: WorldLimits.points),
        "When Bluetooth is switched on and off, in order of time", else: "always on",
        example: #"[{"at": 5, "isOn": false}]"#),
    ])

  static let client = ObjectShape(
    "client", "settings for the controller of a host that joins over HCI",
    [
      WorldField(
        required: "name", .text(WorldLimits.name),
        "The unique name in captures, faults and losses; it also selects the random numbers of the device",
        example: #""phone""#)
    ] + radioFields)

  /// The fields that devices and clients share.
  private static let radioFields = [
    WorldField("position", .position, "The initial position, metres", else: "[0, 0, 0]", example: "[3, 1]"),
    WorldField(
      "path", .list(.object(.waypoint), count: WorldLimits.points),
      "A path of waypoints, in order of time: the device moves at constant speed between two waypoints, and rests at "
        + "the first and at the last", else: "it stays at `position`",
      example: #"[{"at": 0, "position": [0, 0]}, {"at": 10, "position": [8, 0]}]"#),
    WorldField("transmitPower", .number(WorldLimits.power), "The transmit power, dBm", else: "0", example: "-8"),
    WorldField(
      "address", .address, "The public device address", else: "random", example: #""C0:FF:EE:00:00:01""#),
    WorldField(
      "generation", .choice(GenerationNames.all.keys.sorted()),
      "The features of the chip: `bluetooth40` has ATT_MTU 23, data PDUs of 27 octets and one connection, and "
        + "can't scan",
      else: #""bluetooth54""#, example: #""bluetooth40""#),
    WorldField(
      "sleepClockAccuracy", .integer(0...500), "The declared accuracy of the sleep clock, ppm", else: "50",
      example: "20"),
    WorldField(
      "sleepClockDrift", .number(-100_000...100_000),
      "The actual drift of the sleep clock, ppm; positive: slow", else: "0", example: "30"),
    WorldField(
      "antennaGain", .number(-100...100),
      "The antenna gain for sending and receiving in the antenna's strongest direction, dBi", else: "0", example: "2"),
    WorldField(
      "antenna", .object(.antenna), "The directions in which the antenna is weaker", else: "equal in all directions",
      example: #"{"axis": [0, 1]}"#),
    WorldField(
      "sensitivity", .number(-130 ... -20),
      "The receiver sensitivity: the level with a bit error rate of 0.1 % on LE 1M, dBm", else: "-90", example: "-96"),
    WorldField(
      "signalStrength", .object(.signalStrength), "The RSSI measurement error", else: "exact RSSI",
      example: #"{"offset": 3}"#),
    WorldField(
      "chip", .choice(ChipNames.all.keys.sorted()), "The current profile of the chip, for energy reports",
      else: #""modern""#, example: #""nrf52832""#),
    WorldField(
      "cell", .choice(CellNames.all.keys.sorted()), "The battery, for energy reports", else: #""cr2032""#,
      example: #""cr2450""#),
    WorldField(
      "temperature", .number(-60...150), "The temperature of the battery, for energy reports, °C", else: "20",
      example: "-10"),
  ]

  // MARK: Interference

  static let interferenceKinds = [
    ObjectShape(
      "wi-fi", "a Wi-Fi network, 22 MHz wide",
      [
        WorldField(required: "channel", .integer(1...13), "The Wi-Fi channel", example: "6"),
        WorldField(
          required: "dutyCycle", .number(0...1), "The duty cycle: the fraction of time in which it sends",
          example: "0.5"),
        WorldField(
          "burst", .number(0.00001...1), "The duration of a burst, seconds", else: "0.001", example: "0.002"),
      ] + sourceFields),
    ObjectShape(
      "microwave-oven", "a microwave oven",
      [
        WorldField(
          "dutyCycle", .number(0...1), "The duty cycle: the fraction of each mains period in which it radiates",
          else: "0.5",
          example: "0.4")
      ] + sourceFields),
    ObjectShape(
      "classic-bluetooth", "a Bluetooth BR/EDR connection, which hops over the whole band",
      [
        WorldField(
          "dutyCycle", .number(0...1), "The duty cycle: the fraction of time in which it sends", else: "1",
          example: "0.5")
      ] + sourceFields),
    ObjectShape(
      "jammer", "a continuous transmitter",
      [
        WorldField(
          required: "channels", .list(.integer(0...39), count: 1...40),
          "Radio channels k at 2402 + 2k MHz; 0, 12 and 39 are the primary advertising channels", example: "[0, 12]")
      ] + sourceFields),
  ]

  private static let sourceFields = [
    WorldField("position", .position, "The position, metres", else: "[0, 0, 0]", example: "[3, 1]"),
    WorldField(
      "power", .number(-100...100), "The transmit power over the whole bandwidth, dBm", else: "20", example: "10"),
  ]
}
