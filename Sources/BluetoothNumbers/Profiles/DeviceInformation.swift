public enum ManufacturerNameKind: ValueKind { public static let uuid: UInt16 = 0x2A29 }

public enum ModelNumberKind: ValueKind { public static let uuid: UInt16 = 0x2A24 }

public enum SerialNumberKind: ValueKind { public static let uuid: UInt16 = 0x2A25 }

public enum FirmwareRevisionKind: ValueKind { public static let uuid: UInt16 = 0x2A26 }

public enum HardwareRevisionKind: ValueKind { public static let uuid: UInt16 = 0x2A27 }

public enum SoftwareRevisionKind: ValueKind { public static let uuid: UInt16 = 0x2A28 }

public enum RegulatoryCertificationDataKind: ValueKind { public static let uuid: UInt16 = 0x2A2A }

/// Device Information Service 1.1, 3.1; 0x2A29.
public typealias ManufacturerNameString = TextValue<ManufacturerNameKind>

/// Device Information Service 1.1, 3.2; 0x2A24.
public typealias ModelNumberString = TextValue<ModelNumberKind>

/// Device Information Service 1.1, 3.3; 0x2A25.
public typealias SerialNumberString = TextValue<SerialNumberKind>

/// Device Information Service 1.1, 3.4; 0x2A27.
public typealias HardwareRevisionString = TextValue<HardwareRevisionKind>

/// Device Information Service 1.1, 3.5; 0x2A26.
public typealias FirmwareRevisionString = TextValue<FirmwareRevisionKind>

/// Device Information Service 1.1, 3.6; 0x2A28.
public typealias SoftwareRevisionString = TextValue<SoftwareRevisionKind>

/// What a regulator has certified, in a form of the IEEE's · Device Information Service 1.1, 3.8; 0x2A2A.
public typealias RegulatoryCertificationDataList = OpaqueValue<RegulatoryCertificationDataKind>

/// A number that no other device has · Device Information Service 1.1, 3.7; 0x2A23.
public struct SystemID: CharacteristicValue {
  /// 40 bits, of the manufacturer's choice.
  public let manufacturerIdentifier: UInt64
  /// 24 bits, the manufacturer's with the IEEE.
  public let organizationallyUniqueIdentifier: UInt32

  /// nil when a part is larger than its 40 or 24 bits.
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

/// Which product this is · Device Information Service 1.1, 3.9; 0x2A50.
public struct PnPID: CharacteristicValue {
  /// Who has given the vendor its number.
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
  /// Binary-coded decimal: 0x0110 is 1.1.0.
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
