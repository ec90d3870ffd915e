import BluetoothRadio

/// A place in space, in metres.
public struct Position: Hashable, Sendable, Codable {
  /// Metres along the first axis.
  public var x: Double
  /// Metres along the second axis.
  public var y: Double
  /// Metres along the third axis: the height.
  public var z: Double

  /// The place with these coordinates, in metres; beyond ±1,000 km they are held there.
  public init(x: Double, y: Double = 0, z: Double = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Where all axes meet.
  public static let origin = Position(x: 0)

  var grid: GridPosition { GridPosition(metresX: x, y: y, z: z) }
}
