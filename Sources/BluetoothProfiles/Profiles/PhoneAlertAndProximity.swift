/// The alert state of a telephone · Phone Alert Status Service 1.0, 3.1; 0x2A3F.
public struct AlertStatus: CharacteristicValue, FeatureSet {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let ringer = Self(bit: 0)
  public static let vibrate = Self(bit: 1)
  public static let display = Self(bit: 2)

  public static let uuid: UInt16 = 0x2A3F
  public static let names = ["ringing", "vibrating", "displaying an alert"]
}

/// The ringer setting of a telephone · Phone Alert Status Service 1.0, 3.2; 0x2A41.
public struct RingerSetting: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let silent: Self = 0
  public static let normal: Self = 1

  public static let uuid: UInt16 = 0x2A41
  public static let names = ["Ringer Silent", "Ringer Normal"]
}

/// A command for the ringer of a telephone · Phone Alert Status Service 1.0, 3.3; 0x2A40.
public struct RingerControlPoint: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let silentMode: Self = 1
  public static let muteOnce: Self = 2
  public static let cancelSilentMode: Self = 3

  public static let uuid: UInt16 = 0x2A40
  public static let firstNamed: UInt8 = 1
  public static let names = ["Silent Mode", "Mute Once", "Cancel Silent Mode"]
}

/// The level of an alert: immediate, or on loss of the link · Immediate Alert Service 1.0, 3.1, and Link Loss Service
/// 1.0, 3.1; 0x2A06. The Find Me and Proximity profiles use it.
public struct AlertLevel: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let noAlert: Self = 0
  public static let mildAlert: Self = 1
  public static let highAlert: Self = 2

  public static let uuid: UInt16 = 0x2A06
  public static let names = ["No Alert", "Mild Alert", "High Alert"]
}

/// The transmit power of a device, from which a peer computes the path loss · Tx Power Service 1.0, 3.1; 0x2A07: -100
/// to 20 dBm.
public struct TxPowerLevel: CharacteristicValue {
  /// The power in dBm.
  public let level: Int8

  /// Returns nil if `level` is outside -100 to 20.
  public init?(level: Int8) {
    guard (-100...20).contains(level) else { return nil }
    self.level = level
  }

  /// Creates the value in the range that is nearest to `level`.
  public init(clamping level: Int8) { self.level = min(max(level, -100), 20) }

  public static let uuid: UInt16 = 0x2A07

  public init(from reader: inout ValueReader) throws(ValueError) {
    let level = try reader.integer(Int8.self)
    guard let value = Self(level: level) else { throw .outOfRange(field: "Tx Power") }
    self = value
  }

  public func write(to writer: inout ValueWriter) { writer.integer(level) }

  public var fields: [ValueField] { [ValueField("", level, symbol: "dBm")] }
}
