/// The number of wheel revolutions and the time of the last one.
public struct WheelRevolutions<Time: ScalarKind>: Hashable, Sendable {
  /// The number of revolutions since the sensor started to count; a client may set the number.
  public var cumulative: UInt32
  /// The time at which the last revolution was complete.
  public var lastEventTime: Scalar<Time>

  public init(cumulative: UInt32, lastEventTime: Scalar<Time>) {
    self.cumulative = cumulative
    self.lastEventTime = lastEventTime
  }

  init(from reader: inout ValueReader) throws(ValueError) {
    cumulative = try reader.uint32()
    lastEventTime = try reader.scalar()
  }

  func write(to writer: inout ValueWriter) {
    writer.integer(cumulative)
    writer.scalar(lastEventTime)
  }

  var text: String { "\(cumulative), the last at \(lastEventTime)" }
}

/// The number of crank revolutions and the time of the last one.
public struct CrankRevolutions: Hashable, Sendable {
  /// The cumulative number of revolutions, which wraps around.
  public var cumulative: UInt16
  /// The time at which the last revolution was complete.
  public var lastEventTime: Scalar<Seconds1024>

  public init(cumulative: UInt16, lastEventTime: Scalar<Seconds1024>) {
    self.cumulative = cumulative
    self.lastEventTime = lastEventTime
  }

  init(from reader: inout ValueReader) throws(ValueError) {
    cumulative = try reader.uint16()
    lastEventTime = try reader.scalar()
  }

  func write(to writer: inout ValueWriter) {
    writer.integer(cumulative)
    writer.scalar(lastEventTime)
  }

  var text: String { "\(cumulative), the last at \(lastEventTime)" }
}

/// The measurement of a speed and cadence sensor · Cycling Speed and Cadence Service 1.0, 3.1; 0x2A5B.
public struct CSCMeasurement: CharacteristicValue {
  public var wheel: WheelRevolutions<Seconds1024>?
  public var crank: CrankRevolutions?

  public init(wheel: WheelRevolutions<Seconds1024>? = nil, crank: CrankRevolutions? = nil) {
    self.wheel = wheel
    self.crank = crank
  }

  public static let uuid: UInt16 = 0x2A5B
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    wheel = try flags.has(0) ? WheelRevolutions(from: &reader) : nil
    crank = try flags.has(1) ? CrankRevolutions(from: &reader) : nil
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer((wheel != nil).bit(0) | (crank != nil).bit(1) as UInt8)
    wheel?.write(to: &writer)
    crank?.write(to: &writer)
  }

  public var fields: [ValueField] {
    var fields: [ValueField] = []
    fields.add("wheel revolutions", wheel?.text)
    fields.add("crank revolutions", crank?.text)
    return fields
  }
}

/// The features of a speed and cadence sensor · Cycling Speed and Cadence Service 1.0, 3.2; 0x2A5C.
public struct CSCFeature: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let wheelRevolutionData = Self(bit: 0)
  public static let crankRevolutionData = Self(bit: 1)
  public static let multipleSensorLocations = Self(bit: 2)

  public static let uuid: UInt16 = 0x2A5C
  public static let names = ["wheel revolution data", "crank revolution data", "multiple sensor locations"]
}

/// The speed and cadence of a runner · Running Speed and Cadence Service 1.0, 3.1; 0x2A53.
public struct RSCMeasurement: CharacteristicValue {
  public var speed: Scalar<MetresPerSecond256>
  /// The cadence in steps per minute.
  public var cadence: UInt8
  public var strideLength: Scalar<Metres100>?
  public var totalDistance: Scalar<Metres10Wide>?
  /// True if running; false if walking or unknown.
  public var isRunning: Bool

  public init(
    speed: Scalar<MetresPerSecond256>, cadence: UInt8, strideLength: Scalar<Metres100>? = nil,
    totalDistance: Scalar<Metres10Wide>? = nil, isRunning: Bool = false
  ) {
    self.speed = speed
    self.cadence = cadence
    self.strideLength = strideLength
    self.totalDistance = totalDistance
    self.isRunning = isRunning
  }

  public static let uuid: UInt16 = 0x2A53
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    speed = try reader.scalar()
    cadence = try reader.uint8()
    strideLength = try flags.has(0) ? reader.scalar() : nil
    totalDistance = try flags.has(1) ? reader.scalar() : nil
    isRunning = flags.has(2)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer((strideLength != nil).bit(0) | (totalDistance != nil).bit(1) | isRunning.bit(2) as UInt8)
    writer.scalar(speed)
    writer.integer(cadence)
    if let strideLength { writer.scalar(strideLength) }
    if let totalDistance { writer.scalar(totalDistance) }
  }

  public var fields: [ValueField] {
    var fields = [
      ValueField(isRunning ? "running at" : "walking at", speed), ValueField("cadence", cadence, .stepsPerMinute),
    ]
    fields.add("stride length", strideLength)
    fields.add("total distance", totalDistance)
    return fields
  }
}

