/// The format of a device's reports · HID Service 1.0, Report Map; 0x2A4B. The octets are a report descriptor of the
/// Device Class Definition for HID 1.11, 6.2.2. Any octets are accepted as a value; `items` checks the format.
public struct ReportMap: CharacteristicValue {
  /// An item of a report descriptor · Device Class Definition for HID 1.11, 6.2.2.2 and 6.2.2.3.
  public enum Item: Hashable, Sendable {
    case main(MainTag, UInt32)
    case global(GlobalTag, data: [UInt8])
    case local(LocalTag, data: [UInt8])
    /// A long item, or an item of the reserved type, with its tag.
    case other(tag: UInt8, data: [UInt8])
  }

  /// The tag of a main item, which is the raw value · 6.2.2.4
  public struct MainTag: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let input: Self = 8
    public static let output: Self = 9
    public static let collection: Self = 10
    public static let feature: Self = 11
    public static let endCollection: Self = 12
    public static let firstNamed: UInt8 = 8
    public static let names = ["Input", "Output", "Collection", "Feature", "End Collection"]
  }

  /// The tag of a global item · 6.2.2.7
  public struct GlobalTag: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let usagePage: Self = 0
    public static let logicalMinimum: Self = 1
    public static let logicalMaximum: Self = 2
    public static let physicalMinimum: Self = 3
    public static let physicalMaximum: Self = 4
    public static let unitExponent: Self = 5
    public static let unit: Self = 6
    public static let reportSize: Self = 7
    public static let reportID: Self = 8
    public static let reportCount: Self = 9
    public static let push: Self = 10
    public static let pop: Self = 11
    public static let names = [
      "Usage Page", "Logical Minimum", "Logical Maximum", "Physical Minimum", "Physical Maximum", "Unit Exponent",
      "Unit", "Report Size", "Report ID", "Report Count", "Push", "Pop",
    ]

    /// True if the data is a signed integer.
    var isSigned: Bool { (1...5).contains(rawValue) }
  }

  /// The tag of a local item · 6.2.2.8
  public struct LocalTag: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let usage: Self = 0
    public static let usageMinimum: Self = 1
    public static let usageMaximum: Self = 2
    public static let names = [
      "Usage", "Usage Minimum", "Usage Maximum", "Designator Index", "Designator Minimum", "Designator Maximum", "",
      "String Index", "String Minimum", "String Maximum", "Delimiter",
    ]
  }

  /// The report descriptor.
  public let descriptor: [UInt8]

  /// Creates a map with this report descriptor.
  public init(descriptor: [UInt8]) { self.descriptor = descriptor }

  public static let uuid: UInt16 = 0x2A4B

  public init(from reader: inout ValueReader) throws(ValueError) { descriptor = reader.rest() }

  public func write(to writer: inout ValueWriter) { writer.append(descriptor) }

  /// Returns the items in sequence. Throws `tooShort` if the last item is truncated.
  public func items() throws(ValueError) -> [Item] {
    var reader = ValueReader(descriptor)
    var items: [Item] = []
    while reader.remaining > 0 {
      let prefix = try reader.uint8()
      if prefix == 0xFE {
        let count = try reader.uint8()
        items.append(.other(tag: try reader.uint8(), data: try reader.take(Int(count))))
        continue
      }
      let size = Int(prefix.bits(0, 2))
      let data = try reader.take(size == 3 ? 4 : size)
      let tag = prefix.bits(4, 4)
      switch prefix.bits(2, 2) {
      case 0: items.append(.main(MainTag(rawValue: tag), Self.number(data)))
      case 1: items.append(.global(GlobalTag(rawValue: tag), data: data))
      case 2: items.append(.local(LocalTag(rawValue: tag), data: data))
      default: items.append(.other(tag: tag, data: data))
      }
    }
    return items
  }

  private static func number(_ data: [UInt8]) -> UInt32 { data.reversed().reduce(0) { $0 << 8 | UInt32($1) } }

  /// The text of the items, or the octets if they are not valid items.
  public var fields: [ValueField] {
    guard let items = try? items() else { return [ValueField("octets", descriptor.hexadecimal)] }
    return items.map { item in
      switch item {
      case .main(.endCollection, _): ValueField("", MainTag.endCollection)
      case .main(.collection, let kind):
        ValueField("Collection", kind < 7 ? Self.collections[Int(kind)] : String(kind))
      case .main(let tag, let bits): ValueField("\(tag)", Self.text(bits))
      case .global(.usagePage, let data):
        ValueField("Usage Page", Self.pages[Self.number(data)] ?? "0x" + String(Self.number(data), radix: 16))
      case .global(let tag, let data):
        ValueField("\(tag)", tag.isSigned ? Self.signed(data) : Int(Self.number(data)))
      case .local(let tag, let data): ValueField("\(tag)", "0x" + String(Self.number(data), radix: 16))
      case .other(let tag, let data): ValueField("item \(tag)", data.hexadecimal)
      }
    }
  }

  private static func signed(_ data: [UInt8]) -> Int {
    var reader = ValueReader(data)
    return (try? reader.integer(octets: data.count, isSigned: true)) ?? 0
  }

  /// Returns the text for the bits of an Input, Output or Feature item · 6.2.2.5
  private static func text(_ bits: UInt32) -> String {
    let kind = bits.has(0) ? "constant" : "data"
    return kind + (bits.has(1) ? ", variable" : ", array") + (bits.has(2) ? ", relative" : ", absolute")
  }

  /// The types of collections · 6.2.2.6
  private static let collections = [
    "Physical", "Application", "Logical", "Report", "Named Array", "Usage Switch", "Usage Modifier",
  ]

  /// The names of the usage pages of common desktop devices · HID Usage Tables
  private static let pages: [UInt32: String] = [
    0x01: "Generic Desktop", 0x02: "Simulation Controls", 0x05: "Game Controls", 0x06: "Generic Device Controls",
    0x07: "Keyboard", 0x08: "LED", 0x09: "Button", 0x0C: "Consumer", 0x0D: "Digitizers", 0x0F: "Physical Input Device",
    0x20: "Sensors", 0x84: "Power", 0x85: "Battery System",
  ]
}
