import BluetoothLab

/// The tag and the board of pins.
extension ObjectShape {
  static let finderTag = ObjectShape(
    "finder-tag", "a tag with a light and a buzzer: Immediate Alert and Tx Power services",
    [
      localName, advertisingInterval,
      WorldField(
        "transmitPowerLevel", .integer(-100...20), "The value of the Tx Power Level characteristic, dBm",
        else: "the `transmitPower` of the device, rounded", example: "4"),
      WorldField(
        "light", .choice(LightNames.all.keys.sorted()), "The state of the light, until a client has disconnected",
        else: "\"off\"", example: #""flashing""#),
      batteryLevel,
    ])

  static let pinBoard = ObjectShape(
    "pin-board", "a board of digital and analog pins with a switch and LEDs: the service of Konashi",
    [
      localName, advertisingInterval,
      WorldField(
        "highPins", .list(.integer(0...7), count: 0...8), "The digital pins to which the outside applies a high level",
        else: "none", example: "[0, 5]"),
      WorldField(
        "lowPins", .list(.integer(0...7), count: 0...8), "The digital pins to which the outside applies a low level",
        else: "none: the other pins are open", example: "[6]"),
      WorldField(
        "millivolts", .list(.integer(0...Int(PinBoard.analogReference)), count: 3...3),
        "The voltages of the analog pins, mV", else: "[0, 0, 0]", example: "[1300, 650, 0]"),
      WorldField(
        "presses", .list(.object(.pinPress), count: 0...10_000), "The presses of switches by themselves", else: "none",
        example: #"[{"at": 5}, {"at": 8, "pin": 5, "duration": 1}]"#),
      batteryLevel,
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
