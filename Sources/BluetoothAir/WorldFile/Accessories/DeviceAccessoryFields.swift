import BluetoothLab

// The kinds of accessories of everyday: input devices, tags, lights and boards.

extension AccessoryKind {
  private static func inputDeviceFields<A: ScheduledAccessory>(
    reportInterval: WritableKeyPath<A, Duration> & Sendable,
    connection: WritableKeyPath<A, PreferredConnectionParameters?> & Sendable,
    protection: WritableKeyPath<A, CharacteristicProtection> & Sendable,
    battery: WritableKeyPath<A, UInt8> & Sendable
  ) -> [AccessoryField<A>] {
    [
      .advertisingInterval(),
      WorldField(
        "reportInterval", .number(0.001...10), "The time between two reports, seconds", else: "0.01", example: "0.02"
      ).time(reportInterval),
      WorldField(
        "connection", .object(.preferredParameters), "The connection parameters that it requests after connecting",
        else: "15 ms for a keyboard and 11.25 ms for a mouse, latency 20, supervision timeout 4 s",
        example: #"{"interval": 0.02, "latency": 30}"#
      ).set { device, object, _ in
        if let parameters = object.preferredParameters("connection") { device[keyPath: connection] = parameters }
      },
      .protection(protection, else: "encrypted"), .battery(battery),
    ]
  }

  static let keyboard = AccessoryKind(
    "keyboard", "a keyboard: Human Interface Device service",
    { name, _ in Keyboard(name: name) },
    inputDeviceFields(
      reportInterval: \.reportInterval, connection: \.connection, protection: \.protection, battery: \.batteryLevel)
      + [
        WorldField(
          "types", .text(1...1_000),
          "The text that it types while an HID host is subscribed, again and again, with the layout of the United States",
          else: "none", example: #""hello""#
        ).text(\.typedText),
        WorldField(
          "typingInterval", .number(0.01...WorldLimits.seconds.upperBound), "The time before each typing, seconds",
          else: "5", example: "1"
        ).time(\.typingInterval),
      ])

  static let mouse = AccessoryKind(
    "mouse", "a mouse: Human Interface Device service",
    { name, _ in Mouse(name: name) },
    inputDeviceFields(
      reportInterval: \.reportInterval, connection: \.connection, protection: \.protection, battery: \.batteryLevel)
      + [
        WorldField(
          "moves", .list(.list(.integer(-10_000...10_000), count: 2...3), count: 0...1_000),
          "The movements that it makes while an HID host is subscribed, in turn, again and again: to the right, towards "
            + "the user and, if given, of the wheel",
          else: "none", example: "[[10, 0], [-10, 0, 1]]"
        ).set { mouse, object, _ in
          mouse.movements = object.list("moves").map { movement in
            guard case .list(let parts) = movement.value.content else { return Mouse.Movement() }
            let numbers = parts.map { $0.whole(Int.self) ?? 0 } + [0, 0, 0]
            return Mouse.Movement(x: numbers[0], y: numbers[1], wheel: numbers[2])
          }
        },
        WorldField(
          "moveInterval", .number(0.01...WorldLimits.seconds.upperBound), "The time before each movement, seconds",
          else: "0.1", example: "0.5"
        ).time(\.movementInterval),
      ])

