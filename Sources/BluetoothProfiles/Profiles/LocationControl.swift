/// The features of a location and navigation device · Location and Navigation Service 1.0, LN Feature; 0x2A6A.
public struct LNFeature: CharacteristicValue, FeatureSet {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let instantaneousSpeed = Self(bit: 0)
  public static let totalDistance = Self(bit: 1)
  public static let location = Self(bit: 2)
  public static let elevation = Self(bit: 3)
  public static let heading = Self(bit: 4)
  public static let rollingTime = Self(bit: 5)
  public static let utcTime = Self(bit: 6)
  public static let remainingDistance = Self(bit: 7)
  public static let remainingVerticalDistance = Self(bit: 8)
  public static let estimatedTimeOfArrival = Self(bit: 9)
  public static let numberOfBeaconsInSolution = Self(bit: 10)
  public static let numberOfBeaconsInView = Self(bit: 11)
  public static let timeToFirstFix = Self(bit: 12)
  public static let estimatedHorizontalPositionError = Self(bit: 13)
  public static let estimatedVerticalPositionError = Self(bit: 14)
  public static let horizontalDilutionOfPrecision = Self(bit: 15)
  public static let verticalDilutionOfPrecision = Self(bit: 16)
  public static let contentMasking = Self(bit: 17)
  public static let fixRateSetting = Self(bit: 18)
  public static let elevationSetting = Self(bit: 19)
  public static let positionStatus = Self(bit: 20)

  public static let uuid: UInt16 = 0x2A6A
  public static let names = [
    "instantaneous speed", "total distance", "location", "elevation", "heading", "rolling time", "UTC time",
    "remaining distance", "remaining vertical distance", "estimated time of arrival", "number of beacons in solution",
    "number of beacons in view", "time to first fix", "estimated horizontal position error",
    "estimated vertical position error", "horizontal dilution of precision", "vertical dilution of precision",
    "content masking", "fix rate setting", "elevation setting", "position status",
  ]
}

/// A command to a location and navigation device, or its response · Location and Navigation Service 1.0, LN Control
/// Point; 0x2A6B.
public enum LNControlPoint: CharacteristicValue {
  case setCumulativeValue(Scalar<Metres10>)
  /// A bit mask of the fields that Location and Speed omits.
  case maskLocationAndSpeedContent(UInt16)
  case navigationControl(NavigationControl)
  case requestNumberOfRoutes
  case requestNameOfRoute(UInt16)
  case selectRoute(UInt16)
  /// The rate in fixes per second.
  case setFixRate(UInt8)
  case setElevation(Scalar<HeightMetres100>)
  /// The response to a command; the format of the parameter depends on the command.
  case response(to: OpCode, ControlPointResponse, [UInt8])
  /// An unknown op code with all octets that follow it.
  case other(OpCode, [UInt8])

  public struct NavigationControl: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let stop: Self = 0
    public static let start: Self = 1
    public static let pause: Self = 2
    public static let resume: Self = 3
    public static let skipWaypoint: Self = 4
    public static let startFromNearestWaypoint: Self = 5
    public static let names = [
      "stop", "start", "pause", "resume", "skip waypoint", "start from the nearest waypoint",
    ]
  }

  public struct OpCode: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let setCumulativeValue: Self = 1
    public static let maskLocationAndSpeedContent: Self = 2
    public static let navigationControl: Self = 3
    public static let requestNumberOfRoutes: Self = 4
    public static let requestNameOfRoute: Self = 5
    public static let selectRoute: Self = 6
    public static let setFixRate: Self = 7
    public static let setElevation: Self = 8
    public static let responseCode: Self = 32
    public static let firstNamed: UInt8 = 1
    public static let names = [
      "Set Cumulative Value", "Mask Location and Speed Characteristic Content", "Navigation Control",
      "Request Number of Routes", "Request Name of Route", "Select Route", "Set Fix Rate", "Set Elevation",
    ]
    public static let furtherNames: [UInt8: String] = [32: "Response Code"]
  }

  public static let uuid: UInt16 = 0x2A6B

  public init(from reader: inout ValueReader) throws(ValueError) {
    let opCode = try reader.code(OpCode.self)
    switch opCode {
    case .setCumulativeValue: self = .setCumulativeValue(try reader.scalar())
    case .maskLocationAndSpeedContent: self = .maskLocationAndSpeedContent(try reader.uint16())
    case .navigationControl: self = .navigationControl(try reader.code())
    case .requestNumberOfRoutes: self = .requestNumberOfRoutes
    case .requestNameOfRoute: self = .requestNameOfRoute(try reader.uint16())
    case .selectRoute: self = .selectRoute(try reader.uint16())
    case .setFixRate: self = .setFixRate(try reader.uint8())
    case .setElevation: self = .setElevation(try reader.scalar())
    case .responseCode: self = .response(to: try reader.code(), try reader.code(), reader.rest())
    default: self = .other(opCode, reader.rest())
    }
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(opCode)
    switch self {
    case .setCumulativeValue(let value): writer.scalar(value)
    case .maskLocationAndSpeedContent(let value), .requestNameOfRoute(let value), .selectRoute(let value):
      writer.integer(value)
    case .navigationControl(let control): writer.code(control)
    case .requestNumberOfRoutes: break
    case .setFixRate(let rate): writer.integer(rate)
    case .setElevation(let elevation): writer.scalar(elevation)
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
    case .maskLocationAndSpeedContent: .maskLocationAndSpeedContent
    case .navigationControl: .navigationControl
    case .requestNumberOfRoutes: .requestNumberOfRoutes
    case .requestNameOfRoute: .requestNameOfRoute
    case .selectRoute: .selectRoute
    case .setFixRate: .setFixRate
    case .setElevation: .setElevation
    case .response: .responseCode
    case .other(let opCode, _): opCode
    }
  }

  public var fields: [ValueField] {
    switch self {
    case .setCumulativeValue(let value): [ValueField("\(opCode)", value)]
    case .maskLocationAndSpeedContent(let mask): [ValueField("\(opCode)", mask.hexadecimal)]
    case .navigationControl(let control): [ValueField("\(opCode)", control)]
    case .requestNumberOfRoutes: [ValueField("", opCode)]
    case .requestNameOfRoute(let route), .selectRoute(let route): [ValueField("\(opCode)", route)]
    case .setFixRate(let rate): [ValueField("\(opCode)", rate, symbol: "/s")]
    case .setElevation(let elevation): [ValueField("\(opCode)", elevation)]
    case .response(let request, let response, let parameter):
      [ValueField("answer to", request), ValueField("", response)]
        + (parameter.isEmpty ? [] : [ValueField("parameter", parameter.hexadecimal)])
    case .other(let opCode, let octets):
      [ValueField("op code", opCode)] + (octets.isEmpty ? [] : [ValueField("octets", octets.hexadecimal)])
    }
  }
}
