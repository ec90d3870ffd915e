import BluetoothAir
import BluetoothDissection
import BluetoothNumbers
import BluetoothTypes
import CoreBluetooth

/// The assigned names of services, characteristics and descriptors.
enum KnownNames {
  /// Returns the assigned name of an attribute's type, or nil if it has none.
  static func name(of uuid: BluetoothUUID) -> String? { SpecificationNames.name(of: uuid) }

  /// Returns the name and the UUID of an attribute's type: "Heart Rate (180D)", or the UUID if it has no name.
  static func title(of uuid: CBUUID) -> String {
    guard let name = BluetoothUUID(uuid.uuidString).flatMap({ name(of: $0) }) else { return uuid.uuidString }
    return "\(name) (\(uuid.uuidString))"
  }

  /// All assigned UUIDs that a service can have, with their names.
  static let services = names(in: [0x1800...0x18FF, 0xFC00...0xFEFF])
  /// All assigned UUIDs that an attribute can have, with their names.
  static let attributes = services + names(in: [0x2800...0x2CFF])

  private static func names(in ranges: [ClosedRange<UInt16>]) -> [(uuid: UInt16, name: String)] {
    ranges.flatMap { range in range.compactMap { uuid in AssignedNumbers.name(of: uuid).map { (uuid, $0) } } }
  }

  /// Returns the letters and digits of a name, in lower case, so that "heart-rate" and "Heart Rate" are one name.
  static func key(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

  /// Reads the UUID or the assigned name of a service.
  ///
  /// - Throws: `Failure` with the nearest known name.
  static func service(_ text: String) throws -> BluetoothUUID {
    if let uuid = uuid(text) { return uuid }
    let key = key(text)
    let matches = services.filter { Self.key($0.name) == key }
    if let match = matches.first { return BluetoothUUID(match.uuid) }
    throw Failure(
      "unknown service \"\(text)\": expected a UUID or an assigned name"
        + suggestion(for: text, among: services), status: ExitStatus.usage)
  }

  /// Returns `; did you mean "Heart Rate"?` with the known name or UUID that is nearest to the text, or an empty text.
  /// A part of a name is enough: "hart" for "Heart Rate".
  static func suggestion(for text: String, among known: [(uuid: UInt16, name: String)]) -> String {
    if let match = NameSuggestion.nearest(to: text, among: known.map(\.name)) {
      return NameSuggestion.suggestion(match.name)
    }
    return nearestUUID(to: text, among: known.map(\.uuid)).map { "; did you mean \"\($0)\"?" } ?? ""
  }

  /// Returns the UUID with the most digits in common with a text of four characters, two of them at the beginning.
  private static func nearestUUID(to text: String, among uuids: [UInt16]) -> String? {
    let digits = Array((text.lowercased().hasPrefix("0x") ? String(text.dropFirst(2)) : text).uppercased())
    guard digits.count == 4 else { return nil }
    let near = uuids.map { String($0, radix: 16, uppercase: true) }.filter { $0.hasPrefix(String(digits[..<2])) }
    func common(_ uuid: String) -> Int { zip(uuid, digits).count(where: { $0 == $1 }) }
    // Of several, the first one.
    return near.reduce(nil as String?) { best, uuid in best.map { common($0) >= common(uuid) } == true ? best : uuid }
  }

  /// Reads a UUID of 4, 8 or 32 digits, with or without `0x`.
  static func uuid(_ text: String) -> BluetoothUUID? {
    BluetoothUUID(text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : text)
  }

  /// Returns the companies whose number or a part of whose name is `text`.
  ///
  /// - Throws: `Failure` if there is none.
  static func companies(_ text: String) throws -> Set<UInt16> {
    if text.lowercased().hasPrefix("0x"), let code = UInt16(text.dropFirst(2), radix: 16) { return [code] }
    if let code = UInt16(text) { return [code] }
    let wanted = text.lowercased()
    let companies = AssignedNumbers.companies
    let result = Set(companies.filter { $0.name.lowercased().contains(wanted) }.map(\.code))
    guard result.isEmpty else { return result }
    var suggestion = ""
    // The search for a near name takes a thousand names at a time.
    for start in stride(from: 0, to: companies.count, by: 1_000) where suggestion.isEmpty {
      // A part of a name is enough: "Apple" for "Apple, Inc."
      let words = companies.dropFirst(start).prefix(1_000).map { String($0.name.prefix { $0.isLetter || $0.isNumber }) }
      suggestion = SpellingSuggestion.suggestion(for: text, among: words)
    }
    throw Failure("no company is called \"\(text)\"\(suggestion)", status: ExitStatus.usage)
  }
}
