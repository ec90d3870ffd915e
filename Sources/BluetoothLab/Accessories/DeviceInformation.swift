import BluetoothProfiles

/// The values of the Device Information service of an accessory. A value that is nil has no characteristic.
public struct DeviceInformation: Hashable, Sendable {
  /// The name of the manufacturer.
  public var manufacturer: String?
  /// The model number.
  public var model: String?
  /// The serial number of this accessory.
  public var serialNumber: String?
  /// The hardware revision.
  public var hardwareRevision: String?
  /// The firmware revision.
  public var firmwareRevision: String?
  /// The software revision.
  public var softwareRevision: String?
  /// The unique identifier of the device.
  public var systemID: SystemID?
  /// The vendor, the product and its version.
  public var pnpID: PnPID?

  /// Creates information with these texts and this identifier.
  public init(
    manufacturer: String? = "BluetoothLab", model: String? = nil, serialNumber: String? = nil,
    systemID: SystemID? = nil
  ) {
    self.manufacturer = manufacturer
    self.model = model
    self.serialNumber = serialNumber
    self.systemID = systemID
  }

  /// Returns the information of a health device. It has a System ID, which collectors use to tell devices apart: that of
  /// the locally administered EUI-48 02-00-00-00-00-01 · Health Thermometer Profile 1.0 and Glucose Profile 1.0, Device
  /// Information Service; Device Information Service 1.1, 3.7.
  static func health(model: String) -> DeviceInformation {
    DeviceInformation(
      model: model,
      systemID: SystemID(manufacturerIdentifier: 0xFF_FE00_0001, organizationallyUniqueIdentifier: 0x02_0000))
  }
}

extension AccessoryService {
  /// Returns the Device Information service (0x180A) with the values that are present · Device Information Service
  /// 1.1, 3.
  public static func deviceInformation(_ information: DeviceInformation) -> AccessoryService {
    let service: BluetoothUUID = 0x180A
    var characteristics: [AccessoryCharacteristic<Owner>] = []
    func add<Value: CharacteristicValue>(_ value: Value?) {
      guard let value else { return }
      characteristics.append(AccessoryCharacteristic(Characteristic<Value>(of: service), .read, value: { _ in value }))
    }
    add(information.manufacturer.map { ManufacturerNameString($0) })
    add(information.model.map { ModelNumberString($0) })
    add(information.serialNumber.map { SerialNumberString($0) })
    add(information.hardwareRevision.map { HardwareRevisionString($0) })
    add(information.firmwareRevision.map { FirmwareRevisionString($0) })
    add(information.softwareRevision.map { SoftwareRevisionString($0) })
    add(information.systemID)
    add(information.pnpID)
    return AccessoryService(service, characteristics)
  }
}
