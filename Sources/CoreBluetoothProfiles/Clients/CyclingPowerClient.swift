import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a power meter on a bicycle · Cycling Power Profile 1.1, 4 (Collector).
///
/// Every command throws `SensorControlError`, or `ProfileError.missingCharacteristic` if the meter has no control point.
public struct CyclingPowerClient: Sendable {
  /// The assigned number of the Cycling Power service.
  public static let service: UInt16 = 0x1818

  private let measurement: ProfileCharacteristic<CyclingPowerMeasurement>
  private let vector: ProfileCharacteristic<CyclingPowerVector>?
  private let featureValue: ProfileCharacteristic<CyclingPowerFeature>
  private let location: ProfileCharacteristic<SensorLocation>
  private let controlPoint: ControlPointClient<CyclingPowerControlPoint>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Parameters:
  ///   - peripheral: the meter.
  ///   - procedureLimit: the time limit for the response to a command; the profile requires 30 s.
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral, procedureLimit: TimeLimit = .seconds(30)) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    vector = service.find()
    featureValue = try service.require()
    location = try service.require()
    controlPoint = service.find().map { ControlPointClient($0, procedureLimit) }
  }

  /// The notified measurements.
  public var measurements: Measurements<CyclingPowerMeasurement> { measurement.measurements }

  /// The notified forces or torques of a revolution; nil if the meter has none.
  public var vectors: Measurements<CyclingPowerVector>? { vector?.measurements }

  /// Returns the features of the meter.
  public func feature() async throws -> CyclingPowerFeature { try await featureValue.read() }

  /// Returns the location of the sensor on the bicycle.
  public func sensorLocation() async throws -> SensorLocation { try await location.read() }

  // MARK: Commands

  private func control() throws(ProfileError) -> ControlPointClient<CyclingPowerControlPoint> {
    guard let controlPoint else {
      throw .missingCharacteristic(CyclingPowerControlPoint.uuid, of: Self.service)
    }
    return controlPoint
  }

  /// Sets the cumulative number of wheel revolutions.
  public func setWheelRevolutions(_ number: UInt32) async throws {
    _ = try await control().perform(.setCumulativeValue(number))
  }

  /// Tells the meter the location of its sensor, one of those that it supports.
  public func updateSensorLocation(_ location: SensorLocation) async throws {
    _ = try await control().perform(.updateSensorLocation(location))
  }

  /// Returns the locations that the meter supports.
  public func supportedSensorLocations() async throws -> [SensorLocation] {
    try await control().perform(.request(.supportedSensorLocations)).map { SensorLocation(rawValue: $0) }
  }

  /// Tells the meter the length of the crank.
  public func setCrankLength(_ length: Scalar<HalfMillimetres>) async throws {
    _ = try await control().perform(.setCrankLength(length))
  }

  /// Returns the length of the crank.
  public func crankLength() async throws -> Scalar<HalfMillimetres> {
    let control = try control()
    return try control.value(in: await control.perform(.request(.crankLength)))
  }

  /// Tells the meter the length of the chain in millimetres.
  public func setChainLength(_ length: UInt16) async throws {
    _ = try await control().perform(.setChainLength(length))
  }

  /// Returns the length of the chain in millimetres.
  public func chainLength() async throws -> UInt16 { try await number(.chainLength) }

  /// Tells the meter the weight of the chain in grams.
  public func setChainWeight(_ weight: UInt16) async throws {
    _ = try await control().perform(.setChainWeight(weight))
  }

  /// Returns the weight of the chain in grams.
  public func chainWeight() async throws -> UInt16 { try await number(.chainWeight) }

  /// Tells the meter the span length in millimetres.
  public func setSpanLength(_ length: UInt16) async throws {
    _ = try await control().perform(.setSpanLength(length))
  }

  /// Returns the span length in millimetres.
  public func spanLength() async throws -> UInt16 { try await number(.spanLength) }

  /// Compensates the offset, and waits for the end of the compensation. If the task is cancelled, the meter stops it.
  ///
  /// - Returns: the offset: the torque in units of 1/32 N·m if the meter is torque based, else the force in newtons.
  public func compensateOffset() async throws -> Int16 { try await number(.startOffsetCompensation) }

  /// Compensates the offset as `compensateOffset` does, with data of the manufacturer in the result. A failed
  /// compensation throws `SensorControlError.refused` without its detailed reason.
  public func compensateOffsetEnhanced() async throws -> EnhancedOffsetCompensation {
    let control = try control()
    return try control.value(in: await control.perform(.request(.startEnhancedOffsetCompensation)))
  }

  /// Selects fields that the measurements omit: the bits of the mask in the order of Cycling Power Service 1.1, 3.4.
  public func maskMeasurementContent(_ mask: UInt16) async throws {
    _ = try await control().perform(.maskMeasurementContent(mask))
  }

  /// Returns the sampling rate in hertz.
  public func samplingRate() async throws -> UInt8 { try await number(.samplingRate) }

  /// Returns the date of the calibration in the factory.
  public func factoryCalibrationDate() async throws -> DateTime {
    let control = try control()
    return try control.value(in: await control.perform(.request(.factoryCalibrationDate)))
  }

  private func number<Number: FixedWidthInteger>(
    _ request: CyclingPowerControlPoint.Request
  ) async throws -> Number {
    let control = try control()
    return try control.integer(in: await control.perform(.request(request)))
  }
}
