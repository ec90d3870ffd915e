// The kinds of accessories that measure a person's weight and steps.

extension ObjectShape {
  static let weightScale = ObjectShape(
    "weight-scale", "a weight scale that stores measurements: Weight Scale service",
    [
      localName, advertisingInterval,
      WorldField(
        "weighings", .list(.object(.weighing), count: 0...1_000), "The weighings, in any order", else: "none",
        example: #"[{"at": 5, "weight": 72.4, "user": 1, "height": 1.78}]"#),
      WorldField(
        "units", .choice(WeightUnitNames.all.keys.sorted()),
        "The unit in which weights are reported: `kg` with metres, or `lb` with inches",
        else: "\"kg\"", example: #""lb""#),
      WorldField(
        "weightResolution", .choice(WeightResolutionNames.words),
        "The resolution of weights; in pounds these are 1, 0.5, 0.2, 0.1, 0.05, 0.02 and 0.01 lb", else: "\"50 g\"",
        example: #""100 g""#),
      WorldField(
        "settlingTime", .number(0.001...WorldLimits.seconds.upperBound),
        "The time for which a person must stand on the scale, seconds", else: "2", example: "4"),
      WorldField(
        "capacity", .integer(0...10_000),
        "The number of measurements that it stores; a further one replaces the oldest",
        else: "32", example: "10"),
      WorldField(
        "distinguishesUsers", .flag, "True if each measurement has a user", else: "true", example: "false"),
      WorldField(
        "reportsBodyMassIndex", .flag, "True if it reports the body mass index of persons whose height it knows",
        else: "true", example: "false"),
      WorldField(
        "hasClock", .flag, "True if measurements have a time stamp; without a clock it stores none", else: "true",
        example: "false"),
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T08:30:00""#),
      batteryLevel,
    ])

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

  static let pedometer = ObjectShape(
    "pedometer", "a pedometer that stores the steps of past days",
    [
      localName, advertisingInterval,
      WorldField(
        "cadence", .number(0...1_000), "The steps per minute of the wearer", else: "100", example: "120"),
      WorldField(
        "startTime", .dateTime, "The local time of its clock at the world's time 0", else: "\"2024-01-01T00:00:00\"",
        example: #""2024-02-29T23:59:30""#),
      WorldField(
        "pastDays", .list(.integer(0...4_294_967_295), count: 0...10_000),
        "The steps of the days before it is turned on, the oldest first", else: "none", example: "[5120, 8304]"),
      WorldField(
        "capacity", .integer(0...10_000), "The number of past days that it stores; a further one replaces the oldest",
        else: "30", example: "7"),
      WorldField(
        "interval", .number(0.001...WorldLimits.seconds.upperBound),
        "The time between two notifications of today's steps, seconds", else: "1", example: "10"),
      batteryLevel,
    ])
}
