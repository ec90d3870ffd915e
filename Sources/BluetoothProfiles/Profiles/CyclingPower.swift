/// The measurement of a power meter · Cycling Power Service 1.1, Cycling Power Measurement; 0x2A63.
public struct CyclingPowerMeasurement: CharacteristicValue {
  public struct PedalPowerBalance: Hashable, Sendable {
    /// The share of the power that comes from one pedal.
    public var share: Scalar<HalfPercents>
    /// True if the share is that of the left pedal; false if the pedal is unknown.
    public var isOfLeftPedal: Bool

    public init(share: Scalar<HalfPercents>, isOfLeftPedal: Bool = false) {
      self.share = share
      self.isOfLeftPedal = isOfLeftPedal
    }
  }

  public struct AccumulatedTorque: Hashable, Sendable {
    public var torque: Scalar<AccumulatedNewtonMetres32>
    /// True if the torque was measured at the crank, false if at the wheel.
    public var isOfCrank: Bool

    public init(_ torque: Scalar<AccumulatedNewtonMetres32>, isOfCrank: Bool = false) {
      self.torque = torque
      self.isOfCrank = isOfCrank
    }
  }

  /// The maximum and the minimum force of a revolution in newtons.
  public struct ForceMagnitudes: Hashable, Sendable {
    public var maximum: Int16
    public var minimum: Int16

    public init(maximum: Int16, minimum: Int16) {
      self.maximum = maximum
      self.minimum = minimum
    }
  }

  /// The maximum and the minimum torque of a revolution.
  public struct TorqueMagnitudes: Hashable, Sendable {
    public var maximum: Scalar<NewtonMetres32>
    public var minimum: Scalar<NewtonMetres32>

    public init(maximum: Scalar<NewtonMetres32>, minimum: Scalar<NewtonMetres32>) {
      self.maximum = maximum
      self.minimum = minimum
    }
  }

  /// The crank angles of the maximum and the minimum magnitude in degrees, 12 bits each.
  public struct ExtremeAngles: Hashable, Sendable {
    public let maximum: UInt16
    public let minimum: UInt16

    /// Returns nil if an angle exceeds 12 bits.
    public init?(maximum: UInt16, minimum: UInt16) {
      guard maximum < 1 << 12, minimum < 1 << 12 else { return nil }
      self.maximum = maximum
      self.minimum = minimum
    }
  }

  /// The instantaneous power in watts.
  public var instantaneousPower: Int16
  public var pedalPowerBalance: PedalPowerBalance?
  public var accumulatedTorque: AccumulatedTorque?
  public var wheel: WheelRevolutions<Seconds2048>?
  public var crank: CrankRevolutions?
  public var extremeForces: ForceMagnitudes?
  public var extremeTorques: TorqueMagnitudes?
  public var extremeAngles: ExtremeAngles?
  /// The angle in degrees.
  public var topDeadSpotAngle: UInt16?
  /// The angle in degrees.
  public var bottomDeadSpotAngle: UInt16?
  /// The energy in kilojoules.
  public var accumulatedEnergy: UInt16?
  /// True if the sensor requests offset compensation.
  public var wantsOffsetCompensation = false

  public init(instantaneousPower: Int16) { self.instantaneousPower = instantaneousPower }

