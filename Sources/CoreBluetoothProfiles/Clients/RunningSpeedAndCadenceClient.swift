import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a speed and cadence sensor of a runner · Running Speed and Cadence Profile 1.0, 4 (Collector).
public struct RunningSpeedAndCadenceClient: Sendable {
  /// The assigned number of the Running Speed and Cadence service.
  public static let service: UInt16 = 0x1814

  private let measurement: ProfileCharacteristic<RSCMeasurement>
  private let featureValue: ProfileCharacteristic<RSCFeature>
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

  /// The notified measurements.
  public var measurements: Measurements<RSCMeasurement> { measurement.measurements }

  /// Returns the features of the sensor.
  public func feature() async throws -> RSCFeature { try await featureValue.read() }

  /// Returns the location of the sensor on the body; nil if the sensor does not tell it.
  public func sensorLocation() async throws -> SensorLocation? { try await location?.read() }

  /// Sets the total distance.
  ///
  /// - Throws: `SensorControlError`; `ProfileError.missingCharacteristic` if the sensor has no control point.
  public func setTotalDistance(_ distance: Scalar<Metres10Wide>) async throws {
    _ = try await control.perform(.setCumulativeValue(UInt32(clamping: distance.rawValue)))
  }

  /// Calibrates the sensor, and waits for the end of the calibration. If the task is cancelled, the sensor stops the
  /// calibration.
  ///
  /// - Throws: `SensorControlError.refused(.operationFailed)` if the calibration failed, and other cases of
  ///   `SensorControlError`; `ProfileError.missingCharacteristic` if the sensor has no control point.
  public func calibrate() async throws { _ = try await control.perform(.startSensorCalibration) }

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
