import BluetoothWire

/// Something on the air besides the packet that a receiver wants, as strong as it counts on the receiver's channel.
struct Disturber {
  let start: Instant
  let end: Instant
  let power: LinearPower
}

/// Which bits arrive.
extension Medium {
  /// What is weaker by more than this than the noise, or than what would cost a bit, adds less than 0.05 dB and is left out.
  static let negligible = Decibel(20)
  /// Above this ratio no bit is ever lost.
  private static let harmless = Decibel(ErrorRates.last)

  /// The burst's level at a receiver that could make it out now; nil: it is drowned by noise or by others. There not one
  /// access address in 90,000 would be found.
  mutating func levelAbove(everythingElseAt receiver: Int, of burst: Int, at now: Instant) -> Decibel? {
    let part = bursts.all[burst].modulation.accessAddressPart
    let noise = radios[receiver].properties.noise(part.modulation)
    let place = position(of: receiver, at: now)
    let level = level(of: burst, at: receiver, place)
    guard level > noise else { return nil }
    var others = LinearPower.none
    for other in bursts.indices where other != burst {
      guard bursts.all[other].end > now, bursts.all[other].radio != receiver else { continue }
      let rest = self.level(of: other, at: receiver, place) - rejection(of: other, at: burst, part.modulation)
      if rest >= level { return nil }
      if rest > level - Self.negligible { others += LinearPower(rest) }
    }
    if !sources.isEmpty {
      disturbers.removeAll(keepingCapacity: true)
      gatherSources(
        on: bursts.all[burst].channel, from: now, until: now + .nanoseconds(1), part.modulation, at: receiver, place,
        above: level - Self.negligible)
      for disturber in disturbers { others += disturber.power }
    }
    guard !others.isNone else { return level }
    others += LinearPower(noise)
    return level > others.level ? level : nil
  }

  /// Whether the receiver finds the burst's access address.
  mutating func finds(_ receiver: Int, burst: Int, level: Decibel) -> Bool {
    let cost = cost(of: bursts.all[burst].modulation.accessAddressPart, burst: burst, level: level, at: receiver)
    return arrive(cost, burst: burst, at: receiver, part: 0)
  }

  /// Whether everything behind the access address arrives.
  mutating func reads(_ receiver: Int, burst: Int, level: Decibel) -> Bool {
    let modulation = bursts.all[burst].modulation
    let pdu = modulation.pduPart(payloadOctets: Int(bursts.all[burst].payloadOctets))
    var cost = cost(of: pdu, burst: burst, level: level, at: receiver)
    if let coding = modulation.codingPart { cost += self.cost(of: coding, burst: burst, level: level, at: receiver) }
    return arrive(cost, burst: burst, at: receiver, part: 1)
  }

  private func arrive(_ cost: UInt64, burst: Int, at receiver: Int, part: UInt64) -> Bool {
    guard cost > 0 else { return true }
    guard cost < Bits.hopeless else { return false }
    let draw = chance.draw(
      sender: bursts.all[burst].radio, receiver: receiver, start: bursts.all[burst].start, part: part)
    return Bits.arrive(cost: cost, draw: draw)
  }

  /// What the bits of a part cost at a receiver: −log₂ of the probability that all arrive.
  private mutating func cost(of part: PacketPart, burst: Int, level: Decibel, at receiver: Int) -> UInt64 {
    let from = bursts.all[burst].start + part.offset
    let until = from + part.bitTime * part.bits
    let quiet = unavoidable(part.modulation, level: level, at: receiver)
    let place = position(of: receiver, at: from)
    gather(
      besides: burst, from: from, until: until, part.modulation, at: receiver, place,
      above: max(radios[receiver].properties.noise(part.modulation), level - Self.harmless) - Self.negligible)
    guard !disturbers.isEmpty else { return Bits.cost(at: level - quiet) * UInt64(part.bits) }
    // Bit by bit; the disturbance only changes where something begins or ends.
    let floor = LinearPower(quiet)
    var result: UInt64 = 0
    var bit: Int64 = 0
    while bit < part.bits, result < Bits.hopeless {
      let at = from + part.bitTime * bit
      var sum = floor
      var changes = until
      for disturber in disturbers {
        if disturber.start > at {
          changes = min(changes, disturber.start)
        } else if disturber.end > at {
          sum += disturber.power
          changes = min(changes, disturber.end)
        }
      }
      let span = (changes - from).nanoseconds
      let unit = part.bitTime.nanoseconds
      let next = max(bit + 1, min(part.bits, (span + unit - 1) / unit))
      result += Bits.cost(at: level - sum.level) * UInt64(next - bit)
      bit = next
    }
    return result
  }

