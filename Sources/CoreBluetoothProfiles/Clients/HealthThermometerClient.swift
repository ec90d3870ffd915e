import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a thermometer · Health Thermometer Profile 1.0, 4 (Collector).
public struct HealthThermometerClient: Sendable {
  /// The assigned number of the Health Thermometer service.
  public static let service: UInt16 = 0x1809

  private let measurement: ProfileCharacteristic<TemperatureMeasurement>
  private let type: ProfileCharacteristic<TemperatureType>?
  private let intermediate: ProfileCharacteristic<IntermediateTemperature>?
  private let interval: ProfileCharacteristic<MeasurementInterval>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    type = service.find()
    intermediate = service.find()
    interval = service.find()
  }

  /// The indicated measurements.
  public var measurements: Measurements<TemperatureMeasurement> { measurement.measurements }

  /// The temperatures during a measurement; nil if the thermometer has none.
  public var intermediateTemperatures: Measurements<IntermediateTemperature>? { intermediate?.measurements }

  /// Returns the place on the body where the thermometer measures; nil if it is part of the measurements, or unknown.
  public func temperatureType() async throws -> TemperatureType? { try await type?.read() }

  /// Returns the interval between measurements; nil if the thermometer does not tell it.
  public func measurementInterval() async throws -> MeasurementInterval? { try await interval?.read() }

  /// Sets the interval between measurements; 0 for no periodic measurement.
  ///
  /// - Throws: `ProfileError.outOfRange` if the thermometer does not permit the interval;
  ///   `ProfileError.missingCharacteristic` if it has no interval; `CBATTError.writeNotPermitted` if it is constant.
  public func setMeasurementInterval(_ value: MeasurementInterval) async throws {
    let interval = try interval.required(of: Self.service)
    try await replacing(0x80, with: .outOfRange) { try await interval.write(value) }
  }
}
