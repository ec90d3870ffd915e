import BluetoothLab
import BluetoothProfiles

// The kinds of accessories that measure a person's health.

extension AccessoryKind {
  static let heartRate = AccessoryKind(
    "heart-rate", "a chest strap: Heart Rate, Battery and Device Information services",
    { name, _ in HeartRateSensor(name: name) },
    [
      .advertisingInterval(),
      WorldField(
        "beatsPerMinute", .integer(0...65_535), "The heart rate, beats per minute", else: "72", example: "90"
      ).whole(\.beatsPerMinute),
      WorldField(
        "energyExpended", .integer(0...65_535), "The initial energy expended, kJ", else: "0", example: "100"
      ).whole(\.energyExpended),
      WorldField(
        "energyPerMeasurement", .integer(0...65_535), "The energy that each measurement adds, kJ", else: "1",
        example: "2"
      ).whole(\.energyPerMeasurement),
      WorldField(
        "energyPeriod", .integer(0...65_535),
        "The number of measurements of which one has the energy expended; 0: none", else: "1", example: "10"
      ).whole(\.energyPeriod),
      WorldField(
        "sendsRRIntervals", .flag, "True if measurements have the intervals between the beats (RR)", else: "false",
        example: "true"
      ).flag(\.sendsRRIntervals),
      WorldField(
        "hasDeviceInformation", .flag, "True if it has Device Information, as the Heart Rate Profile requires",
        else: "true", example: "false"
      ).set { sensor, object, _ in
        if object.flag("hasDeviceInformation") == false { sensor.information = nil }
      },
      .measurementInterval(\.interval),
      .battery(\.batteryLevel),
    ])

  static let thermometer = AccessoryKind(
    "thermometer", "a clinical thermometer: Health Thermometer service",
    { name, _ in Thermometer(name: name) },
    [
      .advertisingInterval(),
      WorldField("celsius", .number(-273.15...10_000), "The temperature, °C", else: "36.6", example: "38.2").number(
        \.celsius),
      .measurementInterval(\.interval),
      WorldField(
        "intermediateInterval", .number(0.001...WorldLimits.seconds.upperBound),
        "The time between intermediate temperatures while a client is subscribed to them, seconds", else: "0.25",
        example: "0.5"
      ).time(\.intermediateInterval),
      WorldField(
        "permittedIntervals", .list(.integer(1...65_535), count: 2...2),
        "The shortest and the longest measurement interval that clients may set, seconds", else: "[1, 65535]",
        example: "[5, 3600]"
      ).set { thermometer, object, reader in
        let limits = object.list("permittedIntervals").compactMap { $0.value.whole(UInt16.self) }
        guard limits.count == 2 else { return }
        guard limits[0] <= limits[1] else {
          return reader.complain("permittedIntervals", of: object, "the shortest interval exceeds the longest one")
        }
        thermometer.permittedIntervals = limits[0]...limits[1]
      },
      .timeStamp(\.timeStamp),
      .battery(\.batteryLevel),
    ])

  static let bloodPressure = AccessoryKind(
    "blood-pressure", "a blood pressure monitor: Blood Pressure service",
    { name, _ in BloodPressureMonitor(name: name) },
    [
      .advertisingInterval(),
      WorldField("systolic", .number(0...2_000), "The systolic pressure, mmHg", else: "120", example: "135").number(
        \.systolic),
      WorldField("diastolic", .number(0...2_000), "The diastolic pressure, mmHg", else: "80", example: "85").number(
        \.diastolic),
      WorldField("pulseRate", .number(0...2_000), "The pulse rate, beats per minute", else: "72", example: "90").number(
        \.pulseRate),
      .measurementInterval(\.interval),
      WorldField(
        "unit", .choice(PressureUnitNames.all.keys.sorted()), "The unit in which pressures are reported",
        else: "\"mmHg\"", example: #""kPa""#
      ).word(\.unit, PressureUnitNames.all),
      WorldField(
        "cuffInterval", .number(0.001...WorldLimits.seconds.upperBound),
        "The time between cuff pressures while a client is subscribed to them, seconds", else: "0.25", example: "0.5"
      ).time(\.cuffInterval),
      WorldField(
        "userID", .integer(0...255), "The user whose pressure is measured; 255 is an unknown user", else: "none",
        example: "7"
      ).set { monitor, object, _ in monitor.userID = object.whole("userID") },
      .timeStamp(\.timeStamp),
      .battery(\.batteryLevel),
    ])

  static let glucose = AccessoryKind(
    "glucose", "a blood glucose meter with stored records: Glucose service",
    { name, _ in GlucoseMeter(name: name) },
    [
      .advertisingInterval(),
      WorldField(
        "records", .integer(0...65_536), "The number of stored records, one for each hour from 2024-01-01 on",
        else: "10", example: "100"
      ).set { meter, object, _ in
        if let count: Int = object.whole("records") { meter.records = GlucoseRecord.samples(count) }
      },
      .protection(\.protection, else: "none"),
      .battery(\.batteryLevel),
    ])

