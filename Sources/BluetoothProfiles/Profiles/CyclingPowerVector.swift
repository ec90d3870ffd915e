/// Forces or torques during one revolution · Cycling Power Service 1.1, Cycling Power Vector; 0x2A64.
public struct CyclingPowerVector: CharacteristicValue {
  /// The direction of the measurement, two bits.
  public enum Direction: UInt8, Sendable {
    case unknown
    case tangential
    case radial
    case lateral
  }

  /// The measured magnitudes in sequence, at angles with equal spacing. A vector holds either forces or torques.
  public enum Magnitudes: Hashable, Sendable {
    case none
    /// Forces in newtons.
    case forces([Int16])
    case torques([Scalar<NewtonMetres32>])
  }

  public var crank: CrankRevolutions?
  /// The crank angle of the first measurement in degrees.
  public var firstCrankMeasurementAngle: UInt16?
  public var magnitudes: Magnitudes
  public var direction: Direction

  public init(
    crank: CrankRevolutions? = nil, firstCrankMeasurementAngle: UInt16? = nil, magnitudes: Magnitudes = .none,
    direction: Direction = .unknown
  ) {
    self.crank = crank
    self.firstCrankMeasurementAngle = firstCrankMeasurementAngle
    self.magnitudes = magnitudes
    self.direction = direction
  }

  public static let uuid: UInt16 = 0x2A64
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    crank = try flags.has(0) ? CrankRevolutions(from: &reader) : nil
    firstCrankMeasurementAngle = try flags.has(1) ? reader.uint16() : nil
    direction = Direction(rawValue: flags.bits(4, 2)) ?? .unknown
    switch (flags.has(2), flags.has(3)) {
    case (false, false): magnitudes = .none
    case (true, false):
      var forces: [Int16] = []
      while reader.remaining > 0 { forces.append(try reader.integer()) }
      magnitudes = .forces(forces)
    case (false, true):
      var torques: [Scalar<NewtonMetres32>] = []
      while reader.remaining > 0 { torques.append(try reader.scalar()) }
      magnitudes = .torques(torques)
    case (true, true): throw .outOfRange(field: "Flags")
    }
  }

  public func write(to writer: inout ValueWriter) {
    var flags: UInt8 = (crank != nil).bit(0) | (firstCrankMeasurementAngle != nil).bit(1) | direction.rawValue << 4
    switch magnitudes {
    case .none: break
    case .forces: flags |= 1 << 2
    case .torques: flags |= 1 << 3
    }
    writer.integer(flags)
    crank?.write(to: &writer)
    if let firstCrankMeasurementAngle { writer.integer(firstCrankMeasurementAngle) }
    switch magnitudes {
    case .none: break
    case .forces(let forces): for force in forces { writer.integer(force) }
    case .torques(let torques): for torque in torques { writer.scalar(torque) }
    }
  }

  public var fields: [ValueField] {
    var fields: [ValueField] = []
    fields.add("crank revolutions", crank?.text)
    fields.add("from", firstCrankMeasurementAngle, .degree)
    if direction != .unknown { fields.append(ValueField("direction", "\(direction)")) }
    switch magnitudes {
    case .none: break
    case .forces(let forces): for force in forces { fields.append(ValueField("force", force, .newton)) }
    case .torques(let torques): for torque in torques { fields.append(ValueField("torque", torque)) }
    }
    return fields
  }
}

/// A command to a power meter, or its response · Cycling Power Service 1.1, Cycling Power Control Point; 0x2A66.
public enum CyclingPowerControlPoint: CharacteristicValue {
  /// The number of wheel revolutions.
  case setCumulativeValue(UInt32)
  case updateSensorLocation(SensorLocation)
  case setCrankLength(Scalar<HalfMillimetres>)
  /// The length in millimetres.
  case setChainLength(UInt16)
  /// The weight in grams.
  case setChainWeight(UInt16)
  /// The length in millimetres.
  case setSpanLength(UInt16)
  /// A bit mask of the fields that Cycling Power Measurement omits.
  case maskMeasurementContent(UInt16)
  /// A request without a parameter.
  case request(Request)
  /// The response to a command; the format of the parameter depends on the command.
  case response(to: OpCode, ControlPointResponse, [UInt8])
  /// An unknown op code with all octets that follow it.
  case other(OpCode, [UInt8])

