import BluetoothWire

/// A listening radio, with the data that determine the level of every transmission at it.
struct Receiver {
  let radio: Int32
  let channel: RadioChannel
  let modulation: Modulation
  let antennaGain: Decibel
  let place: PlaceNumber
  let position: GridPosition

  /// Returns the level, at the antenna, of the transmission at index `burst`.
  @inline(__always)
  func level(of burst: Int, in bursts: Span<Burst>, _ propagation: inout Propagation) -> Decibel {
    bursts[burst].power + antennaGain - loss(of: burst, in: bursts, &propagation)
  }

  /// Returns the level of the transmission after the receiver's selectivity: how much it counts on the receiver's
  /// channel.
  @inline(__always)
  func rest(of burst: Int, in bursts: Span<Burst>, _ propagation: inout Propagation) -> Decibel {
    level(of: burst, in: bursts, &propagation)
      - Selectivity.rejection(
        channels: abs(Int32(bursts[burst].channel.number) - Int32(channel.number)), modulation)
  }

  @inline(__always)
  private func loss(of burst: Int, in bursts: Span<Burst>, _ propagation: inout Propagation) -> Decibel {
    if let known = propagation.losses.loss(from: bursts[burst].place, to: place) { return known }
    return workOutLoss(of: burst, in: bursts, &propagation)
  }

  @inline(never)
  private func workOutLoss(of burst: Int, in bursts: Span<Burst>, _ propagation: inout Propagation) -> Decibel {
    let loss = propagation.loss(
      from: bursts[burst].radio, at: bursts[burst].position, to: radio, at: position)
    propagation.losses.set(loss, from: bursts[burst].place, to: place)
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
extension Bursts {
  @inline(__always)
  func level(of burst: Int, at receiver: borrowing Receiver, _ propagation: inout Propagation) -> Decibel {
    receiver.level(of: burst, in: all.span, &propagation)
  }

  /// Returns the total power at `now` of the transmissions besides `burst`: of those on the receiver's channel, or of
  /// those on other channels if `sharingChannel` is false. Transmissions that are negligible beside `level` are left
  /// out. Returns nil if one of them is not weaker than `level`.
  @inline(__always)
  func others(
    than burst: Int, sharingChannel: Bool, _ level: Decibel, at receiver: borrowing Receiver, _ now: Instant,
    _ propagation: inout Propagation
  ) -> LinearPower? {
    var result = LinearPower.none
    let all = all.span
    let onAir = onAir.span
    let first = firstNumber
    for place in onAir.indices where (onAir[place].channel == receiver.channel) == sharingChannel {
      let other = Int(truncatingIfNeeded: onAir[place].number &- first)
      guard all[other].end > now, other != burst, all[other].radio != receiver.radio else { continue }
      let rest = receiver.rest(of: other, in: all, &propagation)
      if rest >= level { return nil }
      if rest > level - Medium.negligible { result += LinearPower(rest) }
    }
    return result
  }

  /// Appends to `interferers` all transmissions besides `burst` that overlap the time and are stronger than `floor`.
  @inline(__always)
  func gather(
    into interferers: inout [Interferer], besides burst: Int, from: Instant, until: Instant,
    at receiver: borrowing Receiver, above floor: Decibel, _ propagation: inout Propagation
  ) {
    let all = all.span
    for other in indices {
      guard all[other].end > from, all[other].start < until, other != burst, all[other].radio != receiver.radio
      else { continue }
      let rest = receiver.rest(of: other, in: all, &propagation)
      guard rest > floor else { continue }
      interferers.append(Interferer(start: all[other].start, end: all[other].end, power: LinearPower(rest)))
    }
  }
}
