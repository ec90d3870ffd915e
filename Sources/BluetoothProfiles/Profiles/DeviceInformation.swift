import BluetoothNumbers

public enum ManufacturerNameKind: ValueKind { public static let uuid: UInt16 = 0x2A29 }

public enum ModelNumberKind: ValueKind { public static let uuid: UInt16 = 0x2A24 }

public enum SerialNumberKind: ValueKind { public static let uuid: UInt16 = 0x2A25 }

public enum FirmwareRevisionKind: ValueKind { public static let uuid: UInt16 = 0x2A26 }

public enum HardwareRevisionKind: ValueKind { public static let uuid: UInt16 = 0x2A27 }

public enum SoftwareRevisionKind: ValueKind { public static let uuid: UInt16 = 0x2A28 }

public enum RegulatoryCertificationDataKind: ValueKind { public static let uuid: UInt16 = 0x2A2A }

/// The manufacturer's name · Device Information Service 1.1, 3.1; 0x2A29.
public typealias ManufacturerNameString = TextValue<ManufacturerNameKind>

/// The model number · Device Information Service 1.1, 3.2; 0x2A24.
public typealias ModelNumberString = TextValue<ModelNumberKind>

/// The serial number · Device Information Service 1.1, 3.3; 0x2A25.
public typealias SerialNumberString = TextValue<SerialNumberKind>

/// The hardware revision · Device Information Service 1.1, 3.4; 0x2A27.
public typealias HardwareRevisionString = TextValue<HardwareRevisionKind>

/// The firmware revision · Device Information Service 1.1, 3.5; 0x2A26.
public typealias FirmwareRevisionString = TextValue<FirmwareRevisionKind>

/// The software revision · Device Information Service 1.1, 3.6; 0x2A28.
public typealias SoftwareRevisionString = TextValue<SoftwareRevisionKind>

/// The regulatory certifications in an IEEE format, not decoded · Device Information Service 1.1, 3.8; 0x2A2A.
public typealias RegulatoryCertificationDataList = OpaqueValue<RegulatoryCertificationDataKind>

/// A unique identifier of the device · Device Information Service 1.1, 3.7; 0x2A23.
public struct SystemID: CharacteristicValue {
  /// The identifier that the manufacturer assigns, 40 bits.
  public let manufacturerIdentifier: UInt64
  /// The OUI that the IEEE has assigned to the manufacturer, 24 bits.
  public let organizationallyUniqueIdentifier: UInt32

  /// Returns nil if a part exceeds its 40 or 24 bits.
  public init?(manufacturerIdentifier: UInt64, organizationallyUniqueIdentifier: UInt32) {
    guard manufacturerIdentifier < 1 << 40, organizationallyUniqueIdentifier < 1 << 24 else { return nil }
    self.manufacturerIdentifier = manufacturerIdentifier
    self.organizationallyUniqueIdentifier = organizationallyUniqueIdentifier
  }

  public static let uuid: UInt16 = 0x2A23

  public init(from reader: inout ValueReader) throws(ValueError) {
    manufacturerIdentifier = UInt64(try reader.integer(octets: 5, isSigned: false))
    organizationallyUniqueIdentifier = UInt32(try reader.integer(octets: 3, isSigned: false))
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(manufacturerIdentifier, octets: 5)
    writer.integer(organizationallyUniqueIdentifier, octets: 3)
  }

  public var fields: [ValueField] {
    [
      ValueField("manufacturer identifier", String(manufacturerIdentifier.hexadecimal.suffix(10))),
      ValueField("OUI", String(organizationallyUniqueIdentifier.hexadecimal.suffix(6))),
    ]
  }
}

/// The identification of the product · Device Information Service 1.1, 3.9; 0x2A50.
public struct PnPID: CharacteristicValue {
  /// The organization that has assigned the vendor ID.
  public struct VendorIDSource: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let bluetoothSIG: Self = 1
    public static let usbImplementersForum: Self = 2
    public static let firstNamed: UInt8 = 1
    public static let names = ["Bluetooth SIG", "USB Implementer's Forum"]
  }

  public var vendorIDSource: VendorIDSource
  public var vendorID: UInt16
  public var productID: UInt16
  /// The product version in binary-coded decimal: 0x0110 is 1.1.0.
  public var productVersion: UInt16

  public init(vendorIDSource: VendorIDSource, vendorID: UInt16, productID: UInt16, productVersion: UInt16) {
    self.vendorIDSource = vendorIDSource
    self.vendorID = vendorID
    self.productID = productID
    self.productVersion = productVersion
  }

  public static let uuid: UInt16 = 0x2A50

  public init(from reader: inout ValueReader) throws(ValueError) {
    vendorIDSource = try reader.code()
    vendorID = try reader.uint16()
    productID = try reader.uint16()
    productVersion = try reader.uint16()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(vendorIDSource)
    writer.integer(vendorID)
    writer.integer(productID)
    writer.integer(productVersion)
  }

  public var fields: [ValueField] {
    let company = vendorIDSource == .bluetoothSIG ? AssignedNumbers.companyName(vendorID) : nil
    return [
      ValueField("vendor", company ?? "\(vendorID.hexadecimal) of \(vendorIDSource)"),
      ValueField("product", productID.hexadecimal), ValueField("version", productVersion.hexadecimal),
    ]
  }
}