  /// The requests without a parameter.
  public enum Request: UInt8, Sendable {
    case supportedSensorLocations = 3
    case crankLength = 5
    case chainLength = 7
    case chainWeight = 9
    case spanLength = 11
    case startOffsetCompensation = 12
    case samplingRate = 14
    case factoryCalibrationDate = 15
    case startEnhancedOffsetCompensation = 16
  }

  public struct OpCode: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let setCumulativeValue: Self = 1
    public static let updateSensorLocation: Self = 2
    public static let setCrankLength: Self = 4
    public static let setChainLength: Self = 6
    public static let setChainWeight: Self = 8
    public static let setSpanLength: Self = 10
    public static let maskMeasurementContent: Self = 13
    public static let responseCode: Self = 32
    public static let firstNamed: UInt8 = 1
    public static let names = [
      "Set Cumulative Value", "Update Sensor Location", "Request Supported Sensor Locations", "Set Crank Length",
      "Request Crank Length", "Set Chain Length", "Request Chain Length", "Set Chain Weight",
      "Request Chain Weight", "Set Span Length", "Request Span Length", "Start Offset Compensation",
      "Mask Cycling Power Measurement Content", "Request Sampling Rate", "Request Factory Calibration Date",
      "Start Enhanced Offset Compensation",
    ]
    public static let furtherNames: [UInt8: String] = [32: "Response Code"]
  }

  public static let uuid: UInt16 = 0x2A66

  public init(from reader: inout ValueReader) throws(ValueError) {
    let opCode = try reader.code(OpCode.self)
    switch opCode {
    case .setCumulativeValue: self = .setCumulativeValue(try reader.uint32())
    case .updateSensorLocation: self = .updateSensorLocation(try reader.code())
    case .setCrankLength: self = .setCrankLength(try reader.scalar())
    case .setChainLength: self = .setChainLength(try reader.uint16())
    case .setChainWeight: self = .setChainWeight(try reader.uint16())
    case .setSpanLength: self = .setSpanLength(try reader.uint16())
    case .maskMeasurementContent: self = .maskMeasurementContent(try reader.uint16())
    case .responseCode: self = .response(to: try reader.code(), try reader.code(), reader.rest())
    default:
      if let request = Request(rawValue: opCode.rawValue) {
        self = .request(request)
      } else {
        self = .other(opCode, reader.rest())
      }
    }
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(opCode)
    switch self {
    case .setCumulativeValue(let value): writer.integer(value)
    case .updateSensorLocation(let location): writer.code(location)
    case .setCrankLength(let length): writer.scalar(length)
    case .setChainLength(let value), .setChainWeight(let value), .setSpanLength(let value),
      .maskMeasurementContent(let value):
      writer.integer(value)
    case .request: break
    case .response(let request, let response, let parameter):
      writer.code(request)
      writer.code(response)
      writer.append(parameter)
    case .other(_, let octets): writer.append(octets)
    }
  }

  /// The op code, the first octet.
  public var opCode: OpCode {
    switch self {
    case .setCumulativeValue: .setCumulativeValue
    case .updateSensorLocation: .updateSensorLocation
    case .setCrankLength: .setCrankLength
    case .setChainLength: .setChainLength
    case .setChainWeight: .setChainWeight
    case .setSpanLength: .setSpanLength
    case .maskMeasurementContent: .maskMeasurementContent
    case .request(let request): OpCode(rawValue: request.rawValue)
    case .response: .responseCode
    case .other(let opCode, _): opCode
    }
  }

  public var fields: [ValueField] {
    switch self {
    case .setCumulativeValue(let value): [ValueField("\(opCode)", value)]
    case .updateSensorLocation(let location): [ValueField("\(opCode)", location)]
    case .setCrankLength(let length): [ValueField("\(opCode)", length)]
    case .setChainLength(let length), .setSpanLength(let length): [ValueField("\(opCode)", length, symbol: "mm")]
    case .setChainWeight(let weight): [ValueField("\(opCode)", weight, symbol: "g")]
    case .maskMeasurementContent(let mask): [ValueField("\(opCode)", mask.hexadecimal)]
    case .request: [ValueField("", opCode)]
    case .response(let request, let response, let parameter):
      [ValueField("answer to", request), ValueField("", response)]
        + (parameter.isEmpty ? [] : [ValueField("parameter", parameter.hexadecimal)])
    case .other(let opCode, let octets):
      [ValueField("op code", opCode)] + (octets.isEmpty ? [] : [ValueField("octets", octets.hexadecimal)])
    }
  }
}
