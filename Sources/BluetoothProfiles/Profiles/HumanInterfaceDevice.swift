/// The HID version and properties of a device · HID Service 1.0, HID Information; 0x2A4A.
public struct HIDInformation: CharacteristicValue {
  public struct Flags: FeatureSet {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let remoteWake = Self(bit: 0)
    public static let normallyConnectable = Self(bit: 1)
    public static let names = ["remote wake", "normally connectable"]
  }

  /// The HID version in binary-coded decimal: 0x0111 is 1.11.
  public var version: UInt16
  /// The country code; 0 if the hardware is not localized.
  public var countryCode: UInt8
  public var flags: Flags

  public init(version: UInt16 = 0x0111, countryCode: UInt8 = 0, flags: Flags) {
    self.version = version
    self.countryCode = countryCode
    self.flags = flags
  }

  public static let uuid: UInt16 = 0x2A4A

  public init(from reader: inout ValueReader) throws(ValueError) {
    version = try reader.uint16()
    countryCode = try reader.uint8()
    flags = Flags(rawValue: try reader.uint8())
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(version)
    writer.integer(countryCode)
    writer.integer(flags.rawValue)
  }

  public var fields: [ValueField] {
    let digits = String(version, radix: 16)
    let padded = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    return [
      ValueField("version", padded.dropLast(2) + "." + padded.suffix(2)), ValueField("country", countryCode),
      ValueField("flags", flags),
    ]
  }
}

/// The protocol of a keyboard or mouse: HID reports, or the boot protocol for a BIOS · HID Service 1.0, Protocol
/// Mode; 0x2A4E.
public struct ProtocolMode: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let boot: Self = 0
  public static let report: Self = 1

  public static let uuid: UInt16 = 0x2A4E
  public static let names = ["Boot Protocol Mode", "Report Protocol Mode"]
}

/// The notice that the host enters or leaves the suspend state · HID Service 1.0, HID Control Point; 0x2A4C.
public struct HIDControlPoint: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let suspend: Self = 0
  public static let exitSuspend: Self = 1

  public static let uuid: UInt16 = 0x2A4C
  public static let names = ["Suspend", "Exit Suspend"]
}

/// A report in the format of the Report Map; its Report Reference specifies the type · HID Service 1.0, Report;
/// 0x2A4D.
public typealias HIDReport = OpaqueValue<HIDReportKind>

public enum HIDReportKind: ValueKind { public static let uuid: UInt16 = 0x2A4D }

/// The pressed keys in the boot protocol, which a BIOS understands · HID Service 1.0, Boot Keyboard Input Report;
/// 0x2A22, and Device Class Definition for HID 1.11, Appendix B.1.
public struct BootKeyboardInputReport: CharacteristicValue {
  public struct Modifiers: FeatureSet {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let leftControl = Self(bit: 0)
    public static let leftShift = Self(bit: 1)
    public static let leftAlt = Self(bit: 2)
    public static let leftGUI = Self(bit: 3)
    public static let rightControl = Self(bit: 4)
    public static let rightShift = Self(bit: 5)
    public static let rightAlt = Self(bit: 6)
    public static let rightGUI = Self(bit: 7)
    public static let names = [
      "left control", "left shift", "left alt", "left GUI", "right control", "right shift", "right alt", "right GUI",
    ]
  }

  public var modifiers: Modifiers
  /// Usages of the Keyboard page; always six, padded with 0.
  public let keys: [UInt8]

  /// Returns nil if there are more than six keys.
  public init?(modifiers: Modifiers = [], keys: [UInt8]) {
    guard keys.count <= 6 else { return nil }
    self.modifiers = modifiers
    self.keys = keys + Array(repeating: 0, count: 6 - keys.count)
  }

  public static let uuid: UInt16 = 0x2A22

  public init(from reader: inout ValueReader) throws(ValueError) {
    modifiers = Modifiers(rawValue: try reader.uint8())
    _ = try reader.uint8()
    keys = try reader.take(6)
  }

  public func write(to writer: inout ValueWriter) {
    writer.append([modifiers.rawValue, 0])
    writer.append(keys)
  }

  public var fields: [ValueField] {
    [
      ValueField("modifiers", modifiers),
      ValueField("keys", keys.filter { $0 != 0 }.map(\.hexadecimal).joined(separator: " ")),
    ]
  }
}

/// The LEDs of a keyboard · HID Service 1.0, Boot Keyboard Output Report; 0x2A32.
public struct BootKeyboardOutputReport: CharacteristicValue, FeatureSet {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let numLock = Self(bit: 0)
  public static let capsLock = Self(bit: 1)
  public static let scrollLock = Self(bit: 2)
  public static let compose = Self(bit: 3)
  public static let kana = Self(bit: 4)

  public static let uuid: UInt16 = 0x2A32
  public static let names = ["num lock", "caps lock", "scroll lock", "compose", "kana"]
}

/// The movement and the buttons of a mouse · HID Service 1.0, Boot Mouse Input Report; 0x2A33, and Device Class
/// Definition for HID 1.11, Appendix B.2. A device may append octets with a format that it defines.
public struct BootMouseInputReport: CharacteristicValue {
  public struct Buttons: FeatureSet {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let first = Self(bit: 0)
    public static let second = Self(bit: 1)
    public static let third = Self(bit: 2)
    public static let names = ["first button", "second button", "third button"]
  }

  public var buttons: Buttons
  /// The movement to the right.
  public var x: Int8
  /// The movement towards the user.
  public var y: Int8
  public var more: [UInt8]

  public init(buttons: Buttons = [], x: Int8, y: Int8, more: [UInt8] = []) {
    self.buttons = buttons
    self.x = x
    self.y = y
    self.more = more
  }

  public static let uuid: UInt16 = 0x2A33

  public init(from reader: inout ValueReader) throws(ValueError) {
    buttons = Buttons(rawValue: try reader.uint8())
    x = try reader.integer()
    y = try reader.integer()
    more = reader.rest()
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(buttons.rawValue)
    writer.integer(x)
    writer.integer(y)
    writer.append(more)
  }

  public var fields: [ValueField] {
    var fields = [ValueField("buttons", buttons), ValueField("x", x), ValueField("y", y)]
    if !more.isEmpty { fields.append(ValueField("more", more.hexadecimal)) }
    return fields
  }
}
