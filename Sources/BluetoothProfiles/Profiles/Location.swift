/// The status of a position · Location and Navigation Service 1.0; two bits.
public enum PositionStatus: UInt8, Hashable, Sendable, CustomStringConvertible {
  case noPosition
  case positionOK
  case estimatedPosition
  case lastKnownPosition

  public var description: String {
    switch self {
    case .noPosition: "no position"
    case .positionOK: "position OK"
    case .estimatedPosition: "estimated position"
    case .lastKnownPosition: "last known position"
    }
  }
}

/// A position on the earth.
public struct GeographicPosition: Hashable, Sendable {
  public var latitude: Scalar<Latitude>
  public var longitude: Scalar<Longitude>

  public init(latitude: Scalar<Latitude>, longitude: Scalar<Longitude>) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// The position and the movement of a receiver · Location and Navigation Service 1.0, Location and Speed; 0x2A67.
public struct LocationAndSpeed: CharacteristicValue {
  /// The source of the elevation, two bits.
  public enum ElevationSource: UInt8, Sendable {
    case positioningSystem
    case barometer
    case databaseService
    case other
  }

  public var speed: Scalar<MetresPerSecond100>?
  public var totalDistance: Scalar<Metres10>?
  public var position: GeographicPosition?
  public var elevation: Scalar<HeightMetres100>?
  public var heading: Scalar<Degrees100>?
  /// The time in seconds since this characteristic was last sent, which wraps around.
  public var rollingTime: UInt8?
  public var utcTime: DateTime?
  public var positionStatus = PositionStatus.noPosition
  /// True if speed and distance are three-dimensional, false if two-dimensional.
  public var isThreeDimensional = false
  public var elevationSource = ElevationSource.positioningSystem
  /// True if the heading is that of a compass, false if that of the movement.
  public var headingIsOfCompass = false

  public init() {}

  public static let uuid: UInt16 = 0x2A67
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint16()
    speed = try flags.has(0) ? reader.scalar() : nil
    totalDistance = try flags.has(1) ? reader.scalar() : nil
    position = try flags.has(2) ? GeographicPosition(latitude: reader.scalar(), longitude: reader.scalar()) : nil
    elevation = try flags.has(3) ? reader.scalar() : nil
    heading = try flags.has(4) ? reader.scalar() : nil
    rollingTime = try flags.has(5) ? reader.uint8() : nil
    utcTime = try flags.has(6) ? DateTime(from: &reader) : nil
    positionStatus = PositionStatus(rawValue: flags.bits(7, 2)) ?? .noPosition
    isThreeDimensional = flags.has(9)
    elevationSource = ElevationSource(rawValue: flags.bits(10, 2)) ?? .other
    headingIsOfCompass = flags.has(12)
  }

  public func write(to writer: inout ValueWriter) {
    var flags: UInt16 = (speed != nil).bit(0) | (totalDistance != nil).bit(1) | (position != nil).bit(2)
    flags |= (elevation != nil).bit(3) | (heading != nil).bit(4) | (rollingTime != nil).bit(5)
    flags |= (utcTime != nil).bit(6) | UInt16(positionStatus.rawValue) << 7 | isThreeDimensional.bit(9)
    writer.integer(flags | UInt16(elevationSource.rawValue) << 10 | headingIsOfCompass.bit(12))
    if let speed { writer.scalar(speed) }
    if let totalDistance { writer.scalar(totalDistance) }
    if let position {
      writer.scalar(position.latitude)
      writer.scalar(position.longitude)
    }
    if let elevation { writer.scalar(elevation) }
    if let heading { writer.scalar(heading) }
    if let rollingTime { writer.integer(rollingTime) }
    utcTime?.write(to: &writer)
  }

  public var fields: [ValueField] {
    var fields = [ValueField("", positionStatus)]
    fields.add("latitude", position?.latitude)
    fields.add("longitude", position?.longitude)
    fields.add("elevation", elevation)
    fields.add("speed", speed)
    fields.add("total distance", totalDistance)
    fields.add("heading", heading)
    fields.add("rolling time", rollingTime, .second)
    fields.add("UTC", utcTime)
    return fields
  }
}

/// Directions to the next waypoint or the destination · Location and Navigation Service 1.0, Navigation; 0x2A68.
public struct Navigation: CharacteristicValue {
  /// The bearing of the next point.
  public var bearing: Scalar<Degrees100>
  public var heading: Scalar<Degrees100>
  public var remainingDistance: Scalar<Metres10>?
  public var remainingVerticalDistance: Scalar<HeightMetres100>?
  public var estimatedTimeOfArrival: DateTime?
  public var positionStatus = PositionStatus.noPosition
  /// True if the heading is that of a compass, false if that of the movement.
  public var headingIsOfCompass = false
  /// True if the values refer to the destination, false if to the next waypoint.
  public var isToDestination = false
  public var waypointReached = false
  public var destinationReached = false

