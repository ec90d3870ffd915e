import BluetoothWire

/// The path losses between all places of a world.
struct Propagation {
  var model = PathLossModel() { didSet { losses.removeAll() } }
  /// The fixed losses, which replace the model's loss between two radios, by `key`.
  private var givenLosses: [UInt64: Decibel] = [:]
  /// The directional losses of antennas, by the index of their radio. Antennas that are not listed have the same gain in
  /// all directions.
  private var directionalLosses: [Int32: DirectionalLoss] = [:]
  var losses = LossCache()
  private let random: ChannelRandom

  init(random: ChannelRandom) { self.random = random }

  /// Sets a fixed path loss for a pair of radios, in both directions and independent of their positions; nil restores
  /// the model's loss.
  mutating func setLoss(_ loss: Decibel?, between one: RadioID, and other: RadioID) {
    givenLosses[Self.key(Int32(one.index), Int32(other.index))] = loss
    losses.removeAll()
  }

  /// Sets the directional loss of a radio's antenna; nil: the same gain in all directions. The radio needs a new place
  /// number then.
  mutating func setDirectionalLoss(_ loss: DirectionalLoss?, of radio: RadioID) {
    directionalLosses[Int32(radio.index)] = loss
  }

  /// Returns the path loss between two radios or interference sources at these positions, in decibels, with the
  /// directional losses of both antennas. A fixed loss of the pair replaces all of it.
  @inline(__always)
  func loss(from sender: Int32, at origin: GridPosition, to receiver: Int32, at place: GridPosition) -> Decibel {
    let key = Self.key(sender, receiver)
    if !givenLosses.isEmpty, let loss = givenLosses[key] { return loss }
    let loss = distanceLoss(key, from: origin, to: place)
    guard !directionalLosses.isEmpty else { return loss }
    return loss + directionalLoss(of: sender, at: origin, towards: place)
      + directionalLoss(of: receiver, at: place, towards: origin)
  }

  /// Returns the model's loss without antennas, with the shadowing of the pair.
  @inline(__always)
  private func distanceLoss(_ key: UInt64, from origin: GridPosition, to place: GridPosition) -> Decibel {
    let loss = model.loss(squaredDistance: origin.squaredDistance(to: place))
    guard model.shadowing > Decibel(0) else { return loss }
    return loss + model.shadow(draw: random.draw(pair: key))
  }

  private func directionalLoss(of radio: Int32, at origin: GridPosition, towards place: GridPosition) -> Decibel {
    directionalLosses[radio]?.loss(from: origin, to: place) ?? Decibel(0)
  }

  /// Returns a loss that no path from `origin` to a place within `radius` millimetres around `place` falls below. With
  /// a radius above 0, it leaves out the directional losses of the antennas, because the directions are not known.
  func leastLoss(
    from sender: Int32, at origin: GridPosition, to receiver: Int32, at place: GridPosition, within radius: Int64
  ) -> Decibel {
    guard radius > 0 else { return loss(from: sender, at: origin, to: receiver, at: place) }
    let key = Self.key(sender, receiver)
    if !givenLosses.isEmpty, let loss = givenLosses[key] { return loss }
    let distance = max(0, origin.distance(to: place) - 1 - radius)
    return distanceLoss(
      key, from: origin, to: GridPosition(x: origin.x + distance, y: origin.y, z: origin.z))
  }

  /// Returns the key of a pair, the same for both orders.
  private static func key(_ one: Int32, _ other: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: min(one, other))) << 32 | UInt64(UInt32(bitPattern: max(one, other)))
  }
}
