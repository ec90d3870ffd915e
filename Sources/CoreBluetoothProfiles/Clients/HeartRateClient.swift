import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a heart rate sensor · Heart Rate Profile 1.0, 4 (Collector).
///
/// ```swift
/// let belt = try await HeartRateClient(peripheral)
/// for try await measurement in belt.measurements { print(measurement.heartRate) }
/// ```
public struct HeartRateClient: Sendable {
  /// The assigned number of the Heart Rate service.
  public static let service: UInt16 = 0x180D

  private let measurement: ProfileCharacteristic<HeartRateMeasurement>
  private let location: ProfileCharacteristic<BodySensorLocation>?
  private let controlPoint: ProfileCharacteristic<HeartRateControlPoint>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    location = service.find()
    controlPoint = service.find()
  }

  /// The notified measurements.
  public var measurements: Measurements<HeartRateMeasurement> { measurement.measurements }

  /// Returns the location of the sensor on the body; nil if the sensor does not tell it.
  public func bodySensorLocation() async throws -> BodySensorLocation? { try await location?.read() }

  /// Sets the energy expended to 0.
  ///
  /// - Throws: `ProfileError.missingCharacteristic` if the sensor has no control point;
  ///   `ProfileError.commandNotSupported`.
  public func resetEnergyExpended() async throws {
    let controlPoint = try controlPoint.required(of: Self.service)
    try await replacing(0x80, with: .commandNotSupported) { try await controlPoint.write(.resetEnergyExpended) }
  }
}
