import BluetoothWire

// A world's places and radios, as its owner sees and sets them.

extension WorldEngine {
  /// The place and the receiver of a device; the place is that of now. Setting another place ends a movement.
  package subscript(radio: RadioID) -> RadioProperties {
    get { medium.properties(of: radio, at: now) }
    set {
      run(radio.index)
      medium.setProperties(newValue, of: radio, at: now)
      placeChanged(of: radio.index)
    }
  }

  /// Has the radio move along `path`; nil: it stays where it was put last.
  package func move(_ radio: RadioID, along path: MovementPath?) {
    run(radio.index)
    medium.move(radio, along: path)
    placeChanged(of: radio.index)
  }

  /// How signals weaken on their way.
  package var pathLoss: PathLossModel {
    get { medium.propagation.model }
    set {
      runAll()
      medium.propagation.model = newValue
    }
  }

  /// Sets what the way between two radios loses, in both directions, wherever they are; nil: what the model says.
  package func setLoss(_ loss: Decibel?, between one: RadioID, and other: RadioID) {
    runAll()
    medium.propagation.setLoss(loss, between: one, and: other)
  }

  /// What disturbs the band besides radios. A source's times hang on its place in this list, and on the world's seed.
  package var interference: [InterferenceSource] {
    get { medium.sources }
    set { medium.sources = newValue }
  }

  /// The level, dBm, at which `receiver` has what `sender` sends now at `power`.
  package func level(of power: Decibel, from sender: RadioID, at receiver: RadioID) -> Decibel {
    let (from, to) = (self[sender], self[receiver])
    return power + from.antennaGain + to.antennaGain
      - medium.propagation.loss(
        from: Int32(truncatingIfNeeded: sender.index), at: from.position,
        to: Int32(truncatingIfNeeded: receiver.index), at: to.position)
  }

  /// What the radio has done until now.
  package func statistics(of radio: RadioID) -> RadioStatistics {
    run(radio.index)
    return medium.radios[radio.index].meter.statistics(at: now)
  }
}

extension Medium {
  /// What the receiver tells of a level.
  func reading(of level: Decibel, at radio: RadioID) -> Decibel {
    radios[radio.index].properties.signalStrength.reading(of: level)
  }
}