  static let sensorTag = AccessoryKind(
    "sensor-tag", "a sensor tag: infrared and ambient temperature, humidity, pressure and movement",
    { name, _ in SensorTag(name: name) },
    [
      .advertisingInterval(),
      WorldField(
        "objectTemperature", .number(-256...255), "The temperature of the object in front of it, °C", else: "30",
        example: "36.5"
      ).number(\.objectTemperature),
      WorldField("ambientTemperature", .number(-40...125), "The ambient temperature, °C", else: "22", example: "19.5")
        .number(\.ambientTemperature),
      WorldField("humidity", .number(0...100), "The relative humidity, %", else: "45", example: "60").number(
        \.humidity),
      WorldField("pressure", .number(0...167_772), "The pressure, Pa", else: "101325", example: "98000").number(
        \.pressure),
      WorldField(
        "rotation", .list(.number(-250...250), count: 3...3), "The rotation about x, y and z, degrees per second",
        else: "[0, 0, 0]", example: "[0, 0, 90]"
      ).vector(\.rotation),
      WorldField(
        "acceleration", .list(.number(-16...16), count: 3...3), "The acceleration along x, y and z, g",
        else: "[0, 0, 1]", example: "[0.5, 0, 0.8]"
      ).vector(\.acceleration),
      WorldField(
        "magneticField", .list(.number(-32_768...32_767), count: 3...3), "The magnetic field along x, y and z, µT",
        else: "[20, 0, -44]", example: "[0, 48, 0]"
      ).vector(\.magneticField),
      .battery(\.batteryLevel),
    ])

  static let flashlight = AccessoryKind(
    "flashlight", "a flashlight that clients switch and dim",
    { name, _ in Flashlight(name: name) },
    [
      .advertisingInterval(),
      WorldField("isOn", .flag, "True if the light is on", else: "false", example: "true").flag(\.isOn),
      WorldField("brightness", .integer(0...100), "The brightness, %", else: "100", example: "50").whole(\.brightness),
      .battery(\.batteryLevel),
    ])

  static let keyFob = AccessoryKind(
    "key-fob", "a key fob with a button: Immediate Alert, Link Loss and Tx Power services",
    { name, _ in KeyFob(name: name) },
    [
      .advertisingInterval(first: "0.02"),
      WorldField(
        "transmitPowerLevel", .integer(-100...20), "The value of the Tx Power Level characteristic, dBm",
        else: "the `transmitPower` of the device, rounded", example: "4"
      ).set { fob, object, reader in
        fob.transmitPower = object.whole("transmitPowerLevel") ?? reader.radioPower
      },
      WorldField(
        "fast", .object(.preferredParameters), "The connection parameters that it requests first",
        else: "15 ms, latency 0, supervision timeout 2 s", example: #"{"interval": 0.02}"#
      ).set { fob, object, _ in
        if let fast = object.preferredParameters("fast") { fob.fast = fast }
      },
      WorldField(
        "fastTime", .number(0.001...WorldLimits.seconds.upperBound), "The duration of the fast connection, seconds",
        else: "5",
        example: "2"
      ).time(\.fastTime),
      WorldField(
        "slow", .object(.preferredParameters), "The connection parameters that it requests afterwards",
        else: "500 ms, latency 4, supervision timeout 6 s", example: #"{"interval": 1}"#
      ).set { fob, object, _ in
        if let slow = object.preferredParameters("slow") { fob.slow = slow }
      },
      WorldField(
        "buttonInterval", .number(0.01...WorldLimits.seconds.upperBound),
        "The time before each press of its button, which makes the phone sound, seconds", else: "no presses",
        example: "30"
      ).set { fob, object, _ in fob.buttonInterval = object.time("buttonInterval") },
      WorldField(
        "buttonAlert", .choice(AlertLevelNames.all.keys.sorted()),
        "The alert level that the button writes to the phone",
        else: "\"high\"", example: #""mild""#
      ).word(\.buttonAlert, AlertLevelNames.all),
      .battery(\.batteryLevel),
    ])

  static let finderTag = AccessoryKind(
    "finder-tag", "a tag with a light and a buzzer: Immediate Alert and Tx Power services",
    { name, _ in FinderTag(name: name) },
    [
      .advertisingInterval(),
      WorldField(
        "transmitPowerLevel", .integer(-100...20), "The value of the Tx Power Level characteristic, dBm",
        else: "the `transmitPower` of the device, rounded", example: "4"
      ).set { tag, object, reader in
        tag.transmitPower = object.whole("transmitPowerLevel") ?? reader.radioPower
      },
      WorldField(
        "light", .choice(LightNames.all.keys.sorted()), "The state of the light, until a client has disconnected",
        else: "\"off\"", example: #""flashing""#
      ).word(\.light, LightNames.all),
      .battery(\.batteryLevel),
    ])