  public static let uuid: UInt16 = 0x2A63
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint16()
    instantaneousPower = try reader.integer()
    if flags.has(0) { pedalPowerBalance = .init(share: try reader.scalar(), isOfLeftPedal: flags.has(1)) }
    if flags.has(2) { accumulatedTorque = .init(try reader.scalar(), isOfCrank: flags.has(3)) }
    if flags.has(4) { wheel = try WheelRevolutions(from: &reader) }
    if flags.has(5) { crank = try CrankRevolutions(from: &reader) }
    if flags.has(6) { extremeForces = .init(maximum: try reader.integer(), minimum: try reader.integer()) }
    if flags.has(7) { extremeTorques = .init(maximum: try reader.scalar(), minimum: try reader.scalar()) }
    if flags.has(8) {
      let angles = try reader.integer(octets: 3, isSigned: false)
      extremeAngles = ExtremeAngles(maximum: UInt16(angles & 0xFFF), minimum: UInt16(angles >> 12))
    }
    if flags.has(9) { topDeadSpotAngle = try reader.uint16() }
    if flags.has(10) { bottomDeadSpotAngle = try reader.uint16() }
    if flags.has(11) { accumulatedEnergy = try reader.uint16() }
    wantsOffsetCompensation = flags.has(12)
  }

  private var flags: UInt16 {
    var flags: UInt16 = (pedalPowerBalance != nil).bit(0) | (pedalPowerBalance?.isOfLeftPedal == true).bit(1)
    flags |= (accumulatedTorque != nil).bit(2) | (accumulatedTorque?.isOfCrank == true).bit(3)
    flags |= (wheel != nil).bit(4) | (crank != nil).bit(5) | (extremeForces != nil).bit(6)
    flags |= (extremeTorques != nil).bit(7) | (extremeAngles != nil).bit(8) | (topDeadSpotAngle != nil).bit(9)
    flags |= (bottomDeadSpotAngle != nil).bit(10) | (accumulatedEnergy != nil).bit(11)
    return flags | wantsOffsetCompensation.bit(12)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(flags)
    writer.integer(instantaneousPower)
    if let pedalPowerBalance { writer.scalar(pedalPowerBalance.share) }
    if let accumulatedTorque { writer.scalar(accumulatedTorque.torque) }
    wheel?.write(to: &writer)
    crank?.write(to: &writer)
    if let extremeForces {
      writer.integer(extremeForces.maximum)
      writer.integer(extremeForces.minimum)
    }
    if let extremeTorques {
      writer.scalar(extremeTorques.maximum)
      writer.scalar(extremeTorques.minimum)
    }
    if let extremeAngles { writer.integer(Int(extremeAngles.maximum) | Int(extremeAngles.minimum) << 12, octets: 3) }
    if let topDeadSpotAngle { writer.integer(topDeadSpotAngle) }
    if let bottomDeadSpotAngle { writer.integer(bottomDeadSpotAngle) }
    if let accumulatedEnergy { writer.integer(accumulatedEnergy) }
  }

  public var fields: [ValueField] {
    var fields = [ValueField("power", instantaneousPower, .watt)]
    fields.add(
      pedalPowerBalance?.isOfLeftPedal == true ? "left pedal's share" : "one pedal's share", pedalPowerBalance?.share)
    fields.add(accumulatedTorque?.isOfCrank == true ? "crank torque" : "wheel torque", accumulatedTorque?.torque)
    fields.add("wheel revolutions", wheel?.text)
    fields.add("crank revolutions", crank?.text)
    fields.add("force", extremeForces.map { "\($0.minimum) to \($0.maximum) N" })
    fields.add("torque", extremeTorques.map { "\($0.minimum) to \($0.maximum)" })
    fields.add("greatest and smallest at", extremeAngles.map { "\($0.maximum)° and \($0.minimum)°" })
    fields.add("top dead spot", topDeadSpotAngle, .degree)
    fields.add("bottom dead spot", bottomDeadSpotAngle, .degree)
    fields.add("energy", accumulatedEnergy, symbol: "kJ")
    if wantsOffsetCompensation { fields.append(ValueField("", "offset compensation wanted")) }
    return fields
  }
}

/// The features of a power meter · Cycling Power Service 1.1, Cycling Power Feature; 0x2A65.
public struct CyclingPowerFeature: CharacteristicValue, FeatureSet {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let pedalPowerBalance = Self(bit: 0)
  public static let accumulatedTorque = Self(bit: 1)
  public static let wheelRevolutionData = Self(bit: 2)
  public static let crankRevolutionData = Self(bit: 3)
  public static let extremeMagnitudes = Self(bit: 4)
  public static let extremeAngles = Self(bit: 5)
  public static let deadSpotAngles = Self(bit: 6)
  public static let accumulatedEnergy = Self(bit: 7)
  public static let offsetCompensationIndicator = Self(bit: 8)
  public static let offsetCompensation = Self(bit: 9)
  public static let contentMasking = Self(bit: 10)
  public static let multipleSensorLocations = Self(bit: 11)
  public static let crankLengthAdjustment = Self(bit: 12)
  public static let chainLengthAdjustment = Self(bit: 13)
  public static let chainWeightAdjustment = Self(bit: 14)
  public static let spanLengthAdjustment = Self(bit: 15)
  /// The sensor measures torque; if not set, it measures force.
  public static let torqueBased = Self(bit: 16)
  public static let instantaneousMeasurementDirection = Self(bit: 17)
  public static let factoryCalibrationDate = Self(bit: 18)
  public static let enhancedOffsetCompensation = Self(bit: 19)

  public static let uuid: UInt16 = 0x2A65
  public static let names = [
    "pedal power balance", "accumulated torque", "wheel revolution data", "crank revolution data",
    "extreme magnitudes", "extreme angles", "dead spot angles", "accumulated energy",
    "offset compensation indicator", "offset compensation", "content masking", "multiple sensor locations",
    "crank length adjustment", "chain length adjustment", "chain weight adjustment", "span length adjustment",
    "torque based", "instantaneous measurement direction", "factory calibration date",
    "enhanced offset compensation", "not for distributed systems", "for distributed systems",
  ]
}
