import BluetoothRadio

/// A position in space, in metres.
public struct Position: Hashable, Sendable, Codable {
  /// The coordinate on the first axis, in metres.
  public var x: Double
  /// The coordinate on the second axis, in metres.
  public var y: Double
  /// The coordinate on the third axis, the height, in metres.
  public var z: Double

  /// Creates a position from coordinates in metres; coordinates beyond ±1,000 km are clamped.
  public init(x: Double, y: Double = 0, z: Double = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The origin of the coordinates.
  public static let origin = Position(x: 0)

  var grid: GridPosition { GridPosition(metresX: x, y: y, z: z) }
}
