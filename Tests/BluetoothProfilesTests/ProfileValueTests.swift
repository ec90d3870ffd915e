import BluetoothProfiles
import BluetoothTypes
import Requirements
import Testing

/// Checks the octets and the text of a value, and that its octets decode to the same value.
private func expect<Value: CharacteristicValue>(
  _ value: Value, _ octets: String, _ text: String, location: SourceLocation = #_sourceLocation
) {
  #expect(digits(value.octets) == octets, sourceLocation: location)
  #expect(value.description == text, sourceLocation: location)
  #expect((try? Value(value.octets)) == value, sourceLocation: location)
}

@Suite struct HealthValueTests {
  let time = DateTime(year: 2024, month: 3, day: 15, hours: 14, minutes: 30, seconds: 45)

  @Test(
    "A heart rate takes one octet if it fits, and optional fields are present when they are set", .requirement("L188"))
  func heartRate() throws {
    expect(HeartRateMeasurement(heartRate: 72), "0048", "heart rate 72 /min")
    let beats = try [1.0, 0.5].map { try #require(Scalar<Seconds1024>($0)) }
    expect(
      HeartRateMeasurement(heartRate: 328, sensorContact: .detected, energyExpended: 1000, rrIntervals: beats),
      "1f4801e80300040002",
      "heart rate 328 /min, sensor contact detected, energy expended 1000 kJ, RR interval 1 s, RR interval 0.5 s")
    var measurement = try HeartRateMeasurement([0x01, 200, 0])
    #expect(measurement.octets == [0x01, 200, 0])
    #expect(measurement != HeartRateMeasurement(heartRate: 200))
    measurement.heartRate = 300
    #expect(measurement == HeartRateMeasurement(heartRate: 300))
    expect(BodySensorLocation.wrist, "02", "Wrist")
    expect(HeartRateControlPoint.resetEnergyExpended, "01", "Reset Energy Expended")
  }

  @Test("A thermometer's value has its unit, time and place", .requirement("L187"))
  func thermometer() throws {
    let temperature = try #require(MedicalFloat32(36.6, exponent: -1))
    expect(
      TemperatureMeasurement(temperature: temperature, timeStamp: time, type: .ear), "066e0100ffe807030f0e1e2d03",
      "36.6 °C, at 2024-03-15 14:30:45, measured at ear")
    let fahrenheit = try #require(MedicalFloat32(98.6, exponent: -1))
    expect(IntermediateTemperature(temperature: fahrenheit, isFahrenheit: true), "01da0300ff", "98.6 °F")
    #expect(MeasurementInterval(rawValue: 0)?.description == "no periodic measurement")
    #expect(TemperatureType(rawValue: 77).description == "reserved (77)")
  }

  @Test("A blood pressure has unit, time, pulse, user and status; an intermediate cuff pressure has two empty fields")
  func bloodPressure() throws {
    let pulse = try #require(MedicalFloat16(mantissa: 72, exponent: 0))
    let values = try [120, 80, 90].map { try #require(MedicalFloat16(mantissa: $0, exponent: 0)) }
    let details = BloodPressureDetails(
      timeStamp: time, pulseRate: pulse, userID: 1, status: [.bodyMovement, .pulseTooSlow])
    expect(
      BloodPressureMeasurement(
        systolic: values[0], diastolic: values[1], meanArterialPressure: values[2], details: details),
      "1e780050005a00e807030f0e1e2d4800011100",
      "systolic 120 mmHg, diastolic 80 mmHg, mean 90 mmHg, at 2024-03-15 14:30:45, pulse 72 /min, user 1, "
        + "status body movement, pulse below its range")
    let pressure = try #require(MedicalFloat16(16.2, exponent: -1))
    expect(
      IntermediateCuffPressure(pressure: pressure, unit: .kilopascal), "01a2f0ff07ff07", "cuff 16.2 kPa")
    expect(BloodPressureFeature([.cuffFitDetection, .multipleBonds]), "2200", "cuff fit detection, multiple bonds")
  }

  @Test("A weight has its unit, time, user and body mass index, and 0xFFFF is no weight", .requirement("L218"))
  func weight() throws {
    expect(WeightMeasurement(rawWeight: 14_480), "009038", "weight 72.4 kg")
    let index = try #require(Scalar<BodyMassIndex>(22.9))
    let pounds = WeightMeasurement(
      rawWeight: 15_961, units: .imperial, timeStamp: time, userID: 255,
      body: WeightMeasurement.Body(bodyMassIndex: index, rawHeight: 701))
    expect(
      pounds, "0f593ee807030f0e1e2dffe500bd02",
      "weight 159.61 lb, at 2024-03-15 14:30:45, user not known, body mass index 22.9 kg/m², height 70.1 in")
    #expect(try #require(pounds.kilograms) == 159.61 * 0.453_592_37)
    let failed = WeightMeasurement(rawWeight: WeightMeasurement.unsuccessful, userID: 3)
    expect(failed, "04ffff03", "weight not measured, user 3")
    #expect(failed.weight == nil && failed.kilograms == nil)
    #expect(try WeightMeasurement([0xF0, 1, 0, 9]).octets == [0, 1, 0], "reserved flags and later fields are ignored")
  }

  @Test("The features of a scale have two resolutions, and reserved bits are preserved")
  func weightFeature() throws {
    let feature = WeightScaleFeature(
      timeStamp: true, bodyMassIndex: true, weightResolution: .grams5, heightResolution: .millimetres1)
    expect(
      feature, "bd010000",
      "time stamp, body mass index, weight resolution 0.005 kg or 0.01 lb, height resolution 0.001 m or 0.1 inch")
    var other = WeightScaleFeature(rawValue: 0xFFFF_FFFF)
    (other.timeStamp, other.bodyMassIndex, other.weightResolution) = (false, false, .notSpecified)
    (other.multipleUsers, other.heightResolution) = (false, .millimetres10)
    #expect(other.rawValue == 0xFFFF_FC80)
    let reserved = WeightScaleFeature(rawValue: 1 << 10 | 9 << 3)
    #expect(reserved.description.hasPrefix("reserved bit 10, weight resolution reserved (9)"))
    #expect(throws: ValueError.tooShort) { try WeightScaleFeature([1, 0, 0]) }
  }

  @Test("Each resolution of a scale rounds to the nearest weight and height, and what a field can't hold is nil")
  func weightResolutions() {
    let resolutions: [WeightResolution] = [
      .grams500, .grams200, .grams100, .grams50, .grams20, .grams10, .grams5, .notSpecified,
    ]
    // 72.432 kg in steps of 0.005 kg, and its 159.6852 lb in steps of 0.01 lb.
    #expect(
      resolutions.map { $0.rawWeight(kilograms: 72.432, in: .international) }
        == [14_500, 14_480, 14_480, 14_490, 14_488, 14_486, 14_486, 14_486])
    #expect(
      resolutions.map { $0.rawWeight(kilograms: 72.432, in: .imperial) }
        == [16_000, 15_950, 15_960, 15_970, 15_970, 15_968, 15_969, 15_969])
    let wrong = [-0.1, .nan, .infinity, 327.7, 1e300]
    #expect(wrong.allSatisfy { WeightResolution.grams5.rawWeight(kilograms: $0, in: .international) == nil })
    #expect(WeightResolution.grams5.rawWeight(kilograms: 327.67, in: .international) == 0xFFFE)
    let heights: [HeightResolution] = [.millimetres10, .millimetres5, .millimetres1, .notSpecified]
    #expect(heights.map { $0.rawHeight(metres: 1.784, in: .international) } == [1_780, 1_785, 1_784, 1_784])
    // 70.236 in.
    #expect(heights.map { $0.rawHeight(metres: 1.784, in: .imperial) } == [700, 700, 702, 702])
  }

