import CoreBluetooth

/// The identity and the power that an iBeacon advertises.
public struct Beacon: Hashable, Sendable {
  /// The group of beacons that this beacon belongs to.
  public let proximityUUID: UUID
  /// The number of the beacon's subgroup.
  public let major: UInt16
  /// The number of the beacon in its subgroup.
  public let minor: UInt16
  /// The level at a distance of 1 m, in dBm, as measured by the beacon's owner.
  public let measuredPower: Int8

  /// Reads the manufacturer data of an advertisement. Returns nil for anything but an iBeacon.
  public init?(manufacturerData: Data) {
    let octets = [UInt8](manufacturerData)
    // Apple's company identifier 0x004C, the type 0x02 and the length 0x15 of the rest.
    guard octets.count == 25, octets.starts(with: [0x4C, 0x00, 0x02, 0x15]) else { return nil }
    proximityUUID = octets[4..<20].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    major = UInt16(octets[20]) << 8 | UInt16(octets[21])
    minor = UInt16(octets[22]) << 8 | UInt16(octets[23])
    measuredPower = Int8(bitPattern: octets[24])
  }
}

/// An estimate of the distance to a beacon.
public struct DistanceEstimate: Sendable {
  /// A coarse distance, for apps whose users need no metres.
  public enum Proximity: Sendable { case immediate, near, far }

  /// The loss in decibels when the distance grows tenfold, divided by ten: 2 in free space, 2.5 to 4 indoors.
  public var pathLossExponent: Double
  /// The weight of a new level in the mean, 0 to 1. A small weight is steady, and follows a walk late.
  public var weight: Double
  /// The mean level in dBm; nil before the first one.
  public private(set) var level: Double?

  /// Creates an estimate.
  public init(pathLossExponent: Double = 2.5, weight: Double = 0.1) {
    (self.pathLossExponent, self.weight) = (pathLossExponent, weight)
  }

  /// Adds a received level. The value 127 means that the controller could not measure it.
  public mutating func add(rssi: Int) {
    guard rssi != 127 else { return }
    level = level.map { $0 + weight * (Double(rssi) - $0) } ?? Double(rssi)
  }

  /// Returns the distance in metres; nil before the first level.
  public func metres(to beacon: Beacon) -> Double? {
    level.map { pow(10, (Double(beacon.measuredPower) - $0) / (10 * pathLossExponent)) }
  }

  /// Returns the coarse distance; nil before the first level.
  public func proximity(to beacon: Beacon) -> Proximity? {
    metres(to: beacon).map { $0 < 0.5 ? .immediate : $0 < 4 ? .near : .far }
  }
}
