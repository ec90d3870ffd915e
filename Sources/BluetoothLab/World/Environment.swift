import BluetoothRadio
import BluetoothWire

/// The path loss model of a world: `reference + 10 · exponent · log₁₀ d + margin` decibels, with d in metres, plus a
/// shadowing for each pair of devices that the world's seed determines.
public struct Environment: Hashable, Sendable, Codable {
  /// The path loss at one metre, in decibels.
  public var reference: Double
  /// The path loss exponent: 2 in free space, up to 4 indoors.
  public var exponent: Double
  /// The additional loss by walls, bodies and fading, in decibels.
  public var margin: Double
  /// The standard deviation of the shadowing, in decibels.
  public var shadowing: Double

  /// Creates an environment with these parameters.
  public init(reference: Double = 40, exponent: Double = 2.5, margin: Double = 0, shadowing: Double = 0) {
    self.reference = reference
    self.exponent = exponent
    self.margin = margin
    self.shadowing = shadowing
  }

  /// An unobstructed space: a range of 251 m with +10 dBm and of 15.8 m with −20 dBm. The default of a world.
  public static let free = Environment()
  /// Outdoors with line of sight and a fading margin: a range of 50 m with +10 dBm.
  public static let lineOfSight = Environment(margin: 17.5)
  /// Indoors among walls, furniture and people: a range of 30 m with +10 dBm.
  public static let office = Environment(margin: 23)

  var model: PathLossModel {
    PathLossModel(
      reference: Decibel(rounding: reference),
      exponent: Int((min(max(exponent.isNaN ? 2.5 : exponent, 0), 10) * 100).rounded()),
      margin: Decibel(rounding: margin), shadowing: Decibel(rounding: shadowing))
  }
}

extension World {
  /// Sets the path loss model from now on.
  public func setEnvironment(_ environment: Environment) {
    let model = environment.model
    requestQueue.perform { $0.pathLoss = model }
  }

  /// Sets the path loss between two devices, in decibels, in both directions and independent of their positions; nil
  /// restores the path loss of the environment.
  public func setLoss(_ loss: Double?, between first: RadioDevice, and second: RadioDevice) {
    let (one, other) = (first.radio, second.radio)
    let decibel = loss.map { Decibel(rounding: $0) }
    requestQueue.perform { $0.setLoss(decibel, between: one, and: other) }
  }

  /// Returns the level in dBm at `receiver` of a transmission by `sender` with `power` in dBm. Call this method while
  /// the world is not running, or in one of its callbacks, and after it has run once since the devices were added;
  /// before that, the level is −∞.
  public func level(of power: Double = 0, from sender: RadioDevice, at receiver: RadioDevice) -> Double {
    let (from, to) = (sender.radio, receiver.radio)
    return inspect { engine in
      engine.device(from) == nil || engine.device(to) == nil
        ? -.infinity : engine.level(of: Decibel(rounding: power), from: from, at: to).value
    }
  }
}

/// A position that a device reaches at a given time.
public struct Waypoint: Hashable, Sendable, Codable {
  /// The world's radio time.
  public var time: Duration
  /// The position at that time.
  public var position: Position

  /// Creates a waypoint at the world's radio time `time`.
  public init(at time: Duration, _ position: Position) {
    self.time = time
    self.position = position
  }
}

extension RadioDevice {
  /// Moves the device at constant speed from each waypoint to the next. The device is at the first waypoint before that
  /// waypoint's time, and at the last one after its time. An empty path ends the movement: the device returns at once
  /// to the position that it had before.
  public func move(along path: [Waypoint]) {
    let radio = radio
    let points = path.map { MovementPath.Point(Instant.zero + TimeSpan($0.time), $0.position.grid) }
    world.requestQueue.perform { engine in engine.move(radio, along: MovementPath(points)) }
  }
}
