extension ObjectShape {
  /// The kinds of accessories: the ready-made accessories of the lab, then `peripheral`, which the file describes
  /// completely.
  static let accessoryKinds = [
    heartRate, thermometer, cycling, flashlight, keyFob, battery, iBeacon, broadcaster, peripheral,
  ]

  private static let localName = WorldField(
    "localName", .text(WorldLimits.name), "What it calls itself where it advertises", else: "`gapName`, or its name",
    example: #""Acme""#)
  private static let batteryLevel = WorldField(
    "batteryLevel", .integer(0...100), "%", else: "100", example: "80")
  private static let measurementInterval = WorldField(
    "interval", .number(0.001...WorldLimits.seconds.upperBound),
    "How often it measures while somebody listens, seconds",
    else: "1", example: "0.5")

  private static let heartRate = ObjectShape(
    "heart-rate", "a strap around the chest: Heart Rate and Battery",
    [
      localName,
      WorldField(
        "beatsPerMinute", .integer(0...65_535), "The pulse", else: "72", example: "90"),
      WorldField(
        "energyExpended", .integer(0...65_535), "Kilojoules at the beginning", else: "0", example: "100"),
      WorldField(
        "energyPerMeasurement", .integer(0...65_535), "Kilojoules that each measurement adds", else: "1", example: "2"),
      measurementInterval, batteryLevel,
    ])

  private static let thermometer = ObjectShape(
    "thermometer", "a clinical thermometer: Health Thermometer",
    [
      localName,
      WorldField("celsius", .number(-273.15...10_000), "Degrees Celsius", else: "36.6", example: "38.2"),
      measurementInterval,
    ])

  private static let cycling = ObjectShape(
    "cycling", "a sensor at a bicycle's wheel and crank: Cycling Speed and Cadence",
    [
      localName,
      WorldField("speed", .number(0...1_000), "Metres per second", else: "5", example: "8.5"),
      WorldField("cadence", .number(0...10_000), "Revolutions of the crank per minute", else: "70", example: "90"),
      WorldField("wheelCircumference", .number(0.01...100), "Metres", else: "2.1", example: "2.2"),
    ])

  private static let flashlight = ObjectShape(
    "flashlight", "a flashlight that is switched and dimmed over the air",
    [
      localName,
      WorldField("isOn", .flag, "Whether it shines", else: "false", example: "true"),
      WorldField("brightness", .integer(0...100), "%", else: "100", example: "50"),
      batteryLevel,
    ])

  private static let keyFob = ObjectShape(
    "key-fob", "a key fob: Immediate Alert, Link Loss and Tx Power",
    [
      localName,
      WorldField(
        "transmitPowerLevel", .integer(-100...20), "What its characteristic Tx Power Level says, dBm", else: "0",
        example: "4"),
      WorldField(
        "fast", .object(.connectionWish), "The connection that it asks for at first",
        else: "15 ms, latency 0, supervision timeout 2 s", example: #"{"interval": 0.02}"#),
      WorldField(
        "fastTime", .number(0.001...WorldLimits.seconds.upperBound), "How long it keeps that, seconds", else: "5",
        example: "2"),
      WorldField(
        "slow", .object(.connectionWish), "The connection that it asks for then",
        else: "500 ms, latency 4, supervision timeout 6 s", example: #"{"interval": 1}"#),
    ])

  static let connectionWish = ObjectShape(
    "connection", "connection parameters that a peripheral asks for",
    [
      WorldField(required: "interval", .number(0.0075...4), "Seconds, in steps of 1.25 ms", example: "0.03"),
      WorldField("latency", .integer(0...499), "Connection events that it may skip", else: "0", example: "4"),
      WorldField(
        "supervisionTimeout", .number(0.1...32), "How long the link lives without a packet, seconds", else: "2",
        example: "6"),
    ])

  private static let battery = ObjectShape(
    "battery", "something that tells how full its battery is: Battery",
    [
      localName,
      WorldField("level", .integer(0...100), "%", else: "100", example: "80"),
      WorldField(
        "timePerPercent", .number(0.001...WorldLimits.seconds.upperBound), "After how many seconds it falls by 1 %",
        else: "never", example: "60"),
    ])

  private static let iBeacon = ObjectShape(
    "ibeacon", "an iBeacon",
    [
      WorldField(
        required: "proximityUUID", .uuid128, "Whose beacon it is",
        example: #""6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001""#),
      WorldField("major", .integer(0...65_535), "Which group of beacons it belongs to", else: "0", example: "1"),
      WorldField("minor", .integer(0...65_535), "Which one of them it is", else: "0", example: "2"),
      WorldField("measuredPower", .integer(-128...127), "dBm at a distance of one metre", else: "-59", example: "-65"),
      WorldField(
        "interval", .number(0.02...10.24), "How often it tells, seconds", else: "0.1", example: "1"),
    ])

  private static let broadcaster = ObjectShape(
    "broadcaster", "a device that advertises and does nothing else",
    [
      WorldField(
        required: "advertising", .object(.advertising),
        "What, how often, and where; nobody can connect unless its kind says so",
        example: #"{"payload": {"name": "A"}}"#)
    ])
}
