import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A client of the information about a device · Device Information Service 1.1.
///
/// All characteristics are optional. `information()` reads all that the peripheral has.
///
/// ```swift
/// let information = try await DeviceInformationClient(peripheral).information()
/// print(information.modelNumber?.text ?? "unknown model")
/// ```
public struct DeviceInformationClient: Sendable {
  /// The assigned number of the Device Information service.
  public static let service: UInt16 = 0x180A

  /// The values of the service; nil for each characteristic that the peripheral lacks.
  public struct Information: Hashable, Sendable {
    /// The manufacturer's name.
    public let manufacturerName: ManufacturerNameString?
    /// The model number.
    public let modelNumber: ModelNumberString?
    /// The serial number.
    public let serialNumber: SerialNumberString?
    /// The hardware revision.
    public let hardwareRevision: HardwareRevisionString?
    /// The firmware revision.
    public let firmwareRevision: FirmwareRevisionString?
    /// The software revision.
    public let softwareRevision: SoftwareRevisionString?
    /// The unique identifier of the device.
    public let systemID: SystemID?
    /// The regulatory certifications in an IEEE format, not decoded.
    public let regulatoryCertificationData: RegulatoryCertificationDataList?
    /// The vendor, the product and its version.
    public let pnpID: PnPID?
  }

  private let manufacturer: ProfileCharacteristic<ManufacturerNameString>?
  private let model: ProfileCharacteristic<ModelNumberString>?
  private let serial: ProfileCharacteristic<SerialNumberString>?
  private let hardware: ProfileCharacteristic<HardwareRevisionString>?
  private let firmware: ProfileCharacteristic<FirmwareRevisionString>?
  private let software: ProfileCharacteristic<SoftwareRevisionString>?
  private let system: ProfileCharacteristic<SystemID>?
  private let certification: ProfileCharacteristic<RegulatoryCertificationDataList>?
  private let product: ProfileCharacteristic<PnPID>?

  /// Discovers the service of a connected peripheral.
  ///
  /// - Throws: `ProfileError.missingService`, beside the errors of every call.
  public init(_ peripheral: Peripheral) async throws {
    self.init(try await ProfileService(Self.service, of: peripheral))
  }

  /// Discovers the characteristics of a Device Information service. The UUID of `service` is not checked.
  ///
  /// - Throws: the errors of every call.
  public init(_ service: RemoteService) async throws {
    self.init(try await ProfileService(Self.service, service))
  }

  private init(_ service: ProfileService) {
    manufacturer = service.find()
    model = service.find()
    serial = service.find()
    hardware = service.find()
    firmware = service.find()
    software = service.find()
    system = service.find()
    certification = service.find()
    product = service.find()
  }

  /// Reads all values, one after the other.
  ///
  /// - Throws: `ProfileError.malformedValue` for the first malformed value, beside the errors of every call.
  public func information() async throws -> Information {
    Information(
      manufacturerName: try await manufacturerName(), modelNumber: try await modelNumber(),
      serialNumber: try await serialNumber(), hardwareRevision: try await hardwareRevision(),
      firmwareRevision: try await firmwareRevision(), softwareRevision: try await softwareRevision(),
      systemID: try await systemID(), regulatoryCertificationData: try await regulatoryCertificationData(),
      pnpID: try await pnpID())
  }

  // MARK: Single values

  /// Returns the manufacturer's name; nil if the peripheral does not tell it.
  public func manufacturerName() async throws -> ManufacturerNameString? { try await manufacturer?.read() }

  /// Returns the model number; nil if the peripheral does not tell it.
  public func modelNumber() async throws -> ModelNumberString? { try await model?.read() }

  /// Returns the serial number; nil if the peripheral does not tell it.
  public func serialNumber() async throws -> SerialNumberString? { try await serial?.read() }

  /// Returns the hardware revision; nil if the peripheral does not tell it.
  public func hardwareRevision() async throws -> HardwareRevisionString? { try await hardware?.read() }

  /// Returns the firmware revision; nil if the peripheral does not tell it.
  public func firmwareRevision() async throws -> FirmwareRevisionString? { try await firmware?.read() }

  /// Returns the software revision; nil if the peripheral does not tell it.
  public func softwareRevision() async throws -> SoftwareRevisionString? { try await software?.read() }

  /// Returns the unique identifier of the device; nil if the peripheral does not tell it.
  ///
  /// - Throws: `ProfileError.malformedValue` for other than 8 octets, beside the errors of every call.
  public func systemID() async throws -> SystemID? { try await system?.read() }

  /// Returns the regulatory certifications, not decoded; nil if the peripheral does not tell them.
  public func regulatoryCertificationData() async throws -> RegulatoryCertificationDataList? {
    try await certification?.read()
  }

  /// Returns the vendor, the product and its version; nil if the peripheral does not tell them.
  ///
  /// - Throws: `ProfileError.malformedValue` for other than 7 octets, beside the errors of every call.
  public func pnpID() async throws -> PnPID? { try await product?.read() }
}
