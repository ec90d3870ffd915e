import BluetoothLab
import BluetoothProfiles

// The kinds of accessories for sports.

extension AccessoryKind {
  static let cycling = AccessoryKind(
    "cycling", "a bicycle sensor at wheel and crank: Cycling Speed and Cadence service",
    { name, _ in CyclingSensor(name: name) },
    [
      .advertisingInterval(),
      WorldField("speed", .number(0...1_000), "The speed, m/s", else: "5", example: "8.5").number(\.speed),
      WorldField(
        "cadence", .number(0...10_000), "The crank cadence, revolutions per minute", else: "70", example: "90"
      ).number(\.cadence),
      WorldField(
        "wheelCircumference", .number(0.01...100), "The wheel circumference, metres", else: "2.1", example: "2.2"
      ).number(\.wheelCircumference),
      .battery(\.batteryLevel),
    ])

  static let cyclingPower = AccessoryKind(
    "cycling-power", "a power meter in the crank of a bicycle: Cycling Power service",
    { name, _ in CyclingPowerMeter(name: name) },
    [
      .advertisingInterval(),
      WorldField("power", .number(-32_768...32_767), "The power, W", else: "200", example: "250").number(\.power),
      WorldField(
        "cadence", .number(0...10_000), "The crank cadence, revolutions per minute", else: "85", example: "95"
      ).number(\.cadence),
      WorldField("speed", .number(0...1_000), "The speed, m/s", else: "8", example: "8.5").number(\.speed),
      WorldField(
        "wheelCircumference", .number(0.01...100), "The wheel circumference, metres", else: "2.1", example: "2.2"
      ).number(\.wheelCircumference),
      WorldField(
        "leftShare", .number(0...100), "The share of the left pedal in the power, %", else: "50", example: "48.5"
      ).number(\.leftShare),
      WorldField("crankLength", .number(1...1_000), "The crank length, mm", else: "172.5", example: "170").number(
        \.crankLength),
      WorldField("chainLength", .integer(0...65_535), "The chain length, mm", else: "1400", example: "1300").whole(
        \.chainLength),
      WorldField("chainWeight", .integer(0...65_535), "The chain weight, g", else: "250", example: "260").whole(
        \.chainWeight),
      WorldField("spanLength", .integer(0...65_535), "The span length, mm", else: "50", example: "60").whole(
        \.spanLength),
      WorldField("samplingRate", .integer(0...255), "The sampling rate of the force, Hz", else: "50", example: "100")
        .whole(\.samplingRate),
      WorldField(
        "offset", .integer(-32_768...32_767), "The raw force that an offset compensation measures, N", else: "12",
        example: "-3"
      ).set { meter, object, _ in
        if let offset: Int16 = object.whole("offset") { meter.offset = offset }
      },
      WorldField(
        "supportsEnhancedCompensation", .flag, "True if it supports the enhanced offset compensation", else: "false",
        example: "true"
      ).flag(\.supportsEnhancedCompensation),
      WorldField(
        "compensationTime", .number(0.001...WorldLimits.seconds.upperBound),
        "The duration of an offset compensation, seconds", else: "3", example: "10"
      ).time(\.compensationTime),
      .battery(\.batteryLevel),
    ])

  static let running = AccessoryKind(
    "running", "a foot pod of a runner: Running Speed and Cadence service",
    { name, _ in RunningSensor(name: name) },
    [
      .advertisingInterval(),
      WorldField("speed", .number(0...255), "The speed, m/s", else: "3", example: "4.2").number(\.speed),
      WorldField("cadence", .integer(0...255), "The cadence, steps per minute", else: "160", example: "175").whole(
        \.cadence),
      WorldField(
        "runningSpeed", .number(0...255), "The lowest speed that is reported as running, m/s", else: "2",
        example: "2.5"
      ).number(\.runningSpeed),
      WorldField(
        "calibrationTime", .number(0.001...WorldLimits.seconds.upperBound), "The duration of a calibration, seconds",
        else: "5", example: "10"
      ).time(\.calibrationTime),
      WorldField("canCalibrate", .flag, "True if calibrations succeed", else: "true", example: "false").flag(
        \.canCalibrate),
      .battery(\.batteryLevel),
    ])

  static let location = AccessoryKind(
    "location", "a receiver of positions with navigation: Location and Navigation service",
    { name, object in LocationSensor(name: name, position: object.geographicPosition) },
    [
      .advertisingInterval(),
      WorldField(
        "latitude", .number(-90...90), "The initial latitude, degrees; north is positive", else: "48",
        example: "48.137"
      ).atCreation(),
      WorldField(
        "longitude", .number(-180...180), "The initial longitude, degrees; east is positive", else: "11",
        example: "11.575"
      ).atCreation(),
      WorldField("speed", .number(0...655), "The speed, m/s", else: "5", example: "1.4").number(\.speed),
      WorldField(
        "heading", .number(0...360), "The direction of the movement, degrees from north to east", else: "90",
        example: "180"
      ).number(\.heading),
      WorldField("elevation", .number(-80_000...80_000), "The elevation, metres", else: "500", example: "519").number(
        \.elevation),
      WorldField(
        "routes", .list(.object(.route), count: 0...100), "The routes that clients select", else: "none",
        example: #"[{"name": "home", "waypoints": [{"latitude": 48, "longitude": 11.01}]}]"#
      ).set { sensor, object, _ in
        sensor.routes = object.objects("routes", .route).map { route in
          NavigationRoute(
            route.text("name") ?? "", waypoints: route.objects("waypoints", .routePoint).map(\.geographicPosition))
        }
      },
      WorldField(
        "positionStatus", .choice(PositionStatusNames.all.keys.sorted()), "The status of the position",
        else: "\"ok\"", example: #""estimated""#
      ).word(\.positionStatus, PositionStatusNames.all),
      WorldField(
        "beacons", .list(.integer(0...255), count: 2...2), "The numbers of satellites in the solution and in view",
        else: "[8, 11]", example: "[4, 9]"
      ).set { sensor, object, _ in
        let beacons = object.list("beacons").compactMap { $0.value.whole(UInt8.self) }
        if beacons.count == 2 { sensor.beacons = (inSolution: beacons[0], inView: beacons[1]) }
      },
      WorldField(
        "startTime", .dateTime, "The UTC time at the world's time 0, for locations with the time", else: "none",
        example: #""2024-02-29T08:30:00""#
      ).date(\.startTime),
      .battery(\.batteryLevel),
    ])
}

extension ObjectShape {
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
}
