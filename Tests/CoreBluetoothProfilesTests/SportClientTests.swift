import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("Clients of sport sensors") struct SportClientTests {
  private func refusal(_ body: () throws -> some Any) -> SensorControlError? { failure(SensorControlError.self, body) }

  @Test("A cycling client computes speed and cadence from two measurements, and runs the control point")
  func cycling() throws {
    let scene = ClientScene(CyclingSensor(speed: 8, cadence: 90, wheelCircumference: 2))
    let limit = scene.limit
    let client = try scene.client { try await CyclingSpeedAndCadenceClient($0, procedureLimit: limit) }
    let stage = scene.stage
    let values = try stage.perform { try await client.measurements.take(4) }
    let rates = CyclingRates(from: values[0], to: values[3], wheelCircumference: 2)
    #expect(abs((rates.speed ?? 0) - 8) < 0.05 && abs((rates.cadence ?? 0) - 90) < 1)
    try stage.perform { try await client.setWheelRevolutions(1_000_000) }
    let later = try stage.perform { try await client.measurements.take(1)[0] }
    #expect((1_000_000...1_000_010).contains(later.wheel?.cumulative ?? 0))
    let locations = try stage.perform { try await client.supportedSensorLocations() }
    #expect(locations.contains(.chainstay))
    try stage.perform { try await client.updateSensorLocation(.chainstay) }
    #expect(try stage.perform { try await client.sensorLocation() } == .chainstay)
    #expect(
      refusal { try stage.perform { try await client.updateSensorLocation(.chest) } } == .refused(.invalidParameter))
    #expect(try stage.perform { try await client.feature() }.contains(.multipleSensorLocations))
  }

  @Test("Revolutions and event times that wrap around give the same rates; a wheel at rest has none")
  func wrapping() {
    func measurement(_ wheel: UInt32, _ crank: UInt16, _ time: Int) -> CSCMeasurement {
      CSCMeasurement(
        wheel: WheelRevolutions(cumulative: wheel, lastEventTime: Scalar(clamping: time)),
        crank: CrankRevolutions(cumulative: crank, lastEventTime: Scalar(clamping: time)))
    }
    let rates = CyclingRates(
      from: measurement(.max, .max, 65_024), to: measurement(3, 1, 512), wheelCircumference: 2.5)
    #expect(rates.speed == 10 && rates.cadence == 120)
    let back = CyclingRates(from: measurement(5, 5, 0), to: measurement(4, 6, 1_024), wheelCircumference: 2)
    #expect(back.speed == nil && back.cadence == 60)
    let rest = CyclingRates(from: measurement(5, 5, 7), to: measurement(5, 5, 7), wheelCircumference: 2)
    #expect(rest.speed == nil && rest.cadence == nil)
    #expect(CyclingRates(from: CSCMeasurement(), to: CSCMeasurement(), wheelCircumference: 2).speed == nil)
  }

  @Test("A running client gets speed and stride, sets the distance and calibrates; a cancelled calibration stops")
  func running() throws {
    let scene = ClientScene(RunningSensor())
    let limit = scene.limit
    let client = try scene.client { try await RunningSpeedAndCadenceClient($0, procedureLimit: limit) }
    let stage = scene.stage
    let value = try stage.perform { try await client.measurements.take(1)[0] }
    #expect(abs((value.speed.value ?? 0) - scene.device.accessory.speed) < 0.01)
    #expect(value.cadence == scene.device.accessory.cadence && value.strideLength != nil)
    try stage.perform { try await client.setTotalDistance(Scalar(clamping: 420)) }
    #expect((42...50).contains(scene.device.accessory.totalDistance))
    let start = scene.world.now
    try stage.perform { try await client.calibrate() }
    #expect(scene.world.now - start >= scene.device.accessory.calibrationTime)
    let calibration = stage.start { try await client.calibrate() }
    stage.run(for: .milliseconds(500))
    #expect(refusal { try stage.perform { try await client.calibrate() } } == .procedureInProgress)
    calibration.cancel()
    #expect(outcome { try stage.value(of: calibration) } == .cancelled)
    // The control point of the sensor is free at once.
    #expect(try stage.perform { try await client.supportedSensorLocations() }.contains(.inShoe))
    scene.device.update { $0.canCalibrate = false }
    #expect(refusal { try stage.perform { try await client.calibrate() } } == .refused(.operationFailed))
    #expect(try stage.perform { try await client.feature() }.contains(.calibrationProcedure))
    #expect(try stage.perform { try await client.sensorLocation() } != nil)
  }

  @Test("A power client gets measurements and vectors, and runs every command of the control point")
  func cyclingPower() throws {
    let scene = ClientScene(CyclingPowerMeter(power: 250))
    let limit = scene.limit
    let client = try scene.client { try await CyclingPowerClient($0, procedureLimit: limit) }
    let stage = scene.stage
    #expect(try stage.perform { try await client.measurements.take(1)[0] }.instantaneousPower == 250)
    let vectors = try #require(client.vectors)
    #expect(try stage.perform { try await vectors.take(1)[0] }.direction == .tangential)
    try stage.perform {
      try await client.setWheelRevolutions(5)
      try await client.setCrankLength(Scalar(clamping: 340))
      try await client.setChainLength(1_300)
      try await client.setChainWeight(260)
      try await client.setSpanLength(60)
      try await client.updateSensorLocation(.rightCrank)
      try await client.maskMeasurementContent(0x01FF)
    }
    #expect(try stage.perform { try await client.crankLength() }.value == 0.17)
    #expect(try stage.perform { try await client.chainLength() } == 1_300)
    #expect(try stage.perform { try await client.chainWeight() } == 260)
    #expect(try stage.perform { try await client.spanLength() } == 60)
    #expect(try stage.perform { try await client.sensorLocation() } == .rightCrank)
    #expect(try stage.perform { try await client.supportedSensorLocations() }.contains(.rightCrank))
    #expect(try stage.perform { try await client.compensateOffset() } == 12)
    #expect(try stage.perform { try await client.samplingRate() } == scene.device.accessory.samplingRate)
    #expect(
      try stage.perform { try await client.factoryCalibrationDate() } == scene.device.accessory.factoryCalibration)
    #expect(try stage.perform { try await client.measurements.take(1)[0] }.crank == nil, "masked")
    #expect(
      refusal { try stage.perform { try await client.maskMeasurementContent(0x8000) } } == .refused(.invalidParameter))
    #expect(try stage.perform { try await client.feature() } == scene.device.accessory.features)
    scene.device.update { $0.offset = nil }
    #expect(refusal { try stage.perform { try await client.compensateOffset() } } == .refused(.operationFailed))
  }

  @Test("A power client compensates the offset with data of the manufacturer, if the meter supports it")
  func enhancedCompensation() throws {
    let scene = ClientScene(CyclingPowerMeter())
    let limit = scene.limit
    let client = try scene.client { try await CyclingPowerClient($0, procedureLimit: limit) }
    let stage = scene.stage
    let unsupported = refusal { try stage.perform { try await client.compensateOffsetEnhanced() } }
    #expect(unsupported == .refused(.opCodeNotSupported))
    scene.device.update { ($0.supportsEnhancedCompensation, $0.compensationData) = (true, [7, 8]) }
    let result = try stage.perform { try await client.compensateOffsetEnhanced() }
    #expect(result == EnhancedOffsetCompensation(offset: 12, companyIdentifier: 0xFFFF, manufacturerData: [7, 8]))
    #expect(try stage.perform { try await client.compensateOffset() } == 12)
    scene.device.update { $0.offset = nil }
    #expect(refusal { try stage.perform { try await client.compensateOffsetEnhanced() } } == .refused(.operationFailed))
  }

  @Test("A location client gets positions and directions, selects a route and follows it")
  func location() throws {
    let route = NavigationRoute(
      "Loop",
      waypoints: [
        GeographicPosition(latitude: 48.001, longitude: 11), GeographicPosition(latitude: 48.001, longitude: 11.001),
      ])
    let scene = ClientScene(LocationSensor(routes: [route]))
    let limit = scene.limit
    let client = try scene.client { try await LocationAndNavigationClient($0, procedureLimit: limit) }
    let stage = scene.stage
    let place = try stage.perform { try await client.locations.take(1)[0] }
    #expect(abs((place.position?.latitude.value ?? 0) - 48) < 0.001 && place.speed?.value == 5)
    #expect(try stage.perform { try await client.numberOfRoutes() } == 1)
    #expect(try stage.perform { try await client.nameOfRoute(0) } == "Loop")
    #expect(refusal { try stage.perform { try await client.nameOfRoute(1) } } == .refused(.invalidParameter))
    #expect(refusal { try stage.perform { try await client.navigate(.start) } } == .refused(.operationFailed))
    try stage.perform {
      try await client.selectRoute(0)
      try await client.navigate(.start)
      try await client.setFixRate(2)
      try await client.setTotalDistance(Scalar(clamping: 10))
      try await client.setElevation(Scalar(clamping: 60_000))
      try await client.maskLocationContent(1)
    }
    let directions = try #require(client.directions)
    let direction = try stage.perform { try await directions.take(1)[0] }
    #expect((60...120).contains(direction.remainingDistance?.value ?? 0) && !direction.isToDestination)
    let masked = try stage.perform { try await client.locations.take(1)[0] }
    #expect(masked.speed == nil && masked.elevation?.value == 600)
    #expect(try stage.perform { try await client.positionQuality() }?.beaconsInView == 11)
    #expect(try stage.perform { try await client.feature() }.contains(.fixRateSetting))
    #expect(scene.device.accessory.fixRate == 2)
  }

  @Test(
    "The errors of the old and of the common codes are the same, and others stay errors of ATT",
    arguments: [
      (0x80, .procedureInProgress), (0xFE, .procedureInProgress), (0x81, .notSubscribed), (0xFD, .notSubscribed),
    ]
      as [(UInt8, SensorControlError)])
  func attributeErrors(code: UInt8, expected: SensorControlError) throws {
    var sensor = RawSensor(0x1814, [(0x2A53, .notify, []), (0x2A54, .read, [0, 0])])
    (sensor.controlPoint, sensor.error) = (0x2A55, ATTErrorCode(rawValue: code))
    let scene = ClientScene(sensor)
    let limit = scene.limit
    let client = try scene.client { try await RunningSpeedAndCadenceClient($0, procedureLimit: limit) }
    #expect(refusal { try scene.stage.perform { try await client.calibrate() } } == expected)
    scene.device.update { $0.error = .insufficientResources }
    #expect(outcome { try scene.stage.perform { try await client.calibrate() } } == .att(.insufficientResources))
  }

  @Test("The parameter of a response must have the right length")
  func responseParameters() throws {
    var meter = RawSensor(
      0x1818, [(0x2A63, .notify, []), (0x2A65, .read, [0, 0, 0, 0]), (0x2A5D, .read, [5])])
    (meter.controlPoint, meter.responses) = (0x2A66, [[32, 7, 1, 5]])
    let scene = ClientScene(meter)
    let limit = scene.limit
    let client = try scene.client { try await CyclingPowerClient($0, procedureLimit: limit) }
    #expect(refusal { try scene.stage.perform { try await client.chainLength() } } == .malformedResponse(.tooShort))
    scene.device.update { $0.responses = [[32, 7, 1, 5, 0, 0]] }
    #expect(refusal { try scene.stage.perform { try await client.chainLength() } } == .malformedResponse(.tooLong))
    scene.device.update { $0.responses = [[32, 15, 1, 0xE8, 7, 13, 1, 0, 0, 0]] }
    let error = refusal { try scene.stage.perform { try await client.factoryCalibrationDate() } }
    guard case .malformedResponse(.outOfRange) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
