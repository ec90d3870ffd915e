import BluetoothWire

/// The path losses between all places of a world.
struct Propagation {
  var model = PathLossModel() { didSet { losses.removeAll() } }
  /// The fixed losses, which replace the model's loss between two radios, by `key`.
  private var givenLosses: [UInt64: Decibel] = [:]
  var losses = LossCache()
  private let random: ChannelRandom

  init(random: ChannelRandom) { self.random = random }

  /// Sets a fixed path loss for a pair of radios, in both directions and independent of their positions; nil restores
  /// the model's loss.
  mutating func setLoss(_ loss: Decibel?, between one: RadioID, and other: RadioID) {
    givenLosses[Self.key(Int32(one.index), Int32(other.index))] = loss
    losses.removeAll()
  }

  /// Returns the path loss between two radios or interference sources at these positions, in decibels.
  @inline(__always)
  func loss(from sender: Int32, at origin: GridPosition, to receiver: Int32, at place: GridPosition) -> Decibel {
    let key = Self.key(sender, receiver)
    if !givenLosses.isEmpty, let loss = givenLosses[key] { return loss }
    let loss = model.loss(squaredDistance: origin.squaredDistance(to: place))
    guard model.shadowing > Decibel(0) else { return loss }
    return loss + model.shadow(draw: random.draw(pair: key))
  }

  /// Returns the smallest path loss from `origin` to any place within `radius` millimetres around `place`.
  func leastLoss(
    from sender: Int32, at origin: GridPosition, to receiver: Int32, at place: GridPosition, within radius: Int64
  ) -> Decibel {
    guard radius > 0 else { return loss(from: sender, at: origin, to: receiver, at: place) }
    let distance = max(0, origin.distance(to: place) - 1 - radius)
    return loss(
      from: sender, at: origin, to: receiver, at: GridPosition(x: origin.x + distance, y: origin.y, z: origin.z))
  }

  /// Returns the key of a pair, the same for both orders.
  private static func key(_ one: Int32, _ other: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: min(one, other))) << 32 | UInt64(UInt32(bitPattern: max(one, other)))
  }
}
