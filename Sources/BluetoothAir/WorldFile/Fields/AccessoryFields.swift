extension ObjectShape {
  /// The kinds of accessories: the ready-made accessories of the lab, then `peripheral`, which the file describes
  /// completely.
  static let accessoryKinds = [
    heartRate, thermometer, bloodPressure, glucose, cycling, cyclingPower, running, location, keyboard, mouse,
    weightScale, pedometer,
    sensorTag, telephone, notifyingPhone, flashlight, keyFob, finderTag, pinBoard, battery, iBeacon, broadcaster,
    recording, peripheral,
  ]

  static let localName = WorldField(
    "localName", .text(WorldLimits.name), "The local name in advertising", else: "`gapName` or `name`",
    example: #""Acme""#)
  static let advertisingInterval = advertisingInterval(first: "0.1")

  /// - Parameter first: the default interval in the first 30 s, in seconds.
  private static func advertisingInterval(first: String) -> WorldField {
    WorldField(
      "advertisingInterval", .number(0.02...10.24), "The advertising interval, seconds, in steps of 0.625 ms",
      else: "\(first) for 30 s after power-on and after each disconnection, then 1.0225", example: "0.1")
  }

  static let batteryLevel = WorldField(
    "batteryLevel", .integer(0...100), "The battery level, %", else: "100", example: "80")
  private static let measurementInterval = WorldField(
    "interval", .number(0.001...WorldLimits.seconds.upperBound),
    "The measurement interval while a client is subscribed, seconds",
    else: "1", example: "0.5")

  private static let timeStamp = WorldField(
    "timeStamp", .dateTime, "The time stamp of each measurement", else: "none", example: #""2024-02-29T08:30:00""#)

  private static let heartRate = ObjectShape(
    "heart-rate", "a chest strap: Heart Rate, Battery and Device Information services",
    [
      localName, advertisingInterval,
      WorldField(
        "beatsPerMinute", .integer(0...65_535), "The heart rate, beats per minute", else: "72", example: "90"),
      WorldField(
        "energyExpended", .integer(0...65_535), "The initial energy expended, kJ", else: "0", example: "100"),
      WorldField(
        "energyPerMeasurement", .integer(0...65_535), "The energy that each measurement adds, kJ", else: "1",
        example: "2"),
      WorldField(
        "energyPeriod", .integer(0...65_535),
        "The number of measurements of which one has the energy expended; 0: none", else: "1", example: "10"),
      WorldField(
        "sendsRRIntervals", .flag, "True if measurements have the intervals between the beats (RR)", else: "false",
        example: "true"),
      WorldField(
        "hasDeviceInformation", .flag, "True if it has Device Information, as the Heart Rate Profile requires",
        else: "true", example: "false"),
      measurementInterval, batteryLevel,
    ])

  private static let thermometer = ObjectShape(
    "thermometer", "a clinical thermometer: Health Thermometer service",
    [
      localName, advertisingInterval,
      WorldField("celsius", .number(-273.15...10_000), "The temperature, °C", else: "36.6", example: "38.2"),
      measurementInterval,
      WorldField(
        "intermediateInterval", .number(0.001...WorldLimits.seconds.upperBound),
        "The time between intermediate temperatures while a client is subscribed to them, seconds", else: "0.25",
        example: "0.5"),
      WorldField(
        "permittedIntervals", .list(.integer(1...65_535), count: 2...2),
        "The shortest and the longest measurement interval that clients may set, seconds", else: "[1, 65535]",
        example: "[5, 3600]"),
      timeStamp, batteryLevel,
    ])

  private static let bloodPressure = ObjectShape(
    "blood-pressure", "a blood pressure monitor: Blood Pressure service",
    [
      localName, advertisingInterval,
      WorldField("systolic", .number(0...2_000), "The systolic pressure, mmHg", else: "120", example: "135"),
      WorldField("diastolic", .number(0...2_000), "The diastolic pressure, mmHg", else: "80", example: "85"),
      WorldField("pulseRate", .number(0...2_000), "The pulse rate, beats per minute", else: "72", example: "90"),
      measurementInterval,
      WorldField(
        "unit", .choice(PressureUnitNames.all.keys.sorted()), "The unit in which pressures are reported",
        else: "\"mmHg\"", example: #""kPa""#),
      WorldField(
        "cuffInterval", .number(0.001...WorldLimits.seconds.upperBound),
        "The time between cuff pressures while a client is subscribed to them, seconds", else: "0.25", example: "0.5"),
      WorldField(
        "userID", .integer(0...255), "The user whose pressure is measured; 255 is an unknown user", else: "none",
        example: "7"),
      timeStamp, batteryLevel,
    ])

  private static let glucose = ObjectShape(
    "glucose", "a blood glucose meter with stored records: Glucose service",
    [
      localName, advertisingInterval,
      WorldField(
        "records", .integer(0...65_536), "The number of stored records, one for each hour from 2024-01-01 on",
        else: "10", example: "100"),
      protection(else: "none"), batteryLevel,
    ])

  private static let cycling = ObjectShape(
    "cycling", "a bicycle sensor at wheel and crank: Cycling Speed and Cadence service",
    [
      localName, advertisingInterval,
      WorldField("speed", .number(0...1_000), "The speed, m/s", else: "5", example: "8.5"),
      WorldField(
        "cadence", .number(0...10_000), "The crank cadence, revolutions per minute", else: "70", example: "90"),
      WorldField(
        "wheelCircumference", .number(0.01...100), "The wheel circumference, metres", else: "2.1", example: "2.2"),
      batteryLevel,
    ])

  private static let cyclingPower = ObjectShape(
    "cycling-power", "a power meter in the crank of a bicycle: Cycling Power service",
    [
      localName, advertisingInterval,
      WorldField("power", .number(-32_768...32_767), "The power, W", else: "200", example: "250"),
      WorldField(
        "cadence", .number(0...10_000), "The crank cadence, revolutions per minute", else: "85", example: "95"),
      WorldField("speed", .number(0...1_000), "The speed, m/s", else: "8", example: "8.5"),
      WorldField(
        "wheelCircumference", .number(0.01...100), "The wheel circumference, metres", else: "2.1", example: "2.2"),
      WorldField(
        "leftShare", .number(0...100), "The share of the left pedal in the power, %", else: "50", example: "48.5"),
      WorldField("crankLength", .number(1...1_000), "The crank length, mm", else: "172.5", example: "170"),
      WorldField("chainLength", .integer(0...65_535), "The chain length, mm", else: "1400", example: "1300"),
      WorldField("chainWeight", .integer(0...65_535), "The chain weight, g", else: "250", example: "260"),
      WorldField("spanLength", .integer(0...65_535), "The span length, mm", else: "50", example: "60"),
      WorldField("samplingRate", .integer(0...255), "The sampling rate of the force, Hz", else: "50", example: "100"),
      WorldField(
        "offset", .integer(-32_768...32_767), "The raw force that an offset compensation measures, N", else: "12",
        example: "-3"),
      WorldField(
        "supportsEnhancedCompensation", .flag, "True if it supports the enhanced offset compensation", else: "false",
        example: "true"),
      WorldField(
        "compensationTime", .number(0.001...WorldLimits.seconds.upperBound),
        "The duration of an offset compensation, seconds", else: "3", example: "10"),
      batteryLevel,
    ])

  private static let running = ObjectShape(
    "running", "a foot pod of a runner: Running Speed and Cadence service",
    [
      localName, advertisingInterval,
      WorldField("speed", .number(0...255), "The speed, m/s", else: "3", example: "4.2"),
      WorldField("cadence", .integer(0...255), "The cadence, steps per minute", else: "160", example: "175"),
      WorldField(
        "runningSpeed", .number(0...255), "The lowest speed that is reported as running, m/s", else: "2",
        example: "2.5"),
      WorldField(
        "calibrationTime", .number(0.001...WorldLimits.seconds.upperBound), "The duration of a calibration, seconds",
        else: "5", example: "10"),
      WorldField("canCalibrate", .flag, "True if calibrations succeed", else: "true", example: "false"),
      batteryLevel,
    ])

  private static let location = ObjectShape(
    "location", "a receiver of positions with navigation: Location and Navigation service",
    [
      localName, advertisingInterval,
      WorldField(
        "latitude", .number(-90...90), "The initial latitude, degrees; north is positive", else: "48",
        example: "48.137"),
      WorldField(
        "longitude", .number(-180...180), "The initial longitude, degrees; east is positive", else: "11",
        example: "11.575"),
      WorldField("speed", .number(0...655), "The speed, m/s", else: "5", example: "1.4"),
      WorldField(
        "heading", .number(0...360), "The direction of the movement, degrees from north to east", else: "90",
        example: "180"),
      WorldField("elevation", .number(-80_000...80_000), "The elevation, metres", else: "500", example: "519"),
      WorldField(
        "routes", .list(.object(.route), count: 0...100), "The routes that clients select", else: "none",
        example: #"[{"name": "home", "waypoints": [{"latitude": 48, "longitude": 11.01}]}]"#),
      WorldField(
        "positionStatus", .choice(PositionStatusNames.all.keys.sorted()), "The status of the position",
        else: "\"ok\"", example: #""estimated""#),
      WorldField(
        "beacons", .list(.integer(0...255), count: 2...2), "The numbers of satellites in the solution and in view",
        else: "[8, 11]", example: "[4, 9]"),
      WorldField(
        "startTime", .dateTime, "The UTC time at the world's time 0, for locations with the time", else: "none",
        example: #""2024-02-29T08:30:00""#),
      batteryLevel,
    ])

  static let route = ObjectShape(
    "route", "a route of a receiver of positions",
    [
      WorldField(required: "name", .text(WorldLimits.name), "The name", example: #""home""#),
      WorldField(
        "waypoints", .list(.object(.routePoint), count: 0...1_000), "The waypoints; the last one is the destination",
        else: "none", example: #"[{"latitude": 48, "longitude": 11.01}]"#),
    ])

  static let routePoint = ObjectShape(
    "routePoint", "a waypoint of a route",
    [
      WorldField(
        required: "latitude", .number(-90...90), "The latitude, degrees; north is positive", example: "48.137"),
      WorldField(
        required: "longitude", .number(-180...180), "The longitude, degrees; east is positive", example: "11.575"),
    ])

  private static func protection(else standard: String) -> WorldField {
    WorldField(
      "protection", .choice(ProtectionNames.all.keys.sorted()),
      "The link security that the characteristics of the service require", else: "\"\(standard)\"",
      example: standard == "none" ? #""encrypted""# : #""none""#)
  }

  private static let inputDeviceFields = [
    localName, advertisingInterval,
    WorldField(
      "reportInterval", .number(0.001...10), "The time between two reports, seconds", else: "0.01", example: "0.02"),
    WorldField(
      "connection", .object(.preferredParameters), "The connection parameters that it requests after connecting",
      else: "15 ms for a keyboard and 11.25 ms for a mouse, latency 20, supervision timeout 4 s",
      example: #"{"interval": 0.02, "latency": 30}"#),
    protection(else: "encrypted"), batteryLevel,
  ]

  private static let keyboard = ObjectShape(
    "keyboard", "a keyboard: Human Interface Device service",
    inputDeviceFields + [
      WorldField(
        "types", .text(1...1_000),
        "The text that it types while an HID host is subscribed, again and again, with the layout of the United States",
        else: "none", example: #""hello""#),
      WorldField(
        "typingInterval", .number(0.01...WorldLimits.seconds.upperBound), "The time before each typing, seconds",
        else: "5", example: "1"),
    ])

  private static let mouse = ObjectShape(
    "mouse", "a mouse: Human Interface Device service",
    inputDeviceFields + [
      WorldField(
        "moves", .list(.list(.integer(-10_000...10_000), count: 2...3), count: 0...1_000),
        "The movements that it makes while an HID host is subscribed, in turn, again and again: to the right, towards "
          + "the user and, if given, of the wheel",
        else: "none", example: "[[10, 0], [-10, 0, 1]]"),
      WorldField(
        "moveInterval", .number(0.01...WorldLimits.seconds.upperBound), "The time before each movement, seconds",
        else: "0.1", example: "0.5"),
    ])

  private static let sensorTag = ObjectShape(
    "sensor-tag", "a sensor tag: infrared and ambient temperature, humidity, pressure and movement",
    [
      localName, advertisingInterval,
      WorldField(
        "objectTemperature", .number(-256...255), "The temperature of the object in front of it, °C", else: "30",
        example: "36.5"),
      WorldField("ambientTemperature", .number(-40...125), "The ambient temperature, °C", else: "22", example: "19.5"),
      WorldField("humidity", .number(0...100), "The relative humidity, %", else: "45", example: "60"),
      WorldField("pressure", .number(0...167_772), "The pressure, Pa", else: "101325", example: "98000"),
      WorldField(
        "rotation", .list(.number(-250...250), count: 3...3), "The rotation about x, y and z, degrees per second",
        else: "[0, 0, 0]", example: "[0, 0, 90]"),
      WorldField(
        "acceleration", .list(.number(-16...16), count: 3...3), "The acceleration along x, y and z, g",
        else: "[0, 0, 1]", example: "[0.5, 0, 0.8]"),
      WorldField(
        "magneticField", .list(.number(-32_768...32_767), count: 3...3), "The magnetic field along x, y and z, µT",
        else: "[20, 0, -44]", example: "[0, 48, 0]"),
      batteryLevel,
    ])

  private static let telephone = ObjectShape(
    "telephone", "a telephone: Alert Notification, Phone Alert Status and the services of the time",
    [
      localName, advertisingInterval,
      WorldField(
        "hasReference", .flag, "True if it can update its clock from a reference", else: "true", example: "false"),
      WorldField(
        "updateTime", .number(0.001...WorldLimits.seconds.upperBound),
        "The duration of an update of the clock from the reference, seconds", else: "2", example: "5"),
      WorldField(
        "categories", .list(.choice(AlertCategoryNames.all.keys.sorted()), count: 0...10),
        "The categories of alerts that it supports",
        else: "email, call, missed-call, sms, schedule, instant-message", example: #"["email", "news"]"#),
      alertStatus("The initial state of the ringer, the vibration and the display", else: "none"),
      WorldField(
        "ringer", .choice(RingerSettingNames.all.keys.sorted()), "The initial ringer setting", else: "\"normal\"",
        example: #""silent""#),
      WorldField(
        "alerts", .list(.object(.alert), count: 0...10_000), "The alerts that it gives by itself", else: "none",
        example: #"[{"at": 5, "category": "email", "text": "Ann"}]"#),
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T08:30:00""#),
      batteryLevel,
    ])

  private static func alertStatus(_ meaning: String, else standard: String) -> WorldField {
    WorldField(
      "alertStatus", .list(.choice(AlertStatusNames.all.keys.sorted()), count: 0...3), meaning, else: standard,
      example: #"["ringer", "vibrate"]"#)
  }

  static let alert = ObjectShape(
    "alert", "an alert of a telephone",
    [
      WorldField(
        required: "at", .number(WorldLimits.seconds), "The time after the telephone is turned on, seconds",
        example: "5"),
      WorldField(
        required: "category", .choice(AlertCategoryNames.all.keys.sorted()),
        "The category, one of those that the telephone supports", example: #""email""#),
      WorldField(
        "text", .text(1...1_000), "The name or title, of which at most 18 octets are sent", else: "none",
        example: #""Ann""#),
      WorldField(
        "unread", .integer(0...255), "The number of unread alerts of the category from then on", else: "unchanged",
        example: "3"),
      alertStatus("The state of the ringer, the vibration and the display from then on", else: "unchanged"),
    ])

  private static let notifyingPhone = ObjectShape(
    "notifying-phone", "a phone with notifications for accessories: Apple Notification Center Service (ANCS)",
    [
      localName, advertisingInterval,
      WorldField(
        "notifications", .list(.object(.notification), count: 0...1_000),
        "The notifications, of which the phone keeps the latest 256", else: "none",
        example: #"[{"app": "com.example.mail", "category": "email", "title": "Ann"}]"#),
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T08:30:00""#),
      batteryLevel,
    ])

  static let notification = ObjectShape(
    "notification", "a notification of a phone",
    [
      WorldField(
        "at", .number(WorldLimits.seconds),
        "The time after the phone is turned on at which the notification appears, seconds", else: "0", example: "5"),
      WorldField(
        "removedAt", .number(WorldLimits.seconds),
        "The time after the phone is turned on at which the notification is removed, seconds; later than `at`",
        else: "it stays", example: "60"),
      WorldField(
        "id", .text(1...248), "The identifier: a later notification with the same one replaces this one",
        else: "one of its own", example: #""one""#),
      WorldField(
        "category", .choice(NotificationCategoryNames.all.keys.sorted()), "The category", else: "\"other\"",
        example: #""email""#),
      WorldField(required: "app", .text(1...248), "The identifier of the app", example: #""com.example.mail""#),
      WorldField("appName", .text(1...248), "The name of the app for users", else: "`app`", example: #""Mail""#),
      WorldField("title", .text(1...1_000), "The title", else: "none", example: #""Ann""#),
      WorldField("subtitle", .text(1...1_000), "The subtitle", else: "none", example: #""Lunch""#),
      WorldField("message", .text(1...10_000), "The message", else: "none", example: #""At noon?""#),
      WorldField(
        "date", .dateTime, "The date", else: "the time of the phone's clock at which the notification appears",
        example: #""2024-02-29T08:30:00""#),
      WorldField(
        "positiveAction", .text(1...248), "The label of the positive action", else: "no such action",
        example: #""Answer""#),
      WorldField(
        "negativeAction", .text(1...248), "The label of the negative action", else: "no such action",
        example: #""Clear""#),
      WorldField("isSilent", .flag, "True if it makes no sound", else: "false", example: "true"),
      WorldField("isImportant", .flag, "True if it has a high priority", else: "false", example: "true"),
    ])

  private static let flashlight = ObjectShape(
    "flashlight", "a flashlight that clients switch and dim",
    [
      localName, advertisingInterval,
      WorldField("isOn", .flag, "True if the light is on", else: "false", example: "true"),
      WorldField("brightness", .integer(0...100), "The brightness, %", else: "100", example: "50"),
      batteryLevel,
    ])

  private static let keyFob = ObjectShape(
    "key-fob", "a key fob with a button: Immediate Alert, Link Loss and Tx Power services",
    [
      localName, advertisingInterval(first: "0.02"),
      WorldField(
        "transmitPowerLevel", .integer(-100...20), "The value of the Tx Power Level characteristic, dBm",
        else: "the `transmitPower` of the device, rounded", example: "4"),
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
      WorldField(
        "buttonInterval", .number(0.01...WorldLimits.seconds.upperBound),
        "The time before each press of its button, which makes the phone sound, seconds", else: "no presses",
        example: "30"),
      WorldField(
        "buttonAlert", .choice(AlertLevelNames.all.keys.sorted()),
        "The alert level that the button writes to the phone",
        else: "\"high\"", example: #""mild""#),
      batteryLevel,
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
      localName, advertisingInterval,
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

  private static let recording = ObjectShape(
    "recording", "a device of a capture or of a file that `ble clone` writes, with the history of its values",
    [
      WorldField(
        required: "file", .text(1...4_096),
        "The capture or the file of `ble clone`; a relative path begins at the folder of this file",
        example: #""session.pcapng""#),
      WorldField(
        "device", .text(1...248), "The name or the address of the recorded device",
        else: "the only one with services, or the only one", example: #""Sign""#),
      WorldField(
        "start", .choice(RecordingStartNames.all.keys.sorted()),
        "The time from which the offsets of a capture count: the device is turned on first, or a client subscribes",
        else: "power-on", example: #""subscription""#),
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
