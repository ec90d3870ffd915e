import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("Clients of health devices") struct HealthClientTests {
  @Test("A heart rate client gets measurements as typed values, reads the location and resets the energy")
  func heartRate() throws {
    var belt = HeartRateSensor(beatsPerMinute: 61)
    belt.energyExpended = 100
    let scene = ClientScene(belt)
    let client = try scene.client { try await HeartRateClient($0) }
    let values = try scene.stage.perform { try await client.measurements.take(2) }
    #expect(values.map(\.heartRate) == [61, 61] && values.map(\.energyExpended) == [101, 102])
    #expect(values[0].sensorContact == .detected)
    #expect(try scene.stage.perform { try await client.bodySensorLocation() } == .chest)
    try scene.stage.perform { try await client.resetEnergyExpended() }
    #expect(scene.device.accessory.energyExpended == 0)
    // The end of the loop has unsubscribed: nothing is measured any more.
    scene.stage.run(for: .seconds(5))
    #expect(scene.device.accessory.energyExpended == 0)
  }

  @Test("A belt sends the intervals of all beats since the measurement before, and the energy as often as it is told")
  func intervals() throws {
    // A beat each 0.8 s, which are 819.2 units.
    var belt = HeartRateSensor(beatsPerMinute: 75, interval: .milliseconds(4_100))
    (belt.sendsRRIntervals, belt.energyPeriod) = (true, 3)
    let scene = ClientScene(belt)
    let client = try scene.client { try await HeartRateClient($0) }
    let values = try scene.stage.perform { try await client.measurements.take(4) }
    #expect(values.map { $0.rrIntervals.map(\.rawValue) } == Array(repeating: [819, 819, 819, 819, 820], count: 4))
    #expect(values.map(\.energyExpended) == [1, nil, nil, 4])
    #expect(values.allSatisfy { $0.heartRate == 75 && $0.sensorContact == .detected })
    // Another property changes: no interval is sent again.
    let received = Box<[Int]>([])
    let reading = scene.stage.start {
      for try await value in client.measurements { received.append(value.rrIntervals.count) }
    }
    scene.stage.run(for: .seconds(6))
    scene.device.update { $0.batteryLevel = 50 }
    scene.device.update { $0.beatsPerMinute = 0 }
    scene.stage.run(for: .seconds(5))
    #expect(received.value == [5, 0, 0])
    reading.cancel()
  }

  @Test(
    "A measurement has the latest intervals that fit in the smallest ATT_MTU",
    arguments: [(180, 0, 9), (180, 1, 8), (300, 0, 8), (300, 1, 7)] as [(UInt16, UInt16, Int)])
  func manyIntervals(rate: UInt16, energyPeriod: UInt16, count: Int) throws {
    var belt = HeartRateSensor(beatsPerMinute: rate, interval: .seconds(10))
    (belt.sendsRRIntervals, belt.energyPeriod) = (true, energyPeriod)
    let scene = ClientScene(belt)
    let client = try scene.client { try await HeartRateClient($0) }
    let value = try scene.stage.perform { try await client.measurements.take(1)[0] }
    #expect(value.heartRate == rate && value.rrIntervals.count == count)
    #expect(value.octets.count <= 20 && (value.energyExpended == nil) == (energyPeriod == 0))
  }

  @Test("A belt has device information if it is given, and the values of any characteristic are typed")
  func deviceInformation() throws {
    var belt = HeartRateSensor()
    belt.information = DeviceInformation(model: "Belt")
    let scene = ClientScene(belt)
    let peripheral = try scene.connect()
    let model = try scene.stage.perform {
      let service = try await peripheral.discoverServices([CBUUID(string: "180A")]).first.orThrow()
      let found = try await service.discoverCharacteristics([CBUUID(string: "2A24")]).first.orThrow()
      return try await ProfileCharacteristic<ModelNumberString>(found).read()
    }
    #expect(model == "Belt")
    belt.information = nil
    let plain = ClientScene(belt)
    let other = try plain.connect()
    #expect(try plain.stage.perform { try await other.discoverServices([CBUUID(string: "180A")]).isEmpty })
    let error: ProfileError? = failure {
      try plain.stage.perform { _ = try await DeviceInformationClient(other) }
    }
    #expect(error == .missingService(0x180A))
  }

  @Test("A service or a characteristic that a client requires and the peripheral lacks is a typed error")
  func missing() throws {
    let scene = ClientScene(RawSensor(0x1808, [(0x2A18, .notify, [])]))
    let peripheral = try scene.connect()
    func error(_ make: @escaping @Sendable (Peripheral) async throws -> Void) -> ProfileError? {
      failure { try scene.stage.perform { try await make(peripheral) } }
    }
    #expect(error { _ = try await HeartRateClient($0) } == .missingService(0x180D))
    #expect(error { _ = try await GlucoseClient($0) } == .missingCharacteristic(0x2A51, of: 0x1808))
    #expect("\(ProfileError.missingService(0x180D))" == "The peripheral has no service Heart Rate.")
    #expect(
      "\(ProfileError.missingCharacteristic(0x2A51, of: 0x1808))"
        == "The service Glucose has no characteristic Glucose Feature.")
  }

  @Test("An optional characteristic that is missing is nil, and its command an error; a refused command is typed")
  func optionalParts() throws {
    let scene = ClientScene(RawSensor(0x180D, [(0x2A37, .notify, [0, 60])]))
    let client = try scene.client { try await HeartRateClient($0) }
    #expect(try scene.stage.perform { try await client.bodySensorLocation() } == nil)
    let error = failure(ProfileError.self) { try scene.stage.perform { try await client.resetEnergyExpended() } }
    #expect(error == .missingCharacteristic(0x2A39, of: 0x180D))
    var refusing = RawSensor(0x180D, [(0x2A37, .notify, [0, 60])])
    (refusing.controlPoint, refusing.error) = (0x2A39, ATTErrorCode(rawValue: 0x80))
    let second = ClientScene(refusing)
    let belt = try second.client { try await HeartRateClient($0) }
    let refusal = failure(ProfileError.self) { try second.stage.perform { try await belt.resetEnergyExpended() } }
    #expect(refusal == .commandNotSupported)
  }

  @Test("A malformed value is a typed error, after which the iteration goes on; results have it as an element")
  func malformedValues() throws {
    let scene = ClientScene(RawSensor(0x180D, [(0x2A37, .notify, [])]))
    let client = try scene.client { try await HeartRateClient($0) }
    let texts = Box<[String]>([])
    let reading = scene.stage.start {
      var iterator = client.measurements.makeAsyncIterator()
      while true {
        do {
          guard let value = try await iterator.next() else { break }
          texts.append("\(value.heartRate)")
        } catch let error as ProfileError { texts.append("\(error)") }
      }
    }
    let rates = Box<[UInt16?]>([])
    let results = scene.stage.start {
      for try await result in client.measurements.results { rates.append((try? result.get())?.heartRate) }
    }
    let loop = scene.stage.start { for try await _ in client.measurements {} }
    scene.stage.run(for: .seconds(1))
    for octets in [[0, 60], [1, 60], [0x10, 61, 1], [0, 62]] as [[UInt8]] {
      scene.device.send(octets)
      scene.stage.run(for: .seconds(1))
    }
    let tooShort = "The value of Heart Rate Measurement is too short."
    #expect(texts.value == ["60", tooShort, tooShort, "62"])
    #expect(rates.value == [60, nil, nil, 62])
    #expect(loop.error as? ProfileError == .malformedValue(of: 0x2A37, .tooShort))
    reading.cancel()
    results.cancel()
    #expect(outcome { try scene.stage.value(of: results) } == .cancelled)
  }

  @Test("The end of the link ends the measurements with its error")
  func lostLink() throws {
    let scene = ClientScene(HeartRateSensor())
    let client = try scene.client { try await HeartRateClient($0) }
    let reading = scene.stage.start { for try await _ in client.measurements {} }
    scene.stage.run(for: .seconds(2))
    scene.device.setPower(false)
    #expect(outcome { try scene.stage.value(of: reading) } == .core(.peripheralDisconnected))
    #expect(outcome { try scene.stage.perform { try await client.resetEnergyExpended() } } == .core(.notConnected))
  }

  @Test("A thermometer client gets both temperatures, and sets an interval within the permitted range")
  func thermometer() throws {
    var thermometer = Thermometer(celsius: 37.25, interval: .seconds(3))
    thermometer.permittedIntervals = 2...10
    let scene = ClientScene(thermometer)
    let client = try scene.client { try await HealthThermometerClient($0) }
    let value = try scene.stage.perform { try await client.measurements.take(1)[0] }
    #expect(value.temperature.value == 37.25 && value.unit == .degreeCelsius)
    let intermediate = try #require(client.intermediateTemperatures)
    #expect(try scene.stage.perform { try await intermediate.take(2) }.map(\.temperature.value) == [37.25, 37.25])
    #expect(try scene.stage.perform { try await client.temperatureType() } == .body)
    #expect(try scene.stage.perform { try await client.measurementInterval() }?.value == 3)
    try scene.stage.perform { try await client.setMeasurementInterval(MeasurementInterval(clamping: 2)) }
    #expect(scene.device.accessory.interval == .seconds(2))
    let error = failure(ProfileError.self) {
      try scene.stage.perform { try await client.setMeasurementInterval(MeasurementInterval(clamping: 11)) }
    }
    #expect(error == .outOfRange)
  }

  @Test("A blood pressure client gets measurements and cuff pressures with their units")
  func bloodPressure() throws {
    var monitor = BloodPressureMonitor(systolic: 130, diastolic: 85)
    monitor.features = [.irregularPulseDetection]
    monitor.userID = 7
    let scene = ClientScene(monitor)
    let client = try scene.client { try await BloodPressureClient($0) }
    let value = try scene.stage.perform { try await client.measurements.take(1)[0] }
    #expect(value.systolic.value == 130 && value.diastolic.value == 85 && value.meanArterialPressure.value == 100)
    #expect(value.unit == .millimetresOfMercury && value.details.userID == 7)
    let cuff = try #require(client.cuffPressures)
    let pressures = try scene.stage.perform { try await cuff.take(3) }.compactMap(\.pressure.value)
    #expect(Set(pressures).count == 3 && pressures == pressures.sorted(by: >))
    #expect(try scene.stage.perform { try await client.feature() } == [.irregularPulseDetection])
  }

  @Test("A scale's client gets the stored measurements with their times, and then the new one, and reads the features")
  func weightScale() throws {
    var scale = WeightScale(startTime: DateTime(year: 2024, month: 2, day: 29))
    let person = WeightScale.Person(weight: 72.4, userID: 1, height: 1.78)
    // Before the client has connected.
    scale.scheduledWeighings = [WeightScale.ScheduledWeighing(at: .zero, person)]
    let scene = ClientScene(scale)
    scene.stage.run(for: .seconds(3))
    let client = try scene.client { try await WeightScaleClient($0) }
    let feature = try scene.stage.perform { try await client.feature() }
    #expect(feature == scale.features && feature.multipleUsers && feature.weightResolution == .grams50)
    let received = Box<[WeightMeasurement]>([])
    let reading = scene.stage.start { for try await value in client.measurements { received.append(value) } }
    scene.stage.run(for: .seconds(1))
    #expect(received.value.map(\.weight?.value) == [72.4])
    #expect(received.value.first?.timeStamp == DateTime(year: 2024, month: 2, day: 29, seconds: 2))
    #expect(received.value.first?.userID == 1 && received.value.first?.body?.bodyMassIndex.value == 22.9)
    scene.device.act { scale, context in scale.stepOn(WeightScale.Person(weight: 61), in: &context) }
    scene.stage.run(for: .seconds(3))
    #expect(received.value.map(\.weight?.value) == [72.4, 61])
    #expect(received.value.last?.userID == 255 && received.value.last?.body == nil)
    reading.cancel()
  }
}