  /// The receiver's noise, and what it makes itself of a signal that is too strong: distortion of the third order, which is
  /// as harmful at the maximum input level as the noise is at the sensitivity.
  private func unavoidable(_ modulation: Modulation, level: Decibel, at receiver: Int) -> Decibel {
    let noise = radios[receiver].properties.noise(modulation)
    let excess = level - radios[receiver].properties.maximumInputLevel
    guard excess > Decibel(-10) else { return noise }
    let distortion = level - RadioProperties.ratioAtSensitivity + excess + excess
    return max(noise, distortion)
  }

  @inline(__always)
  func level(of burst: Int, at receiver: Int, _ place: GridPosition) -> Decibel {
    bursts.all[burst].power + radios[receiver].properties.antennaGain
      - propagation.loss(
        from: bursts.all[burst].radio, at: bursts.all[burst].position, to: Int32(truncatingIfNeeded: receiver),
        at: place)
  }

  /// What the receiver of `burst` does not get of `other` because of its channel.
  @inline(__always)
  private func rejection(of other: Int, at burst: Int, _ modulation: Modulation) -> Decibel {
    Selectivity.rejection(
      atOffset: bursts.all[other].channel.megahertz - bursts.all[burst].channel.megahertz, modulation)
  }

  /// Fills `disturbers` with all that overlaps the time and is stronger than `floor` at the receiver of `burst`.
  private mutating func gather(
    besides burst: Int, from: Instant, until: Instant, _ modulation: Modulation, at receiver: Int,
    _ place: GridPosition, above floor: Decibel
  ) {
    disturbers.removeAll(keepingCapacity: true)
    for other in bursts.indices where other != burst {
      guard bursts.all[other].end > from, bursts.all[other].start < until, bursts.all[other].radio != receiver else {
        continue
      }
      let level = level(of: other, at: receiver, place) - rejection(of: other, at: burst, modulation)
      guard level > floor else { continue }
      disturbers.append(
        Disturber(start: bursts.all[other].start, end: bursts.all[other].end, power: LinearPower(level)))
    }
    guard !sources.isEmpty else { return }
    gatherSources(
      on: bursts.all[burst].channel, from: from, until: until, modulation, at: receiver, place, above: floor)
  }

  /// Adds to `disturbers` what the sources of interference do: one for each of their phases that counts.
  private mutating func gatherSources(
    on channel: RadioChannel, from: Instant, until: Instant, _ modulation: Modulation, at receiver: Int,
    _ place: GridPosition, above floor: Decibel
  ) {
    for source in sources.indices {
      let level =
        sources[source].power + radios[receiver].properties.antennaGain
        - propagation.loss(
          from: -1 - Int32(truncatingIfNeeded: source), at: sources[source].position,
          to: Int32(truncatingIfNeeded: receiver), at: place)
      guard level > floor else { continue }
      let seed = chance.seed(ofSource: source)
      var now = from
      while now < until {
        let phase = sources[source].phase(at: now, seed: seed)
        if let frequency = phase.frequency {
          let rest = level - sources[source].rejection(on: channel, modulation, frequency: frequency)
          if rest > floor { disturbers.append(Disturber(start: now, end: phase.until, power: LinearPower(rest))) }
        }
        now = phase.until
      }
    }
  }
}
