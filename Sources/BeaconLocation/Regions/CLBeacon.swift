import Foundation

/// A distance in metres, or an error of a position in metres.
public typealias CLLocationAccuracy = Double

/// A group of beacons.
public typealias CLBeaconMajorValue = UInt16

/// The number of a beacon within its group.
public typealias CLBeaconMinorValue = UInt16

/// A beacon that a location manager has ranged.
public final class CLBeacon: NSObject, Sendable {
  /// The UUID of the beacon's owner or application.
  public let uuid: UUID
  /// The UUID of the beacon's owner or application.
  @available(*, deprecated, renamed: "uuid")
  public var proximityUUID: UUID { uuid }
  /// The group of beacons.
  public var major: NSNumber { NSNumber(value: identity.major) }
  /// The number within the group.
  public var minor: NSNumber { NSNumber(value: identity.minor) }
  /// The coarse distance.
  public let proximity: CLProximity
  /// The most likely distance in metres; −1: not known. Core Location documents the value as the error of the distance,
  /// and gives the distance.
  public let accuracy: CLLocationAccuracy
  /// The mean level of the last three seconds in dBm, rounded; 0: not known.
  public let rssi: Int
  /// The time of the report.
  public let timestamp: Date
  /// The distance with its error interval; nil: not known. Core Location has no such property.
  public let distance: DistanceEstimate?
  private let identity: BeaconIdentity

  init(_ beacon: BeaconTracker.RangedBeacon, at date: Date) {
    identity = beacon.identity
    uuid = beacon.identity.uuid
    distance = beacon.distance
    proximity = beacon.distance?.proximity ?? .unknown
    accuracy = beacon.distance?.metres ?? -1
    rssi = beacon.level.map { Int($0.rounded()) } ?? 0
    timestamp = date
  }

  /// The identity, the coarse distance and the distance.
  public override var description: String {
    "CLBeacon (uuid: \(uuid), major: \(identity.major), minor: \(identity.minor), proximity: \(proximity), "
      + "accuracy: \(String(format: "%.2f", accuracy)) m, rssi: \(rssi))"
  }
}
