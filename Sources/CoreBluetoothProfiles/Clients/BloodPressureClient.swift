import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a blood pressure monitor · Blood Pressure Profile 1.1, 4 (Collector).
public struct BloodPressureClient: Sendable {
  /// The assigned number of the Blood Pressure service.
  public static let service: UInt16 = 0x1810

  private let measurement: ProfileCharacteristic<BloodPressureMeasurement>
  private let featureValue: ProfileCharacteristic<BloodPressureFeature>
  private let cuffPressure: ProfileCharacteristic<IntermediateCuffPressure>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    featureValue = try service.require()
    cuffPressure = service.find()
  }

  /// The indicated measurements.
  public var measurements: Measurements<BloodPressureMeasurement> { measurement.measurements }

  /// The pressures in the cuff during a measurement; nil if the monitor has none.
  public var cuffPressures: Measurements<IntermediateCuffPressure>? { cuffPressure?.measurements }

  /// Returns the features of the monitor.
  public func feature() async throws -> BloodPressureFeature { try await featureValue.read() }
}
