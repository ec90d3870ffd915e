import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a battery · Battery Service 1.0.
///
/// A device with several batteries has a service for each of them: `all(of:)`.
///
/// ```swift
/// let battery = try await BatteryClient(peripheral)
/// print(try await battery.level())
/// ```
public struct BatteryClient: Sendable {
  /// The assigned number of the Battery service.
  public static let service: UInt16 = 0x180F

  private let batteryLevel: ProfileCharacteristic<BatteryLevel>

  /// Discovers the service of a connected peripheral; of several services, the first one.
  ///
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    batteryLevel = try await ProfileService(Self.service, of: peripheral).require()
  }

  /// Discovers the characteristics of a Battery service. The UUID of `service` is not checked.
  ///
  /// - Throws: `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ service: RemoteService) async throws {
    batteryLevel = try await ProfileService(Self.service, service).require()
  }

  /// Discovers all Battery services of a connected peripheral.
  ///
  /// - Returns: a client for each service in the order of the services; none if the peripheral has no such service.
  /// - Throws: `ProfileError.missingCharacteristic`, beside the errors of every call.
  public static func all(of peripheral: Peripheral) async throws -> [BatteryClient] {
    var clients: [BatteryClient] = []
    for service in try await peripheral.discoverServices([CBUUID(assigned: Self.service)]) {
      clients.append(try await BatteryClient(service))
    }
    return clients
  }

  /// Returns the charge level, 0 to 100 %.
  ///
  /// - Throws: `ProfileError.malformedValue` if the level exceeds 100 %, beside the errors of every call.
  public func level() async throws -> BatteryLevel { try await batteryLevel.read() }

  /// The notified changes of the level; nil if the level can only be read.
  public var levels: Measurements<BatteryLevel>? {
    batteryLevel.characteristic.properties.contains(.notify) ? batteryLevel.measurements : nil
  }

  /// Returns the presentation format, whose `details` tell the batteries of one device apart; nil if there is none.
  /// Devices with several batteries must have it · Battery Service 1.0, 3.1.2.1.
  public func presentationFormat() async throws -> PresentationFormat? {
    try await batteryLevel.characteristic.descriptor(PresentationFormat.self)
  }
}