/// The features of a running speed and cadence sensor · Running Speed and Cadence Service 1.0, 3.2; 0x2A54.
public struct RSCFeature: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let instantaneousStrideLength = Self(bit: 0)
  public static let totalDistance = Self(bit: 1)
  public static let walkingOrRunningStatus = Self(bit: 2)
  public static let calibrationProcedure = Self(bit: 3)
  public static let multipleSensorLocations = Self(bit: 4)

  public static let uuid: UInt16 = 0x2A54
  public static let names = [
    "instantaneous stride length", "total distance", "walking or running status", "calibration procedure",
    "multiple sensor locations",
  ]
}

/// The location of a sensor on the bicycle or the body · GATT Specification Supplement, Sensor Location; 0x2A5D.
public struct SensorLocation: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let other: Self = 0
  public static let topOfShoe: Self = 1
  public static let inShoe: Self = 2
  public static let hip: Self = 3
  public static let frontWheel: Self = 4
  public static let leftCrank: Self = 5
  public static let rightCrank: Self = 6
  public static let leftPedal: Self = 7
  public static let rightPedal: Self = 8
  public static let frontHub: Self = 9
  public static let rearDropout: Self = 10
  public static let chainstay: Self = 11
  public static let rearWheel: Self = 12
  public static let rearHub: Self = 13
  public static let chest: Self = 14
  public static let spider: Self = 15
  public static let chainRing: Self = 16

  public static let uuid: UInt16 = 0x2A5D
  public static let names = [
    "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal", "right pedal",
    "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider", "chain ring",
  ]
}

/// A command to a speed and cadence sensor, or its response · Cycling Speed and Cadence Service 1.0, 3.4, and Running
/// Speed and Cadence Service 1.0, 3.4; 0x2A55.
public enum SCControlPoint: CharacteristicValue {
  /// The number of wheel revolutions, or the distance in units of 0.1 m.
  case setCumulativeValue(UInt32)
  case startSensorCalibration
  case updateSensorLocation(SensorLocation)
  case requestSupportedSensorLocations
  /// The response to a command; the locations are the result of `requestSupportedSensorLocations`.
  case response(to: OpCode, ControlPointResponse, [SensorLocation])
  /// An unknown op code with all octets that follow it.
  case other(OpCode, [UInt8])

  public struct OpCode: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let setCumulativeValue: Self = 1
    public static let startSensorCalibration: Self = 2
    public static let updateSensorLocation: Self = 3
    public static let requestSupportedSensorLocations: Self = 4
    public static let responseCode: Self = 16
    public static let firstNamed: UInt8 = 1
    public static let names = [
      "Set Cumulative Value", "Start Sensor Calibration", "Update Sensor Location",
      "Request Supported Sensor Locations",
    ]
    public static let furtherNames: [UInt8: String] = [16: "Response Code"]
  }

  public static let uuid: UInt16 = 0x2A55

  public init(from reader: inout ValueReader) throws(ValueError) {
    let opCode = try reader.code(OpCode.self)
    switch opCode {
    case .setCumulativeValue: self = .setCumulativeValue(try reader.uint32())
    case .startSensorCalibration: self = .startSensorCalibration
    case .updateSensorLocation: self = .updateSensorLocation(try reader.code())
    case .requestSupportedSensorLocations: self = .requestSupportedSensorLocations
    case .responseCode:
      let request = try reader.code(OpCode.self)
      let response = try reader.code(ControlPointResponse.self)
      self = .response(to: request, response, reader.rest().map(SensorLocation.init(rawValue:)))
    default: self = .other(opCode, reader.rest())
    }
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(opCode)
    switch self {
    case .setCumulativeValue(let value): writer.integer(value)
    case .startSensorCalibration, .requestSupportedSensorLocations: break
    case .updateSensorLocation(let location): writer.code(location)
    case .response(let request, let response, let locations):
      writer.code(request)
      writer.code(response)
      for location in locations { writer.code(location) }
    case .other(_, let octets): writer.append(octets)
    }
  }

  /// The op code, the first octet.
  public var opCode: OpCode {
    switch self {
    case .setCumulativeValue: .setCumulativeValue
    case .startSensorCalibration: .startSensorCalibration
    case .updateSensorLocation: .updateSensorLocation
    case .requestSupportedSensorLocations: .requestSupportedSensorLocations
    case .response: .responseCode
    case .other(let opCode, _): opCode
    }
  }

  public var fields: [ValueField] {
    switch self {
    case .setCumulativeValue(let value): [ValueField("\(opCode)", value)]
    case .startSensorCalibration, .requestSupportedSensorLocations: [ValueField("", opCode)]
    case .updateSensorLocation(let location): [ValueField("\(opCode)", location)]
    case .response(let request, let response, let locations):
      [ValueField("answer to", request), ValueField("", response)] + locations.map { ValueField("", $0) }
    case .other(let opCode, let octets):
      [ValueField("op code", opCode)] + (octets.isEmpty ? [] : [ValueField("octets", octets.hexadecimal)])
    }
  }
}

/// The response value of the control points of the sports services.
public struct ControlPointResponse: ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let success: Self = 1
  public static let opCodeNotSupported: Self = 2
  public static let invalidParameter: Self = 3
  public static let operationFailed: Self = 4
  public static let firstNamed: UInt8 = 1
  public static let names = ["success", "op code not supported", "invalid parameter", "operation failed"]
}
