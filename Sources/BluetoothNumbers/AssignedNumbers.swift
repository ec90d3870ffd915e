// Overview
//
// Tools and logs show names of services, characteristics, units, appearances and companies instead of numbers.
// BluetoothNumbers holds these names, which the Bluetooth SIG assigns.
//
// The idea: the tables are text in the program, which `CBluetoothNumbers` embeds. `Scripts/generate-assigned-numbers`
// writes them from the SIG's tables; nobody edits them. A program so needs no data file beside it.
//
// The module imports the tables alone. BluetoothProfiles takes the names of its values from here, BluetoothDissection
// the words of captures, and `ble` and CoreBluetooth the names that they show.
//
// Invariants:
// - The module knows names only: the values of characteristics are in BluetoothProfiles.
// - A lookup searches the lines of a table by halves, and makes one string.
// - A number that is not assigned has no name: the result is nil, never a made-up text.
//
// Where to begin: this file has the lookup functions, `NameTable.swift` the search.
//
// Specification: Assigned Numbers of the Bluetooth SIG.

/// The names of the numbers that the Bluetooth SIG assigns · Assigned Numbers.
public enum AssignedNumbers {
  /// Returns the name of the service, characteristic, descriptor, declaration or unit with this 16-bit UUID; nil if
  /// the UUID is not in this table.
  public static func name(of uuid: UInt16) -> String? { NameTable.uuids.name(of: uuid) }

  /// Returns the name of a service, such as "Heart Rate" for 0x180D: a service of the SIG, or a widely known one of a
  /// member.
  public static func serviceName(_ uuid: UInt16) -> String? {
    switch uuid >> 8 {
    case 0x18, 0xFC...0xFE: name(of: uuid)
    default: nil
    }
  }

  /// Returns the name of a characteristic, such as "Heart Rate Measurement" for 0x2A37.
  public static func characteristicName(_ uuid: UInt16) -> String? {
    0x2A...0x2C ~= uuid >> 8 ? name(of: uuid) : nil
  }

  /// Returns the name of a characteristic's descriptor, such as "Client Characteristic Configuration" for 0x2902.
  public static func descriptorName(_ uuid: UInt16) -> String? { uuid >> 8 == 0x29 ? name(of: uuid) : nil }

  /// Returns the name of an attribute that declares something, such as "Primary Service" for 0x2800.
  public static func declarationName(_ uuid: UInt16) -> String? { uuid >> 8 == 0x28 ? name(of: uuid) : nil }

  /// Returns the name of a unit, such as "Celsius temperature (degree Celsius)" for 0x272F.
  public static func unitName(_ uuid: UInt16) -> String? { uuid >> 8 == 0x27 ? name(of: uuid) : nil }

  /// Returns the name of an appearance's category, with its subcategory: "Heart Rate Sensor" for 0x0340, "Heart Rate
  /// Sensor: Heart Rate Belt" for 0x0341.
  public static func appearanceName(_ value: UInt16) -> String? { NameTable.appearances.name(of: value) }

  /// Returns the name of the company with this company identifier, such as "Apple, Inc." for 0x004C; nil if the
  /// identifier is not assigned.
  public static func companyName(_ code: UInt16) -> String? { NameTable.companies.name(of: code) }

  /// All company identifiers that are assigned, in their order, with the names.
  package static var companies: [(code: UInt16, name: String)] { NameTable.companies.rows }
}
