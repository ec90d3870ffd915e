/// The measurement of a heart rate sensor · Heart Rate Service 1.0, 3.1; 0x2A37.
public struct HeartRateMeasurement: CharacteristicValue {
  /// The sensor's contact with the skin.
  public enum SensorContact: Hashable, Sendable {
    /// The sensor can't detect contact.
    case notSupported
    case notDetected
    case detected
  }

  /// The heart rate in beats per minute. Values above 255 are sent in two octets.
  public var heartRate: UInt16
  /// True if the heart rate is sent in two octets even when one octet is sufficient.
  public var prefersTwoOctets: Bool
  public var sensorContact: SensorContact
  /// The energy expended in kilojoules since the last reset, at most 65,535.
  public var energyExpended: UInt16?
  /// The intervals between beats, the oldest first.
  public var rrIntervals: [Scalar<Seconds1024>]

  public init(
    heartRate: UInt16, sensorContact: SensorContact = .notSupported, energyExpended: UInt16? = nil,
    rrIntervals: [Scalar<Seconds1024>] = []
  ) {
    self.heartRate = heartRate
    prefersTwoOctets = heartRate > 255
    self.sensorContact = sensorContact
    self.energyExpended = energyExpended
    self.rrIntervals = rrIntervals
  }

  public static let uuid: UInt16 = 0x2A37
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    prefersTwoOctets = flags.has(0)
    heartRate = try flags.has(0) ? reader.uint16() : UInt16(reader.uint8())
    sensorContact = flags.has(2) ? flags.has(1) ? .detected : .notDetected : .notSupported
    energyExpended = try flags.has(3) ? reader.uint16() : nil
    rrIntervals = []
    if flags.has(4) {
      while reader.remaining > 0 { rrIntervals.append(try reader.scalar()) }
    }
  }

  public func write(to writer: inout ValueWriter) {
    let isWide = prefersTwoOctets || heartRate > 255
    let contact: UInt8 =
      switch sensorContact {
      case .notSupported: 0b00
      case .notDetected: 0b10
      case .detected: 0b11
      }
    writer.integer(isWide.bit(0) | contact << 1 | (energyExpended != nil).bit(3) | (!rrIntervals.isEmpty).bit(4))
    writer.integer(heartRate, octets: isWide ? 2 : 1)
    if let energyExpended { writer.integer(energyExpended) }
    for interval in rrIntervals { writer.scalar(interval) }
  }

  public var fields: [ValueField] {
    var fields = [ValueField("heart rate", heartRate, .beatsPerMinute)]
    switch sensorContact {
    case .notSupported: break
    case .notDetected: fields.add("sensor contact", "not detected")
    case .detected: fields.add("sensor contact", "detected")
    }
    fields.add("energy expended", energyExpended, symbol: "kJ")
    for interval in rrIntervals { fields.add("RR interval", interval) }
    return fields
  }

  // Compares the encoded values, because `prefersTwoOctets` has no effect above 255.
  public static func == (left: Self, right: Self) -> Bool { left.octets == right.octets }

  public func hash(into hasher: inout Hasher) { hasher.combine(octets) }
}

/// The location of the sensor on the body · Heart Rate Service 1.0, 3.2; 0x2A38.
public struct BodySensorLocation: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let other: Self = 0
  public static let chest: Self = 1
  public static let wrist: Self = 2
  public static let finger: Self = 3
  public static let hand: Self = 4
  public static let earLobe: Self = 5
  public static let foot: Self = 6

  public static let uuid: UInt16 = 0x2A38
  public static let names = ["Other", "Chest", "Wrist", "Finger", "Hand", "Ear Lobe", "Foot"]
}

/// A command to a heart rate sensor · Heart Rate Service 1.0, 3.3; 0x2A39.
public struct HeartRateControlPoint: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let resetEnergyExpended: Self = 1

  public static let uuid: UInt16 = 0x2A39
  public static let firstNamed: UInt8 = 1
  public static let names = ["Reset Energy Expended"]
}
