import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a weight scale · Weight Scale Profile 1.0, 4 (Collector).
public struct WeightScaleClient: Sendable {
  /// The assigned number of the Weight Scale service.
  public static let service: UInt16 = 0x181D

  private let measurement: ProfileCharacteristic<WeightMeasurement>
  private let featureValue: ProfileCharacteristic<WeightScaleFeature>

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    measurement = try service.require()
    featureValue = try service.require()
  }

  /// The indicated measurements. A scale that stores measurements begins with those that no client has received, the
  /// oldest first: `WeightMeasurement.timeStamp` tells when they were taken.
  public var measurements: Measurements<WeightMeasurement> { measurement.measurements }

  /// Returns the features of the scale.
  public func feature() async throws -> WeightScaleFeature { try await featureValue.read() }
}
