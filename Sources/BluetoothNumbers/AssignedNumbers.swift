/// What the Bluetooth SIG's numbers are called · Assigned Numbers.
public enum AssignedNumbers {
  /// The name of the service, characteristic, descriptor, declaration or unit with this 16-bit UUID; nil when it has none
  /// here.
  public static func name(of uuid: UInt16) -> String? {
    serviceName(uuid) ?? characteristicName(uuid) ?? descriptorName(uuid) ?? declarationName(uuid) ?? unitName(uuid)
  }

  /// The name of a service, such as "Heart Rate" for 0x180D: one of the SIG, or one of a member that is widely known.
  public static func serviceName(_ uuid: UInt16) -> String? {
    standardServiceName(uuid) ?? memberServiceName(uuid)
  }

  /// The name of a characteristic, such as "Heart Rate Measurement" for 0x2A37.
  public static func characteristicName(_ uuid: UInt16) -> String? {
    switch uuid >> 8 {
    case 0x2A: characteristicName2A(uuid)
    case 0x2B: characteristicName2B(uuid)
    case 0x2C: characteristicName2C(uuid)
    default: nil
    }
  }

  /// Who has this company identifier, such as "Apple, Inc." for 0x004C; nil for one that nobody has.
  public static func companyName(_ code: UInt16) -> String? { CompanyNames.name(of: code) }
}