  @Test("A glucose measurement has a concentration with type and sample location, and a context")
  func glucose() throws {
    let time = try #require(time)
    let amount = try #require(MedicalFloat16(mantissa: 124, exponent: -5))
    let concentration = try #require(
      GlucoseMeasurement.Concentration(amount, type: .capillaryPlasma, sampleLocation: .finger))
    expect(
      GlucoseMeasurement(
        sequenceNumber: 42, baseTime: time, timeOffset: Scalar(rawValue: -60), concentration: concentration,
        sensorStatus: [.batteryLow, .timeFault], contextFollows: true),
      "1b2a00e807030f0e1e2dc4ff7cb0120108",
      "sequence number 42, at 2024-03-15 14:30:45, time offset -60 min, glucose 0.00124 kg/l, in capillary plasma, "
        + "from finger, status battery low, time fault, context follows")
    var context = GlucoseMeasurementContext(sequenceNumber: 42)
    context.meal = .fasting
    context.exercise = .init(duration: 300, intensity: 50)
    expect(context, "0a2a00032c0132", "sequence number 42, meal fasting, exercise 300 s at 50 %")
    #expect(GlucoseMeasurement.Concentration(amount, type: 16, sampleLocation: .finger) == nil)
    #expect(GlucoseMeasurementContext.TesterAndHealth(tester: .patient, health: 16) == nil)
  }

  @Test("Records are requested all together or by their sequence numbers", arguments: [3...9, 0...9, 3...UInt16.max])
  func records(numbers: ClosedRange<UInt16>) throws {
    let request = RecordAccessControlPoint.reportStoredRecords(.sequenceNumbers(numbers))
    guard case .reportStoredRecords(let criterion) = try RecordAccessControlPoint(request.octets) else {
      Issue.record("\(request)")
      return
    }
    #expect(criterion.sequenceNumbers == numbers)
    #expect(RecordCriterion.all.sequenceNumbers == nil)
    expect(RecordAccessControlPoint.deleteStoredRecords(.all), "0201", "Delete Stored Records: all records")
    expect(
      RecordAccessControlPoint.response(to: .abortOperation, .abortUnsuccessful), "06000307",
      "answer to Abort Operation, abort unsuccessful")
    #expect(throws: ValueError.outOfRange(field: "Operator")) { try RecordAccessControlPoint([3, 1]) }
  }
}

