/// The names of the numbers that the Bluetooth SIG assigns · Assigned Numbers.
public enum AssignedNumbers {
  /// Returns the name of the service, characteristic, descriptor, declaration or unit with this 16-bit UUID; nil if
  /// the UUID is not in this table.
  public static func name(of uuid: UInt16) -> String? {
    serviceName(uuid) ?? characteristicName(uuid) ?? descriptorName(uuid) ?? declarationName(uuid) ?? unitName(uuid)
  }

  /// Returns the name of a service, such as "Heart Rate" for 0x180D: a service of the SIG, or a widely known one of a
  /// member.
  public static func serviceName(_ uuid: UInt16) -> String? {
    standardServiceName(uuid) ?? memberServiceName(uuid)
  }

  /// Returns the name of a characteristic, such as "Heart Rate Measurement" for 0x2A37.
  public static func characteristicName(_ uuid: UInt16) -> String? {
    switch uuid >> 8 {
    case 0x2A: characteristicName2A(uuid)
    case 0x2B: characteristicName2B(uuid)
    case 0x2C: characteristicName2C(uuid)
    default: nil
    }
  }

  /// Returns the name of the company with this company identifier, such as "Apple, Inc." for 0x004C; nil if the
  /// identifier is not assigned.
  public static func companyName(_ code: UInt16) -> String? { CompanyNames.name(of: code) }
}
