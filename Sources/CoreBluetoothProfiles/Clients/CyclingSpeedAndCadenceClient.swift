import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a speed and cadence sensor on a bicycle · Cycling Speed and Cadence Profile 1.0, 4 (Collector).
public struct CyclingSpeedAndCadenceClient: Sendable {
  /// The assigned number of the Cycling Speed and Cadence service.
  public static let service: UInt16 = 0x1816

  private let measurement: ProfileCharacteristic<CSCMeasurement>
  private let featureValue: ProfileCharacteristic<CSCFeature>
  private let location: ProfileCharacteristic<SensorLocation>?
  private let control: SensorControl

  /// Discovers the service of a connected peripheral.
  ///
  /// - Parameters:
  ///   - peripheral: the sensor.
  ///   - procedureLimit: the time limit for the response to a command; the profile requires 30 s.
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral, procedureLimit: TimeLimit = .seconds(30)) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    featureValue = try service.require()
    location = service.find()
    control = SensorControl(service, procedureLimit)
  }

  /// The notified measurements: cumulative revolutions, from which `CyclingRates` computes speed and cadence.
  public var measurements: Measurements<CSCMeasurement> { measurement.measurements }

  /// Returns the features of the sensor.
  public func feature() async throws -> CSCFeature { try await featureValue.read() }

  /// Returns the location of the sensor on the bicycle; nil if the sensor does not tell it.
  public func sensorLocation() async throws -> SensorLocation? { try await location?.read() }

  /// Sets the cumulative number of wheel revolutions.
  ///
  /// - Throws: `SensorControlError`; `ProfileError.missingCharacteristic` if the sensor has no control point.
  public func setWheelRevolutions(_ number: UInt32) async throws {
    _ = try await control.perform(.setCumulativeValue(number))
  }

  /// Tells the sensor its location, one of those that it supports.
  ///
  /// - Throws: `SensorControlError`; `ProfileError.missingCharacteristic` if the sensor has no control point.
  public func updateSensorLocation(_ location: SensorLocation) async throws {
    _ = try await control.perform(.updateSensorLocation(location))
  }

  /// Returns the locations that the sensor supports.
  ///
  /// - Throws: `SensorControlError`; `ProfileError.missingCharacteristic` if the sensor has no control point.
  public func supportedSensorLocations() async throws -> [SensorLocation] {
    try await control.perform(.requestSupportedSensorLocations)
  }
}

/// The speed and the cadence between two measurements of a bicycle · Cycling Speed and Cadence Profile 1.0, 4.
public struct CyclingRates: Hashable, Sendable {
  /// The speed in metres per second; nil if the wheel made no complete revolution in between, if its number of
  /// revolutions has decreased, or if it is not measured. The number decreases if the bicycle rolls backwards, or if a
  /// client sets it · Cycling Speed and Cadence Service 1.0, 3.1.
  public var speed: Double?
  /// The cadence in crank revolutions per minute; nil if the crank made no complete revolution in between, or is not
  /// measured.
  public var cadence: Double?

  /// Computes the rates.
  ///
  /// - Parameters:
  ///   - first: the earlier measurement, at most 64 s old: the event times wrap around then.
  ///   - second: the later measurement.
  ///   - wheelCircumference: the circumference of the wheel in metres.
  public init(from first: CSCMeasurement, to second: CSCMeasurement, wheelCircumference: Double) {
    if let before = first.wheel, let after = second.wheel {
      let seconds = Self.seconds(before.lastEventTime, after.lastEventTime)
      let revolutions = Int32(bitPattern: after.cumulative &- before.cumulative)
      if seconds > 0, revolutions >= 0 { speed = Double(revolutions) * wheelCircumference / seconds }
    }
    if let before = first.crank, let after = second.crank {
      let seconds = Self.seconds(before.lastEventTime, after.lastEventTime)
      let revolutions = after.cumulative &- before.cumulative
      if seconds > 0 { cadence = Double(revolutions) * 60 / seconds }
    }
  }

  /// Returns the time between two events, whose times wrap around after 65,536 units of 1/1,024 s.
  private static func seconds(_ first: Scalar<Seconds1024>, _ second: Scalar<Seconds1024>) -> Double {
    Double((second.rawValue - first.rawValue + 65_536) % 65_536) / 1_024
  }
}
