import BluetoothWire

// Access to the positions and the radio properties of devices, for the owner of the world.

extension WorldEngine {
  /// The radio properties of a device, with its current position. Setting another position ends a movement.
  package subscript(radio: RadioID) -> RadioProperties {
    get { medium.properties(of: radio, at: now) }
    set {
      run(radio.index)
      medium.setProperties(newValue, of: radio, at: now)
      placeChanged(of: radio.index)
    }
  }

  /// Moves the radio along `path`. nil ends the movement: the radio returns to the position that was last set through
  /// the subscript, usually its position before `path`.
  package func move(_ radio: RadioID, along path: MovementPath?) {
    run(radio.index)
    medium.move(radio, along: path)
    placeChanged(of: radio.index)
  }

  /// Sets the directional loss of a radio's antenna; nil: the same gain in all directions.
  package func setDirectionalLoss(_ loss: DirectionalLoss?, of radio: RadioID) {
    run(radio.index)
    medium.setDirectionalLoss(loss, of: radio)
    placeChanged(of: radio.index)
  }

  /// The path loss model.
  package var pathLoss: PathLossModel {
    get { medium.propagation.model }
    set {
      runAll()
      medium.propagation.model = newValue
    }
  }

  /// Sets a fixed path loss between two radios, in both directions and independent of their positions; nil restores the
  /// model's loss.
  package func setLoss(_ loss: Decibel?, between one: RadioID, and other: RadioID) {
    runAll()
    medium.propagation.setLoss(loss, between: one, and: other)
  }

  /// The sources of interference besides radios. The activity times of a source follow from its index in this list and
  /// from the world's seed.
  package var interference: [InterferenceSource] {
    get { medium.sources }
    set { medium.sources = newValue }
  }

  /// Returns the level, dBm, at which `receiver` would receive a packet that `sender` transmits now at `power` (dBm,
  /// without antenna gain).
  package func level(of power: Decibel, from sender: RadioID, at receiver: RadioID) -> Decibel {
    let (from, to) = (self[sender], self[receiver])
    return power + from.antennaGain + to.antennaGain
      - medium.propagation.loss(
        from: Int32(truncatingIfNeeded: sender.index), at: from.position,
        to: Int32(truncatingIfNeeded: receiver.index), at: to.position)
  }

  /// Returns the statistics of the radio until now.
  package func statistics(of radio: RadioID) -> RadioStatistics {
    run(radio.index)
    return medium.radios[radio.index].meter.statistics(at: now)
  }
}

extension Medium {
  /// Returns the RSSI, dBm, that the receiver reports for a true level.
  func reading(of level: Decibel, at radio: RadioID) -> Decibel {
    radios[radio.index].properties.signalStrength.reading(of: level)
  }
}
