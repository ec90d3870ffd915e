import BluetoothProfiles
import Foundation

/// A route of a location and navigation sensor.
public struct NavigationRoute: Hashable, Sendable {
  /// The name, at most 17 octets of UTF-8 with the smallest ATT_MTU.
  public var name: String
  /// The waypoints, of which the last one is the destination.
  public var waypoints: [GeographicPosition]

  /// Creates a route.
  public init(_ name: String, waypoints: [GeographicPosition]) {
    self.name = name
    self.waypoints = waypoints
  }
}

extension GeographicPosition {
  /// Creates a position from degrees: north and east are positive. Degrees out of range are clamped.
  public init(latitude: Double, longitude: Double) {
    func units(_ degrees: Double, _ limit: Double) -> Int {
      degrees.isFinite ? Int((min(max(degrees, -limit), limit) * 1e7).rounded()) : 0
    }
    self.init(
      latitude: Scalar(clamping: units(latitude, 90)), longitude: Scalar(clamping: units(longitude, 180)))
  }
}

/// A position in degrees, on a sphere that is flat near the position: errors are below 1 % within 10 km of it, except
/// near the poles.
struct FlatPosition: Sendable {
  var latitude: Double
  var longitude: Double

  /// The length of a degree of latitude in metres, on a sphere with the mean radius of the earth, 6,371,009 m.
  private static let degree = 111_195.0

  init(_ position: GeographicPosition) {
    latitude = Double(position.latitude.rawValue) * 1e-7
    longitude = Double(position.longitude.rawValue) * 1e-7
  }

  var position: GeographicPosition { GeographicPosition(latitude: latitude, longitude: longitude) }

  private var longitudeDegree: Double { Self.degree * max(0.001, cos(latitude * .pi / 180)) }

  /// Returns the distance in metres and the bearing in degrees from north to east, 0 to 360.
  func vector(to other: FlatPosition) -> (distance: Double, bearing: Double) {
    let north = (other.latitude - latitude) * Self.degree
    let east = (other.longitude - longitude) * longitudeDegree
    let bearing = atan2(east, north) * 180 / .pi
    return ((north * north + east * east).squareRoot(), bearing < 0 ? bearing + 360 : bearing)
  }

  /// Moves the position by a distance in metres in a direction in degrees. At the poles and at ±180° it stops.
  mutating func move(_ distance: Double, towards bearing: Double) {
    let angle = bearing * .pi / 180
    longitude = min(max(longitude + distance * sin(angle) / longitudeDegree, -180), 180)
    latitude = min(max(latitude + distance * cos(angle) / Self.degree, -90), 90)
  }
}