  static let pinBoard = AccessoryKind(
    "pin-board", "a board of digital and analog pins with a switch and LEDs: the service of Konashi",
    { name, _ in PinBoard(name: name) },
    [
      .advertisingInterval(),
      WorldField(
        "highPins", .list(.integer(0...7), count: 0...8), "The digital pins to which the outside applies a high level",
        else: "none", example: "[0, 5]"
      ).set { board, object, _ in
        for pin in object.pins("highPins") { board.apply(.high, to: pin) }
      },
      WorldField(
        "lowPins", .list(.integer(0...7), count: 0...8), "The digital pins to which the outside applies a low level",
        else: "none: the other pins are open", example: "[6]"
      ).set { board, object, reader in
        let (high, low) = (object.pins("highPins"), object.pins("lowPins"))
        for pin in low { board.apply(.low, to: pin) }
        if high.contains(where: low.contains) {
          reader.complain("lowPins", of: object, "a pin can't be in highPins, too")
        }
      },
      WorldField(
        "millivolts", .list(.integer(0...Int(PinBoard.analogReference)), count: 3...3),
        "The voltages of the analog pins, mV", else: "[0, 0, 0]", example: "[1300, 650, 0]"
      ).set { board, object, _ in
        for (pin, millivolts) in zip(PinBoard.AnalogPin.allCases, object.list("millivolts")) {
          board.analogInputs[pin] = millivolts.value.whole(UInt16.self)
        }
      },
      WorldField(
        "presses", .list(.object(.pinPress), count: 0...10_000), "The presses of switches by themselves", else: "none",
        example: #"[{"at": 5}, {"at": 8, "pin": 5, "duration": 1}]"#
      ).set { board, object, _ in
        board.scheduledPresses += object.objects("presses", .pinPress).compactMap(\.pinPress)
      },
      .battery(\.batteryLevel),
    ])

  static let battery = AccessoryKind(
    "battery", "a battery-powered device: Battery service",
    { name, object in
      BatteryPack(
        name: name, level: object.whole("level") ?? 100, timePerPercent: object.time("timePerPercent"))
    },
    [
      .advertisingInterval(),
      WorldField("level", .integer(0...100), "The initial battery level, %", else: "100", example: "80").atCreation(),
      WorldField(
        "timePerPercent", .number(0.001...WorldLimits.seconds.upperBound),
        "The time in which the level falls by 1 %, seconds",
        else: "the level is constant", example: "60"
      ).atCreation(),
    ])
}

extension ObjectShape {
  static let preferredParameters = ObjectShape(
    "connection", "connection parameters that a peripheral requests",
    [
      WorldField(
        required: "interval", .number(0.0075...4), "The connection interval, seconds, in steps of 1.25 ms",
        example: "0.03"),
      WorldField("latency", .integer(0...499), "The peripheral latency, connection events", else: "0", example: "4"),
      WorldField(
        "supervisionTimeout", .number(0.1...32), "The supervision timeout, seconds", else: "2",
        example: "6"),
    ])

  static let pinPress = ObjectShape(
    "press", "a press of a switch of a board of pins",
    [
      WorldField(
        required: "at", .number(WorldLimits.seconds), "The time after the board is turned on, seconds", example: "5"),
      WorldField(
        "pin", .integer(0...7), "The digital pin of the switch, which is high while it is pressed", else: "0",
        example: "5"),
      WorldField(
        "duration", .number(0.001...WorldLimits.seconds.upperBound), "The time for which it is pressed, seconds",
        else: "0.2", example: "1"),
    ])
}