@Suite struct SportValueTests {
  @Test("Wheel and crank revolutions accumulate, with the last event's time in fractions of a second")
  func cycling() throws {
    let time = try #require(Scalar<Seconds1024>(2))
    expect(
      CSCMeasurement(crank: CrankRevolutions(cumulative: 321, lastEventTime: time)), "0241010008",
      "crank revolutions 321, the last at 2 s")
    #expect(Scalar<Seconds2048>(rawValue: 1)?.description == "0.00048828125 s")
    expect(SCControlPoint.updateSensorLocation(.leftCrank), "0305", "Update Sensor Location left crank")
    expect(
      SCControlPoint.response(to: .requestSupportedSensorLocations, .success, [.hip, .chest]), "100401030e",
      "answer to Request Supported Sensor Locations, success, hip, chest")
    #expect(throws: ValueError.tooLong) { try SCControlPoint([2, 0]) }
  }

  @Test("A running measurement has speed, cadence, stride length and distance")
  func running() throws {
    let speed = try #require(Scalar<MetresPerSecond256>(2.5))
    expect(
      RSCMeasurement(
        speed: speed, cadence: 180, strideLength: Scalar(0.85), totalDistance: Scalar(1000), isRunning: true),
      "078002b4550010270000", "running at 2.5 m/s, cadence 180 /min, stride length 0.85 m, total distance 1000 m")
    expect(RSCFeature([.totalDistance, .calibrationProcedure]), "0a00", "total distance, calibration procedure")
  }

