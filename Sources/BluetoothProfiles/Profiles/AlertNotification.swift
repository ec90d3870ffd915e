/// The category of an alert · GATT Specification Supplement, Alert Category ID; 0x2A43.
public struct AlertCategory: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let simpleAlert: Self = 0
  public static let email: Self = 1
  public static let news: Self = 2
  public static let call: Self = 3
  public static let missedCall: Self = 4
  public static let sms: Self = 5
  public static let voiceMail: Self = 6
  public static let schedule: Self = 7
  public static let highPrioritizedAlert: Self = 8
  public static let instantMessage: Self = 9
  /// All supported categories; valid in the control point only.
  public static let all: Self = 255

  public static let uuid: UInt16 = 0x2A43
  public static let names = [
    "simple alert", "email", "news", "call", "missed call", "SMS/MMS", "voice mail", "schedule",
    "high prioritized alert", "instant message",
  ]
  public static let furtherNames: [UInt8: String] = [255: "all categories"]
}

/// A set of alert categories, one bit each · GATT Specification Supplement, Alert Category ID Bit Mask. The second
/// octet may be missing on receipt; it is always written.
public struct AlertCategories<Kind: ValueKind>: CharacteristicValue, OptionSet {
  /// The bit mask: bit n stands for category n.
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Creates a set of these categories. Categories above 15 have no bit and are ignored.
  public init(_ categories: [AlertCategory]) {
    rawValue = categories.reduce(0) { $0 | ($1.rawValue < 16 ? 1 << UInt16($1.rawValue) : 0) }
  }

  /// The categories whose bits are set.
  public var categories: [AlertCategory] {
    (0..<16).filter { rawValue.has($0) }.map { AlertCategory(rawValue: UInt8($0)) }
  }

  public static var uuid: UInt16 { Kind.uuid }

  public init(from reader: inout ValueReader) throws(ValueError) {
    let low = try reader.uint8()
    rawValue = try UInt16(low) | (reader.remaining > 0 ? UInt16(reader.uint8()) << 8 : 0)
  }

  public func write(to writer: inout ValueWriter) { writer.integer(rawValue) }

  public var fields: [ValueField] {
    [ValueField("", rawValue == 0 ? "none" : categories.map(\.description).joined(separator: ", "))]
  }
}

/// A set of alert categories · GATT Specification Supplement; 0x2A42.
public typealias AlertCategoryIDBitMask = AlertCategories<AlertCategoryIDBitMaskKind>

/// The categories of new alerts that the server supports · Alert Notification Service 1.0, 3.1; 0x2A47.
public typealias SupportedNewAlertCategory = AlertCategories<SupportedNewAlertCategoryKind>

/// The categories of unread alerts that the server supports · Alert Notification Service 1.0, 3.3; 0x2A48.
public typealias SupportedUnreadAlertCategory = AlertCategories<SupportedUnreadAlertCategoryKind>

public enum AlertCategoryIDBitMaskKind: ValueKind { public static let uuid: UInt16 = 0x2A42 }

public enum SupportedNewAlertCategoryKind: ValueKind { public static let uuid: UInt16 = 0x2A47 }

public enum SupportedUnreadAlertCategoryKind: ValueKind { public static let uuid: UInt16 = 0x2A48 }

/// The number of new alerts of a category, with the text of the last one · Alert Notification Service 1.0, 3.2;
/// 0x2A46.
public struct NewAlert: CharacteristicValue {
  public var category: AlertCategory
  public var count: UInt8
  /// A name or a title in UTF-8; services require at most 18 octets.
  public var text: String

  public init(category: AlertCategory, count: UInt8, text: String = "") {
    self.category = category
    self.count = count
    self.text = text
  }

  public static let uuid: UInt16 = 0x2A46

  public init(from reader: inout ValueReader) throws(ValueError) {
    category = try reader.code()
    count = try reader.uint8()
    text = reader.text()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(category)
    writer.integer(count)
    writer.text(text)
  }

  public var fields: [ValueField] {
    var fields = [ValueField("category", category), ValueField("new", count)]
    if !text.isEmpty { fields.append(ValueField("text", text)) }
    return fields
  }
}

/// The number of unread alerts of a category · Alert Notification Service 1.0, 3.4; 0x2A45.
public struct UnreadAlertStatus: CharacteristicValue {
  public var category: AlertCategory
  /// The number of unread alerts; 255 stands for more than 254.
  public var count: UInt8

  public init(category: AlertCategory, count: UInt8) {
    self.category = category
    self.count = count
  }

  public static let uuid: UInt16 = 0x2A45

  public init(from reader: inout ValueReader) throws(ValueError) {
    category = try reader.code()
    count = try reader.uint8()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(category)
    writer.integer(count)
  }

  public var fields: [ValueField] {
    [
      ValueField("category", category),
      count == 255 ? ValueField("unread", "more than 254") : ValueField("unread", count),
    ]
  }
}

/// A command to the alert server · Alert Notification Service 1.0, 3.5; 0x2A44.
public struct AlertNotificationControlPoint: CharacteristicValue {
  public struct Command: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let enableNewAlert: Self = 0
    public static let enableUnreadStatus: Self = 1
    public static let disableNewAlert: Self = 2
    public static let disableUnreadStatus: Self = 3
    public static let notifyNewAlertImmediately: Self = 4
    public static let notifyUnreadStatusImmediately: Self = 5
    public static let names = [
      "enable new alerts", "enable unread status", "disable new alerts", "disable unread status",
      "notify new alerts immediately", "notify unread status immediately",
    ]
  }

  public var command: Command
  public var category: AlertCategory

  public init(_ command: Command, _ category: AlertCategory) {
    self.command = command
    self.category = category
  }

  public static let uuid: UInt16 = 0x2A44

  public init(from reader: inout ValueReader) throws(ValueError) {
    command = try reader.code()
    category = try reader.code()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(command)
    writer.code(category)
  }

  public var fields: [ValueField] { [ValueField("", command), ValueField("category", category)] }
}
