import BluetoothWire

/// A listening radio, with the data that determine the level of every transmission at it.
struct Receiver {
  let radio: Int32
  let channel: RadioChannel
  let modulation: Modulation
  let antennaGain: Decibel
  let place: PlaceNumber
  let position: GridPosition

  /// Returns the level, at the antenna, of the transmission at index `transmission`.
  @inline(__always)
  func level(of transmission: Int, in transmissions: Span<Transmission>, _ propagation: inout Propagation) -> Decibel {
    transmissions[transmission].power + antennaGain - loss(of: transmission, in: transmissions, &propagation)
  }

  /// Returns the level of the transmission after the receiver's selectivity filter: its interference on the receiver's
  /// channel, dBm.
  @inline(__always)
  func filteredLevel(of transmission: Int, in transmissions: Span<Transmission>, _ propagation: inout Propagation)
    -> Decibel
  {
    level(of: transmission, in: transmissions, &propagation)
      - Selectivity.rejection(
        channels: abs(Int32(transmissions[transmission].channel.number) - Int32(channel.number)), modulation)
  }

  @inline(__always)
  private func loss(of transmission: Int, in transmissions: Span<Transmission>, _ propagation: inout Propagation)
    -> Decibel
  {
    if let known = propagation.losses.loss(from: transmissions[transmission].place, to: place) { return known }
    return workOutLoss(of: transmission, in: transmissions, &propagation)
  }

  @inline(never)
  private func workOutLoss(of transmission: Int, in transmissions: Span<Transmission>, _ propagation: inout Propagation)
    -> Decibel
  {
    let loss = propagation.loss(
      from: transmissions[transmission].radio, at: transmissions[transmission].position, to: radio, at: position)
    propagation.losses.set(loss, from: transmissions[transmission].place, to: place)
    return loss
  }
}

/// An interfering signal, with its power after the receiver's selectivity.
struct Interferer {
  let start: Instant
  let end: Instant
  let power: LinearPower
}

/// Levels and interference at a receiver.
extension Transmissions {
  @inline(__always)
  func level(of transmission: Int, at receiver: borrowing Receiver, _ propagation: inout Propagation) -> Decibel {
    receiver.level(of: transmission, in: all.span, &propagation)
  }

  /// Returns the total interference power at `now` from the other transmissions on the air, or nil if one of them is at
  /// least as strong as `level`. Negligible transmissions (see `Medium.negligible`) are left out.
  ///
  /// - Parameters:
  ///   - transmission: the index of the wanted transmission.
  ///   - sharingChannel: true to sum over the transmissions on the receiver's channel, false to sum over those on other
  ///     channels.
  ///   - level: the level of the wanted transmission, dBm.
  @inline(__always)
  func others(
    than transmission: Int, sharingChannel: Bool, _ level: Decibel, at receiver: borrowing Receiver, _ now: Instant,
    _ propagation: inout Propagation
  ) -> LinearPower? {
    var result = LinearPower.none
    let all = all.span
    let onAir = onAir.span
    let first = firstNumber
    for place in onAir.indices where (onAir[place].channel == receiver.channel) == sharingChannel {
      let other = Int(truncatingIfNeeded: onAir[place].number &- first)
      guard all[other].end > now, other != transmission, all[other].radio != receiver.radio else { continue }
      let filteredLevel = receiver.filteredLevel(of: other, in: all, &propagation)
      if filteredLevel >= level { return nil }
      if filteredLevel > level - Medium.negligible { result += LinearPower(filteredLevel) }
    }
    return result
  }

  /// Appends to `interferers` all transmissions except `transmission` that overlap the time from `from` to `until` and
  /// are stronger than `floor` (dBm, after the selectivity filter).
  @inline(__always)
  func gather(
    into interferers: inout [Interferer], besides transmission: Int, from: Instant, until: Instant,
    at receiver: borrowing Receiver, above floor: Decibel, _ propagation: inout Propagation
  ) {
    let all = all.span
    for other in indices {
      guard all[other].end > from, all[other].start < until, other != transmission, all[other].radio != receiver.radio
      else { continue }
      let filteredLevel = receiver.filteredLevel(of: other, in: all, &propagation)
      guard filteredLevel > floor else { continue }
      interferers.append(Interferer(start: all[other].start, end: all[other].end, power: LinearPower(filteredLevel)))
    }
  }
}