  @Test("A cycling power measurement packs its two extreme angles into three octets")
  func power() throws {
    var measurement = CyclingPowerMeasurement(instantaneousPower: -50)
    measurement.pedalPowerBalance = .init(share: try #require(Scalar(52.5)), isOfLeftPedal: true)
    measurement.extremeAngles = .init(maximum: 0x123, minimum: 0xABC)
    measurement.extremeForces = .init(maximum: 300, minimum: -20)
    measurement.wantsOffsetCompensation = true
    expect(
      measurement, "4311ceff692c01ecff23c1ab",
      "power -50 W, left pedal's share 52.5 %, force -20 to 300 N, greatest and smallest at 291° and 2748°, "
        + "offset compensation wanted")
    #expect(CyclingPowerMeasurement.ExtremeAngles(maximum: 0x1000, minimum: 0) == nil)
    expect(
      CyclingPowerVector(firstCrankMeasurementAngle: 90, magnitudes: .forces([10, -10]), direction: .radial),
      "265a000a00f6ff", "from 90 °, direction radial, force 10 N, force -10 N")
    #expect(throws: ValueError.outOfRange(field: "Flags")) { try CyclingPowerVector([0x0C, 1, 0]) }
    expect(
      CyclingPowerControlPoint.setCrankLength(try #require(Scalar(0.1725))), "045901", "Set Crank Length 0.1725 m")
    expect(CyclingPowerControlPoint.request(.startOffsetCompensation), "0c", "Start Offset Compensation")
    expect(CyclingPowerFeature([.torqueBased]), "00000100", "torque based")
  }

  @Test("Location and navigation have a position, the way to the next one, and a position quality")
  func location() throws {
    var place = LocationAndSpeed()
    place.position = GeographicPosition(
      latitude: try #require(Scalar(35.6586)), longitude: try #require(Scalar(139.7454)))
    place.speed = Scalar(1.5)
    place.positionStatus = .positionOK
    expect(
      place, "8500960010124115b0744b53",
      "position OK, latitude 35.6586 °, longitude 139.7454 °, speed 1.5 m/s")
    #expect(Scalar<Latitude>(90.1) == nil)
    #expect(Scalar<Degrees100>(360) == nil)
    let north = try #require(Scalar<Degrees100>(0))
    var navigation = Navigation(bearing: north, heading: north)
    navigation.remainingDistance = Scalar(12.3)
    navigation.isToDestination = true
    expect(
      navigation, "4100000000007b0000", "no position, destination at 0 °, heading 0 °, remaining 12.3 m")
    var quality = PositionQuality()
    quality.horizontalDilution = Scalar(0.8)
    expect(quality, "200004", "no position, horizontal dilution of precision 0.8")
    expect(LNControlPoint.navigationControl(.start), "0301", "Navigation Control start")
    expect(LNFeature([.positionStatus]), "00001000", "position status")
  }
}

@Suite struct AlertValueTests {
  @Test("Alerts have categories, counts and a text")
  func alerts() {
    expect(NewAlert(category: .email, count: 3, text: "John"), "01034a6f686e", "category email, new 3, text John")
    expect(UnreadAlertStatus(category: .call, count: 255), "03ff", "category call, unread more than 254")
    expect(SupportedNewAlertCategory([.email, .sms, .instantMessage]), "2202", "email, SMS/MMS, instant message")
    expect(SupportedUnreadAlertCategory([]), "0000", "none")
    expect(
      AlertNotificationControlPoint(.notifyNewAlertImmediately, .all), "04ff",
      "notify new alerts immediately, category all categories")
  }

  @Test("A phone reports that it rings, and can be silenced")
  func phoneAlertStatus() {
    expect(AlertStatus([.ringer, .display]), "05", "ringing, displaying an alert")
    expect(RingerSetting.silent, "00", "Ringer Silent")
    expect(RingerControlPoint.cancelSilentMode, "03", "Cancel Silent Mode")
  }

  @Test("Alert levels and transmit power levels have their octets, texts and ranges", .requirement("L185", "L192"))
  func proximity() throws {
    expect(AlertLevel.highAlert, "02", "High Alert")
    #expect(try AlertLevel([3]).name == nil)
    expect(try #require(TxPowerLevel(level: -12)), "f4", "-12 dBm")
    #expect(TxPowerLevel(level: 21) == nil)
    #expect(throws: ValueError.outOfRange(field: "Tx Power")) { try TxPowerLevel([0x7F]) }
  }
}

@Suite struct DeviceValueTests {
  @Test("Times have a zone, a source and an accuracy")
  func time() throws {
    let noon = try #require(DateTime(year: 2025, month: 1, day: 15, hours: 12))
    expect(
      CurrentTime(
        exactTime: ExactTime256(
          dayDateTime: DayDateTime(dateTime: noon, dayOfWeek: .wednesday), fractions256: 128),
        adjustReason: [.changeOfTimeZone]),
      "e907010f0c0000038004", "2025-01-15 12:00:00, Wednesday, fraction 128/256 s, adjusted for change of time zone")
    #expect(DateTime(year: 1581, month: 1, day: 1) == nil)
    #expect(DateTime(year: 2025, month: 13, day: 1) == nil)
    #expect(DateTime(year: 0, month: 0, day: 0)?.description == "????-??-?? 00:00:00")
    #expect(throws: ValueError.outOfRange(field: "Month")) { try DateTime([0xE9, 7, 13, 1, 0, 0, 0]) }
    expect(
      LocalTimeInformation(timeZone: try #require(TimeZoneOffset(540)), dstOffset: .standardTime), "2400",
      "time zone 540 min, standard time")
    expect(
      ReferenceTimeInformation(
        source: .gps, accuracy: try #require(TimeAccuracy(0.25)), daysSinceUpdate: 1, hoursSinceUpdate: 2),
      "02020102", "source GPS, accuracy 0.25 s, updated 1 d 2 h ago")
    expect(
      TimeUpdateState(currentState: .updatePending, result: .timeout), "0104",
      "state update pending, last result timeout")
    expect(TimeUpdateControlPoint.getReferenceUpdate, "01", "Get Reference Update")
    expect(
      TimeWithDST(dateTime: noon, dstOffset: .daylightTime), "e907010f0c000004", "2025-01-15 12:00:00, daylight time")
  }

  @Test("A keyboard's report map is parsed item by item, and its reports name keys and lights")
  func humanInterfaceDevice() throws {
    let map = ReportMap(descriptor: [0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x15, 0x81, 0x81, 0x02, 0xC0])
    #expect(
      map.description == "Usage Page Generic Desktop, Usage 0x6, Collection Application, Logical Minimum -127, "
        + "Input data, variable, absolute, End Collection")
    #expect(try map.items().count == 6)
    #expect(throws: ValueError.tooShort) { try ReportMap(descriptor: [0x05]).items() }
    #expect(throws: ValueError.tooShort) { try ReportMap(descriptor: [0xFE, 2, 0, 1]).items() }
    #expect(try ReportMap(descriptor: [0xFE, 1, 7, 9]).items() == [.other(tag: 7, data: [9])])
    expect(
      HIDInformation(flags: [.normallyConnectable]), "11010002", "version 1.11, country 0, flags normally connectable")
    expect(
      try #require(BootKeyboardInputReport(modifiers: .leftShift, keys: [4])), "0200040000000000",
      "modifiers left shift, keys 0x04")
    #expect(BootKeyboardInputReport(keys: [1, 2, 3, 4, 5, 6, 7]) == nil)
    expect(BootKeyboardOutputReport.capsLock, "02", "caps lock")
    expect(BootMouseInputReport(buttons: .first, x: -1, y: 2), "01ff02", "buttons first button, x -1, y 2")
    expect(ProtocolMode.boot, "00", "Boot Protocol Mode")
    expect(ReportReference(reportID: 1, type: .output), "0102", "report 1, type output")
    expect(ExternalReportReference(0x2A19), "192a", "Battery Level")
  }

  @Test("Device information has the maker, product and numbers")
  func deviceInformation() throws {
    expect(ManufacturerNameString("Müller"), "4dc3bc6c6c6572", "Müller")
    #expect(try ManufacturerNameString([0x41, 0x42, 0, 0]).text == "AB")
    #expect(try ModelNumberString([]).text == "")
    #expect(try SerialNumberString([0x41, 0xFF]).text == "A\u{FFFD}")
    expect(
      PnPID(vendorIDSource: .bluetoothSIG, vendorID: 0x4C, productID: 0x0210, productVersion: 0x0110),
      "014c0010021001", "vendor Apple, Inc., product 0x0210, version 0x0110")
    expect(
      try #require(SystemID(manufacturerIdentifier: 0xFF_FE78_9ABC, organizationallyUniqueIdentifier: 0x12_3456)),
      "bc9a78feff563412", "manufacturer identifier FFFE789ABC, OUI 123456")
    #expect(SystemID(manufacturerIdentifier: 1 << 40, organizationallyUniqueIdentifier: 0) == nil)
    expect(try #require(BatteryLevel(87)), "57", "87 %")
    #expect(throws: ValueError.outOfRange(field: "Battery Level")) { try BatteryLevel([101]) }
  }

  @Test("Environmental values have their units, and show when they are not known", .requirement("A009"))
  func environment() throws {
    expect(try #require(Temperature(-0.05)), "fbff", "-0.05 °C")
    expect(try #require(Temperature(rawValue: -32_768)), "0080", "not known")
    expect(try #require(Pressure(101_325)), "02760f00", "101325 Pa")
    expect(try #require(Elevation(-39)), "c4f0ff", "-39 m")
    expect(try #require(PollenConcentration(70_000)), "701101", "70000 /m³")
    expect(try #require(CO2Concentration(rawValue: 0xFFFE)), "feff", "65534 ppm or more")
    expect(
      MagneticFluxDensity2D(x: try #require(Scalar(0.0001)), y: try #require(Scalar(0))), "e8030000",
      "x 0.0001 T, y 0 T")
    expect(BarometricPressureTrend.steady, "09", "steady")
    expect(
      DescriptorValueChanged([.byClient, .triggerSetting], characteristic: 0x2A6E), "03006e2a",
      "changed by a client, ES Trigger Setting, of Temperature")
    let range = try #require(ValidRange(lower: [0xF6, 0x09], upper: [0x10, 0x0E]))
    expect(range, "f609100e", "from f609, to 100e")
    #expect(range.text(of: Temperature.uuid) == "25.5 °C to 36 °C")
    #expect(ValidRange(lower: [1], upper: []) == nil)
    #expect(throws: ValueError.tooShort) { try ValidRange([1, 2, 3]) }
    expect(EnvironmentalSensingTriggerSetting(.greaterThan, operand: [0xC4, 0x09]), "06c409", "above, operand c409")
  }
}
