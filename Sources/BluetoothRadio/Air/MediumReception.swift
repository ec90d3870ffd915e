import BluetoothWire

/// Which bits arrive.
extension Medium {
  /// What is weaker by more than this than the noise, or than what would cost a bit, adds less than 0.05 dB and is left out.
  static let negligible = Decibel(20)
  /// Above this ratio no bit is ever lost.
  private static let harmless = Decibel(ErrorRates.last)

  /// The burst's level at a receiver that could make it out now; nil: it is drowned by noise or by others. There not one
  /// access address in 90,000 would be found.
  mutating func levelAbove(everythingElseAt radio: Int, of burst: Int, at now: Instant) -> Decibel? {
    let modulation = bursts.all[burst].modulation.accessAddressPart.modulation
    let noise = radios[radio].properties.noise(modulation)
    let receiver = self.receiver(radio, on: bursts.all[burst].channel, modulation, at: now)
    let level = bursts.level(of: burst, at: receiver, &propagation)
    guard level > noise else { return nil }
    if bursts.onAir.count == 1 && sources.isEmpty { return level }
    // What is on the same channel most often drowns it, and so saves looking at all else.
    guard
      var others = bursts.others(than: burst, sharingChannel: true, level, at: receiver, now, &propagation),
      let apart = bursts.others(than: burst, sharingChannel: false, level, at: receiver, now, &propagation)
    else { return nil }
    others += apart
    if !sources.isEmpty {
      disturbers.removeAll(keepingCapacity: true)
      gatherSources(at: receiver, from: now, until: now + .nanoseconds(1), above: level - Self.negligible)
      for disturber in disturbers { others += disturber.power }
    }
    guard !others.isNone else { return level }
    others += LinearPower(noise)
    return level > others.level ? level : nil
  }

  private func receiver(
    _ radio: Int, on channel: RadioChannel, _ modulation: Modulation, at now: Instant
  ) -> Receiver {
    Receiver(
      radio: Int32(truncatingIfNeeded: radio), channel: channel, modulation: modulation,
      antennaGain: radios[radio].properties.antennaGain, place: radios[radio].place,
      position: position(of: radio, at: now))
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
    let noise = radios[receiver].properties.noise(part.modulation)
    let quiet = unavoidable(part.modulation, level: level, at: receiver)
    if bursts.indices.count == 1 && sources.isEmpty { return Bits.cost(at: level - quiet) * UInt64(part.bits) }
    if !disturbers.isEmpty { disturbers.removeAll(keepingCapacity: true) }
    let receiver = self.receiver(receiver, on: bursts.all[burst].channel, part.modulation, at: from)
    let floor = max(noise, level - Self.harmless) - Self.negligible
    bursts.gather(
      into: &disturbers, besides: burst, from: from, until: until, at: receiver, above: floor, &propagation)
    if !sources.isEmpty { gatherSources(at: receiver, from: from, until: until, above: floor) }
    guard !disturbers.isEmpty else { return Bits.cost(at: level - quiet) * UInt64(part.bits) }
    // Bit by bit; the disturbance only changes where something begins or ends.
    let unavoidable = LinearPower(quiet)
    var result: UInt64 = 0
    var bit: Int64 = 0
    while bit < part.bits, result < Bits.hopeless {
      let at = from + part.bitTime * bit
      var sum = unavoidable
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

  /// Adds to `disturbers` what the sources of interference do: one for each of their phases that counts.
  private mutating func gatherSources(
    at receiver: Receiver, from: Instant, until: Instant, above floor: Decibel
  ) {
    for source in sources.indices {
      let level =
        sources[source].power + receiver.antennaGain
        - propagation.loss(
          from: -1 - Int32(truncatingIfNeeded: source), at: sources[source].position, to: receiver.radio,
          at: receiver.position)
      guard level > floor else { continue }
      let seed = chance.seed(ofSource: source)
      var now = from
      while now < until {
        let phase = sources[source].phase(at: now, seed: seed)
        if let frequency = phase.frequency {
          let rest =
            level - sources[source].rejection(on: receiver.channel, receiver.modulation, frequency: frequency)
          if rest > floor { disturbers.append(Disturber(start: now, end: phase.until, power: LinearPower(rest))) }
        }
        now = phase.until
      }
    }
  }
}