  static let weightScale = AccessoryKind(
    "weight-scale", "a weight scale that stores measurements: Weight Scale service",
    { name, _ in WeightScale(name: name) },
    [
      .advertisingInterval(),
      WorldField(
        "weighings", .list(.object(.weighing), count: 0...1_000), "The weighings, in any order", else: "none",
        example: #"[{"at": 5, "weight": 72.4, "user": 1, "height": 1.78}]"#
      ).set { scale, object, _ in
        scale.scheduledWeighings = object.objects("weighings", .weighing).compactMap(\.weighing)
      },
      WorldField(
        "units", .choice(WeightUnitNames.all.keys.sorted()),
        "The unit in which weights are reported: `kg` with metres, or `lb` with inches",
        else: "\"kg\"", example: #""lb""#
      ).word(\.units, WeightUnitNames.all),
      WorldField(
        "weightResolution", .choice(WeightResolutionNames.words),
        "The resolution of weights; in pounds these are 1, 0.5, 0.2, 0.1, 0.05, 0.02 and 0.01 lb", else: "\"50 g\"",
        example: #""100 g""#
      ).word(\.weightResolution, WeightResolutionNames.all),
      WorldField(
        "settlingTime", .number(0.001...WorldLimits.seconds.upperBound),
        "The time for which a person must stand on the scale, seconds", else: "2", example: "4"
      ).time(\.settlingTime),
      WorldField(
        "capacity", .integer(0...10_000),
        "The number of measurements that it stores; a further one replaces the oldest",
        else: "32", example: "10"
      ).whole(\.capacity),
      WorldField(
        "distinguishesUsers", .flag, "True if each measurement has a user", else: "true", example: "false"
      ).flag(\.distinguishesUsers),
      WorldField(
        "reportsBodyMassIndex", .flag, "True if it reports the body mass index of persons whose height it knows",
        else: "true", example: "false"
      ).flag(\.reportsBodyMassIndex),
      WorldField(
        "hasClock", .flag, "True if measurements have a time stamp; without a clock it stores none", else: "true",
        example: "false"
      ).set { scale, object, reader in
        guard object.flag("hasClock") == false else { return }
        scale.startTime = nil
        if object.has("startTime") {
          reader.complain("startTime", of: object, "a scale without a clock has no time")
        }
      },
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T08:30:00""#
      ).set { scale, object, _ in
        if object.flag("hasClock") != false, let time = object.dateTime("startTime") { scale.startTime = time }
      },
      .battery(\.batteryLevel),
    ])

  static let pedometer = AccessoryKind(
    "pedometer", "a pedometer that stores the steps of past days",
    { name, object in
      Pedometer(
        name: name, cadence: object.number("cadence") ?? 100, startTime: object.dateTime("startTime"),
        pastDays: object.list("pastDays").compactMap { $0.value.whole(UInt32.self) })
    },
    [
      .advertisingInterval(),
      WorldField(
        "cadence", .number(0...1_000), "The steps per minute of the wearer", else: "100", example: "120"
      ).atCreation(),
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T23:59:30""#
      ).atCreation(),
      WorldField(
        "pastDays", .list(.integer(0...4_294_967_295), count: 0...10_000),
        "The steps of the days before it is turned on, the oldest first", else: "none", example: "[5120, 8304]"
      ).atCreation(),
      WorldField(
        "capacity", .integer(0...10_000), "The number of past days that it stores; a further one replaces the oldest",
        else: "30", example: "7"
      ).whole(\.capacity),
      WorldField(
        "interval", .number(0.001...WorldLimits.seconds.upperBound),
        "The time between two notifications of today's steps, seconds", else: "1", example: "10"
      ).time(\.interval),
      .battery(\.batteryLevel),
    ])
}

extension ObjectShape {
  static let weighing = ObjectShape(
    "weighing", "a person who steps on a weight scale",
    [
      WorldField(
        required: "at", .number(WorldLimits.seconds), "The time after the scale is turned on, seconds", example: "5"),
      WorldField(required: "weight", .number(0...1_000), "The weight, kg", example: "72.4"),
      WorldField(
        "user", .integer(0...254), "The number of the user; the scale reports an unknown one as 255",
        else: "unknown", example: "1"),
      WorldField(
        "height", .number(0.1...3), "The height that the scale knows, metres", else: "unknown", example: "1.78"),
      WorldField(
        "duration", .number(0.001...WorldLimits.seconds.upperBound),
        "The time for which the person stays, seconds; the measurement of one who leaves before `settlingTime` is "
          + "unsuccessful",
        else: "5", example: "1"),
    ])
}