  public init(bearing: Scalar<Degrees100>, heading: Scalar<Degrees100>) {
    self.bearing = bearing
    self.heading = heading
  }

  public static let uuid: UInt16 = 0x2A68
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint16()
    bearing = try reader.scalar()
    heading = try reader.scalar()
    remainingDistance = try flags.has(0) ? reader.scalar() : nil
    remainingVerticalDistance = try flags.has(1) ? reader.scalar() : nil
    estimatedTimeOfArrival = try flags.has(2) ? DateTime(from: &reader) : nil
    positionStatus = PositionStatus(rawValue: flags.bits(3, 2)) ?? .noPosition
    headingIsOfCompass = flags.has(5)
    isToDestination = flags.has(6)
    waypointReached = flags.has(7)
    destinationReached = flags.has(8)
  }

  public func write(to writer: inout ValueWriter) {
    var flags: UInt16 = (remainingDistance != nil).bit(0) | (remainingVerticalDistance != nil).bit(1)
    flags |= (estimatedTimeOfArrival != nil).bit(2) | UInt16(positionStatus.rawValue) << 3
    flags |= headingIsOfCompass.bit(5) | isToDestination.bit(6) | waypointReached.bit(7)
    writer.integer(flags | destinationReached.bit(8))
    writer.scalar(bearing)
    writer.scalar(heading)
    if let remainingDistance { writer.scalar(remainingDistance) }
    if let remainingVerticalDistance { writer.scalar(remainingVerticalDistance) }
    estimatedTimeOfArrival?.write(to: &writer)
  }

  public var fields: [ValueField] {
    var fields = [
      ValueField("", positionStatus), ValueField(isToDestination ? "destination at" : "waypoint at", bearing),
      ValueField("heading", heading),
    ]
    fields.add("remaining", remainingDistance)
    fields.add("remaining vertically", remainingVerticalDistance)
    fields.add("arrival", estimatedTimeOfArrival)
    if waypointReached { fields.append(ValueField("", "waypoint reached")) }
    if destinationReached { fields.append(ValueField("", "destination reached")) }
    return fields
  }
}

/// The quality of a position · Location and Navigation Service 1.0, Position Quality; 0x2A69.
public struct PositionQuality: CharacteristicValue {
  public var beaconsInSolution: UInt8?
  public var beaconsInView: UInt8?
  public var timeToFirstFix: Scalar<Seconds10>?
  public var horizontalError: Scalar<ErrorMetres100>?
  public var verticalError: Scalar<ErrorMetres100>?
  public var horizontalDilution: Scalar<DilutionOfPrecision>?
  public var verticalDilution: Scalar<DilutionOfPrecision>?
  public var positionStatus = PositionStatus.noPosition

  public init() {}

  public static let uuid: UInt16 = 0x2A69
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint16()
    beaconsInSolution = try flags.has(0) ? reader.uint8() : nil
    beaconsInView = try flags.has(1) ? reader.uint8() : nil
    timeToFirstFix = try flags.has(2) ? reader.scalar() : nil
    horizontalError = try flags.has(3) ? reader.scalar() : nil
    verticalError = try flags.has(4) ? reader.scalar() : nil
    horizontalDilution = try flags.has(5) ? reader.scalar() : nil
    verticalDilution = try flags.has(6) ? reader.scalar() : nil
    positionStatus = PositionStatus(rawValue: flags.bits(7, 2)) ?? .noPosition
  }

  public func write(to writer: inout ValueWriter) {
    var flags: UInt16 = (beaconsInSolution != nil).bit(0) | (beaconsInView != nil).bit(1)
    flags |= (timeToFirstFix != nil).bit(2) | (horizontalError != nil).bit(3) | (verticalError != nil).bit(4)
    flags |= (horizontalDilution != nil).bit(5) | (verticalDilution != nil).bit(6)
    writer.integer(flags | UInt16(positionStatus.rawValue) << 7)
    if let beaconsInSolution { writer.integer(beaconsInSolution) }
    if let beaconsInView { writer.integer(beaconsInView) }
    if let timeToFirstFix { writer.scalar(timeToFirstFix) }
    if let horizontalError { writer.scalar(horizontalError) }
    if let verticalError { writer.scalar(verticalError) }
    if let horizontalDilution { writer.scalar(horizontalDilution) }
    if let verticalDilution { writer.scalar(verticalDilution) }
  }

  public var fields: [ValueField] {
    var fields = [ValueField("", positionStatus)]
    fields.add("beacons in solution", beaconsInSolution)
    fields.add("beacons in view", beaconsInView)
    fields.add("time to first fix", timeToFirstFix)
    fields.add("horizontal error", horizontalError)
    fields.add("vertical error", verticalError)
    fields.add("horizontal dilution of precision", horizontalDilution)
    fields.add("vertical dilution of precision", verticalDilution)
    return fields
  }
}
