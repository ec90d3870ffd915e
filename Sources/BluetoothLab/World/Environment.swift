import BluetoothRadio
import BluetoothWire

/// How signals weaken on their way through a world: `reference + 10 · exponent · log₁₀ d + margin` decibels, d in metres, and
/// for each pair of devices a shadowing of their own, which the world's seed decides.
public struct Environment: Hashable, Sendable, Codable {
  /// Decibels over the first metre.
  public var reference: Double
  /// 2 in free space, up to 4 indoors.
  public var exponent: Double
  /// Decibels that walls, bodies and fading take away besides.
  public var margin: Double
  /// The standard deviation of the shadowing, decibels.
  public var shadowing: Double

  /// A place with these numbers.
  public init(reference: Double = 40, exponent: Double = 2.5, margin: Double = 0, shadowing: Double = 0) {
    self.reference = reference
    self.exponent = exponent
    self.margin = margin
    self.shadowing = shadowing
  }

  /// Nothing stands in the way: +10 dBm reach 251 m, −20 dBm 15.8 m. What a world begins with.
  public static let free = Environment()
  /// Outdoors, in sight of each other, with the margin that fading needs: +10 dBm reach 50 m.
  public static let lineOfSight = Environment(margin: 17.5)
  /// Among walls, furniture and people: +10 dBm reach 30 m.
  public static let office = Environment(margin: 23)

  var model: PathLossModel {
    PathLossModel(
      reference: Decibel(rounding: reference),
      exponent: Int((min(max(exponent.isNaN ? 2.5 : exponent, 0), 10) * 100).rounded()),
      margin: Decibel(rounding: margin), shadowing: Decibel(rounding: shadowing))
  }
}

extension World {
  /// Has signals weaken like this from now on.
  public func setEnvironment(_ environment: Environment) {
    let model = environment.model
    mailbox.perform { $0.pathLoss = model }
  }

  /// Sets what the way between two devices loses (decibels), in both directions and wherever they are; nil: what the
  /// environment says.
  public func setLoss(_ loss: Double?, between first: RadioDevice, and second: RadioDevice) {
    let (one, other) = (first.radio, second.radio)
    let decibel = loss.map { Decibel(rounding: $0) }
    mailbox.perform { $0.setLoss(decibel, between: one, and: other) }
  }

  /// The level (dBm) at which `receiver` hears what `sender` sends at `power` (dBm). To be asked while the world is not
  /// running, or in one of its callbacks, and after it has run once since the devices were added.
  public func level(of power: Double = 0, from sender: RadioDevice, at receiver: RadioDevice) -> Double {
    let (from, to) = (sender.radio, receiver.radio)
    return inspect { engine in
      engine.participant(from) == nil || engine.participant(to) == nil
        ? -.infinity : engine.level(of: Decibel(rounding: power), from: from, at: to).value
    }
  }
}

/// A point that a device passes on its way.
public struct Waypoint: Hashable, Sendable, Codable {
  /// The world's radio time.
  public var time: Duration
  /// Where it is then.
  public var position: Position

  /// The device is at `position` at the world's radio time `time`.
  public init(at time: Duration, _ position: Position) {
    self.time = time
    self.position = position
  }
}

extension RadioDevice {
  /// Has the device move evenly from each point to the next; before the first it stands there, after the last it stays. No
  /// points: it stays where it is.
  public func move(along path: [Waypoint]) {
    let radio = radio
    let points = path.map { MovementPath.Point(Instant.zero + TimeSpan($0.time), $0.position.grid) }
    mailbox { engine in engine.move(radio, along: MovementPath(points)) }
  }

  private func mailbox(_ operation: @escaping @Sendable (WorldEngine) -> Void) { world.mailbox.perform(operation) }
}
