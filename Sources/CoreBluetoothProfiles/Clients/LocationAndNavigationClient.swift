import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of a location and navigation device · Location and Navigation Profile 1.0, 4 (Collector).
///
/// Every command throws `SensorControlError`, or `ProfileError.missingCharacteristic` if the device has no control point.
public struct LocationAndNavigationClient: Sendable {
  /// The assigned number of the Location and Navigation service.
  public static let service: UInt16 = 0x1819

  private let location: ProfileCharacteristic<LocationAndSpeed>
  private let navigation: ProfileCharacteristic<Navigation>?
  private let quality: ProfileCharacteristic<PositionQuality>?
  private let featureValue: ProfileCharacteristic<LNFeature>
  private let controlPoint: ControlPointClient<LNControlPoint>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Parameters:
  ///   - peripheral: the device.
  ///   - procedureLimit: the time limit for the response to a command; the profile requires 30 s.
  /// - Throws: `ProfileError.missingService` and `ProfileError.missingCharacteristic`, beside the errors of every call.
  public init(_ peripheral: Peripheral, procedureLimit: TimeLimit = .seconds(30)) async throws {
    let service = try await ProfileService(Self.service, of: peripheral)
    location = try service.require()
    featureValue = try service.require()
    navigation = service.find()
    quality = service.find()
    controlPoint = service.find().map { ControlPointClient($0, procedureLimit) }
  }

  /// The notified positions and speeds.
  public var locations: Measurements<LocationAndSpeed> { location.measurements }

  /// The notified directions; nil if the device does not navigate.
  public var directions: Measurements<Navigation>? { navigation?.measurements }

  /// Returns the features of the device.
  public func feature() async throws -> LNFeature { try await featureValue.read() }

  /// Returns the quality of the position; nil if the device does not tell it.
  public func positionQuality() async throws -> PositionQuality? { try await quality?.read() }

  // MARK: Commands

  private func control() throws(ProfileError) -> ControlPointClient<LNControlPoint> {
    guard let controlPoint else { throw .missingCharacteristic(LNControlPoint.uuid, of: Self.service) }
    return controlPoint
  }

  /// Sets the total distance.
  public func setTotalDistance(_ distance: Scalar<Metres10>) async throws {
    _ = try await control().perform(.setCumulativeValue(distance))
  }

  /// Selects fields that the locations omit: the bits of the mask in the order of Location and Navigation Service 1.0,
  /// 3.4.
  public func maskLocationContent(_ mask: UInt16) async throws {
    _ = try await control().perform(.maskLocationAndSpeedContent(mask))
  }

  /// Starts, stops or changes the navigation on the selected route.
  public func navigate(_ command: LNControlPoint.NavigationControl) async throws {
    _ = try await control().perform(.navigationControl(command))
  }

  /// Returns the number of routes.
  public func numberOfRoutes() async throws -> UInt16 {
    let control = try control()
    return try control.integer(in: await control.perform(.requestNumberOfRoutes))
  }

  /// Returns the name of the route with this index.
  public func nameOfRoute(_ index: UInt16) async throws -> String {
    String(received: try await control().perform(.requestNameOfRoute(index)))
  }

  /// Selects the route with this index.
  public func selectRoute(_ index: UInt16) async throws { _ = try await control().perform(.selectRoute(index)) }

  /// Sets the number of fixes per second.
  public func setFixRate(_ rate: UInt8) async throws { _ = try await control().perform(.setFixRate(rate)) }

  /// Sets the elevation, by which the device calibrates its barometer.
  public func setElevation(_ elevation: Scalar<HeightMetres100>) async throws {
    _ = try await control().perform(.setElevation(elevation))
  }
}
