import BluetoothWire

/// What is lost between any two places of a world.
struct Propagation {
  var model = PathLossModel()
  /// Of pairs whose loss does not follow the model.
  private var givenLosses: [UInt64: Decibel] = [:]
  private let chance: AirChance

  init(chance: AirChance) { self.chance = chance }

  /// Sets what the pair loses, in both directions, wherever they are; nil: as the model says.
  mutating func setLoss(_ loss: Decibel?, between one: RadioID, and other: RadioID) {
    givenLosses[Self.key(Int32(one.index), Int32(other.index))] = loss
  }

  @inline(__always)
  func loss(from sender: Int32, at origin: GridPosition, to receiver: Int32, at place: GridPosition) -> Decibel {
    let key = Self.key(sender, receiver)
    if !givenLosses.isEmpty, let loss = givenLosses[key] { return loss }
    let loss = model.loss(squaredDistance: origin.squaredDistance(to: place))
    guard model.shadowing > Decibel(0) else { return loss }
    return loss + model.shadow(draw: chance.draw(pair: key))
  }

  private static func key(_ one: Int32, _ other: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: min(one, other))) << 32 | UInt64(UInt32(bitPattern: max(one, other)))
  }
}
