import BluetoothWire

/// Reception: detection of packets, and the bits that arrive.
extension Medium {
  /// The margin below which interference is ignored: a signal that is more than 20 dB below the noise, or below the
  /// level that would cost a bit, adds less than 0.05 dB.
  static let negligible = Decibel(20)
  /// The ratio of signal to interference above which no bit is ever lost.
  private static let harmless = Decibel(ErrorRates.last)

  /// Returns the level of the transmission at a receiver that could lock onto it; nil if noise or interference is at
  /// least as strong. In that case, fewer than one access address in 90,000 would be detected.
  mutating func detectableLevel(at radio: Int, of transmission: Int, at now: Instant) -> Decibel? {
    let modulation = transmissions.all[transmission].modulation.accessAddressPart.modulation
    let noise = radios[radio].properties.noise(modulation)
    let receiver = self.receiver(radio, on: transmissions.all[transmission].channel, modulation, at: now)
    let level = transmissions.level(of: transmission, at: receiver, &propagation)
    guard level > noise else { return nil }
    if transmissions.onAir.count == 1 && sources.isEmpty { return level }
    // Co-channel transmissions are checked first: most often they are the ones that are too strong, which saves the
    // check of all other channels.
    guard
      var others = transmissions.others(
        than: transmission, sharingChannel: true, level, at: receiver, now, &propagation),
      let apart = transmissions.others(
        than: transmission, sharingChannel: false, level, at: receiver, now, &propagation)
    else { return nil }
    others += apart
    if !sources.isEmpty {
      interferers.removeAll(keepingCapacity: true)
      gatherSources(at: receiver, from: now, until: now + .nanoseconds(1), above: level - Self.negligible)
      for interferer in interferers { others += interferer.power }
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

  /// Returns true if the receiver detects the access address of the transmission.
  mutating func detects(_ receiver: Int, transmission: Int, level: Decibel) -> Bool {
    let cost = cost(
      of: transmissions.all[transmission].modulation.accessAddressPart, transmission: transmission, level: level,
      at: receiver)
    return arrive(cost, transmission: transmission, at: receiver, part: 0)
  }

  /// Returns true if everything after the access address arrives without error.
  mutating func decodes(_ receiver: Int, transmission: Int, level: Decibel) -> Bool {
    let modulation = transmissions.all[transmission].modulation
    let pdu = modulation.pduPart(payloadOctets: Int(transmissions.all[transmission].payloadOctets))
    var cost = cost(of: pdu, transmission: transmission, level: level, at: receiver)
    if let coding = modulation.codingPart {
      cost += self.cost(of: coding, transmission: transmission, level: level, at: receiver)
    }
    return arrive(cost, transmission: transmission, at: receiver, part: 1)
  }

  private func arrive(_ cost: UInt64, transmission: Int, at receiver: Int, part: UInt64) -> Bool {
    guard cost > 0 else { return true }
    guard cost < Bits.hopeless else { return false }
    let draw = chance.draw(
      sender: transmissions.all[transmission].radio, receiver: receiver, start: transmissions.all[transmission].start,
      part: part)
    return Bits.arrive(cost: cost, draw: draw)
  }

  /// Returns the cost of the bits of a part at a receiver: −log₂ of the probability that all of them arrive.
  private mutating func cost(of part: PacketPart, transmission: Int, level: Decibel, at receiver: Int) -> UInt64 {
    let from = transmissions.all[transmission].start + part.offset
    let until = from + part.bitTime * part.bits
    let noise = radios[receiver].properties.noise(part.modulation)
    let quiet = unavoidable(part.modulation, level: level, at: receiver)
    if transmissions.indices.count == 1 && sources.isEmpty { return Bits.cost(at: level - quiet) * UInt64(part.bits) }
    if !interferers.isEmpty { interferers.removeAll(keepingCapacity: true) }
    let receiver = self.receiver(receiver, on: transmissions.all[transmission].channel, part.modulation, at: from)
    let floor = max(noise, level - Self.harmless) - Self.negligible
    transmissions.gather(
      into: &interferers, besides: transmission, from: from, until: until, at: receiver, above: floor, &propagation)
    if !sources.isEmpty { gatherSources(at: receiver, from: from, until: until, above: floor) }
    guard !interferers.isEmpty else { return Bits.cost(at: level - quiet) * UInt64(part.bits) }
    // The interference is constant between the starts and ends of the interfering transmissions, so the cost is
    // computed piecewise.
    let unavoidable = LinearPower(quiet)
    var result: UInt64 = 0
    var bit: Int64 = 0
    while bit < part.bits, result < Bits.hopeless {
      let at = from + part.bitTime * bit
      var sum = unavoidable
      var changes = until
      for interferer in interferers {
        if interferer.start > at {
          changes = min(changes, interferer.start)
        } else if interferer.end > at {
          sum += interferer.power
          changes = min(changes, interferer.end)
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

  /// Returns the receiver's noise, or its distortion if a signal is so strong that distortion exceeds the noise. The
  /// distortion is of the third order, and at the maximum input level does as much harm as the noise does at the
  /// sensitivity.
  private func unavoidable(_ modulation: Modulation, level: Decibel, at receiver: Int) -> Decibel {
    let noise = radios[receiver].properties.noise(modulation)
    let excess = level - radios[receiver].properties.maximumInputLevel
    guard excess > Decibel(-10) else { return noise }
    let distortion = level - RadioProperties.ratioAtSensitivity + excess + excess
    return max(noise, distortion)
  }

  /// Appends to `interferers` the interference sources that are stronger than `floor`, one entry for each phase.
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
          let filteredLevel =
            level - sources[source].rejection(on: receiver.channel, receiver.modulation, frequency: frequency)
          if filteredLevel > floor {
            interferers.append(Interferer(start: now, end: phase.until, power: LinearPower(filteredLevel)))
          }
        }
        now = phase.until
      }
    }
  }
}
