extension ObjectShape {
  /// The kinds of accessories: the ready-made accessories of the lab, then `peripheral`, which the file describes
  /// completely.
  static let accessoryKinds = [
    heartRate, thermometer, bloodPressure, cycling, flashlight, keyFob, battery, iBeacon, broadcaster, peripheral,
  ]

  private static let localName = WorldField(
    "localName", .text(WorldLimits.name), "The local name in advertising", else: "`gapName` or `name`",
    example: #""Acme""#)
  private static let batteryLevel = WorldField(
    "batteryLevel", .integer(0...100), "The battery level, %", else: "100", example: "80")
  private static let measurementInterval = WorldField(
    "interval", .number(0.001...WorldLimits.seconds.upperBound),
    "The measurement interval while a client is subscribed, seconds",
    else: "1", example: "0.5")

  private static let heartRate = ObjectShape(
    "heart-rate", "a chest strap: Heart Rate and Battery services",
    [
      localName,
      WorldField(
        "beatsPerMinute", .integer(0...65_535), "The heart rate, beats per minute", else: "72", example: "90"),
      WorldField(
        "energyExpended", .integer(0...65_535), "The initial energy expended, kJ", else: "0", example: "100"),
      WorldField(
        "energyPerMeasurement", .integer(0...65_535), "The energy that each measurement adds, kJ", else: "1",
        example: "2"),
      measurementInterval, batteryLevel,
    ])

  private static let thermometer = ObjectShape(
    "thermometer", "a clinical thermometer: Health Thermometer service",
    [
      localName,
      WorldField("celsius", .number(-273.15...10_000), "The temperature, °C", else: "36.6", example: "38.2"),
      measurementInterval,
    ])

  private static let bloodPressure = ObjectShape(
    "blood-pressure", "a blood pressure monitor: Blood Pressure service",
    [
      localName,
      WorldField("systolic", .number(0...2_000), "The systolic pressure, mmHg", else: "120", example: "135"),
      WorldField("diastolic", .number(0...2_000), "The diastolic pressure, mmHg", else: "80", example: "85"),
      WorldField("pulseRate", .number(0...2_000), "The pulse rate, beats per minute", else: "72", example: "90"),
      measurementInterval,
    ])

  private static let cycling = ObjectShape(
    "cycling", "a bicycle sensor at wheel and crank: Cycling Speed and Cadence service",
    [
      localName,
      WorldField("speed", .number(0...1_000), "The speed, m/s", else: "5", example: "8.5"),
      WorldField(
        "cadence", .number(0...10_000), "The crank cadence, revolutions per minute", else: "70", example: "90"),
      WorldField(
        "wheelCircumference", .number(0.01...100), "The wheel circumference, metres", else: "2.1", example: "2.2"),
    ])

  private static let flashlight = ObjectShape(
    "flashlight", "a flashlight that clients switch and dim",
    [
      localName,
      WorldField("isOn", .flag, "True if the light is on", else: "false", example: "true"),
      WorldField("brightness", .integer(0...100), "The brightness, %", else: "100", example: "50"),
      batteryLevel,
    ])

  private static let keyFob = ObjectShape(
    "key-fob", "a key fob: Immediate Alert, Link Loss and Tx Power services",
    [
      localName,
      WorldField(
        "transmitPowerLevel", .integer(-100...20), "The value of the Tx Power Level characteristic, dBm", else: "0",
        example: "4"),
      WorldField(
        "fast", .object(.preferredParameters), "The connection parameters that it requests first",
        else: "15 ms, latency 0, supervision timeout 2 s", example: #"{"interval": 0.02}"#),
      WorldField(
        "fastTime", .number(0.001...WorldLimits.seconds.upperBound), "The duration of the fast connection, seconds",
        else: "5",
        example: "2"),
      WorldField(
        "slow", .object(.preferredParameters), "The connection parameters that it requests afterwards",
        else: "500 ms, latency 4, supervision timeout 6 s", example: #"{"interval": 1}"#),
    ])

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

  private static let battery = ObjectShape(
    "battery", "a battery-powered device: Battery service",
    [
      localName,
      WorldField("level", .integer(0...100), "The initial battery level, %", else: "100", example: "80"),
      WorldField(
        "timePerPercent", .number(0.001...WorldLimits.seconds.upperBound),
        "The time in which the level falls by 1 %, seconds",
        else: "the level is constant", example: "60"),
    ])

  private static let iBeacon = ObjectShape(
    "ibeacon", "an iBeacon transmitter",
    [
      WorldField(
        required: "proximityUUID", .uuid128, "The proximity UUID",
        example: #""6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001""#),
      WorldField("major", .integer(0...65_535), "The major value", else: "0", example: "1"),
      WorldField("minor", .integer(0...65_535), "The minor value", else: "0", example: "2"),
      WorldField("measuredPower", .integer(-128...127), "The measured power at 1 m, dBm", else: "-59", example: "-65"),
      WorldField(
        "interval", .number(0.02...10.24), "The advertising interval, seconds", else: "0.1", example: "1"),
    ])

  private static let broadcaster = ObjectShape(
    "broadcaster", "a device that only advertises",
    [
      WorldField(
        required: "advertising", .object(.advertising),
        "The advertising parameters and data; not connectable by default",
        example: #"{"payload": {"name": "A"}}"#)
    ])
}
