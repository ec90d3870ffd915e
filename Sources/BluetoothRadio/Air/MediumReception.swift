import BluetoothWire

/// Reception: the detection of packets and the decoding of their bits.
///
/// The *cost* of a part of a packet is −log₂ of the probability that all its bits are received correctly. The costs of
/// parts add up, and one random number decides if all bits are correct (see `Bits`).
extension Medium {
  /// The margin for negligible interference: a signal 20 dB below the noise raises the sum by less than 0.05 dB. The
  /// same holds for a signal 20 dB below the weakest interference that causes bit errors.
  static let negligible = Decibel(20)
  /// The ratio of signal to interference above which no bit error occurs.
  private static let harmless = Decibel(ErrorRates.last)

  /// Returns the level, dBm, of a transmission that begins now at a receiver that can lock onto it; nil if noise or
  /// interference is at least as strong. In that case, fewer than one access address in 90,000 would be detected.
  mutating func detectableLevel(at radio: Int, of transmission: Int, at now: Instant) -> Decibel? {
    let modulation = transmissions.all[transmission].modulation.accessAddressPart.modulation
    let noise = radios[radio].properties.noise(modulation)
    let receiver = self.receiver(radio, on: transmissions.all[transmission].channel, modulation, at: now)
    let level = transmissions.level(of: transmission, at: receiver, &propagation)
    guard level > noise else { return nil }
    if transmissions.onAir.count == 1 && sources.isEmpty { return level }
    // Co-channel transmissions first: if one of them is too strong, as is usual, the other channels need no check.
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

  /// Returns true if everything after the access address is received without bit errors.
  mutating func decodes(_ receiver: Int, transmission: Int, level: Decibel) -> Bool {
    let modulation = transmissions.all[transmission].modulation
    let pdu = modulation.pduPart(payloadOctets: Int(transmissions.all[transmission].payloadOctets))
    var cost = cost(of: pdu, transmission: transmission, level: level, at: receiver)
    if let coding = modulation.codingPart {
      cost += self.cost(of: coding, transmission: transmission, level: level, at: receiver)
    }
    return arrive(cost, transmission: transmission, at: receiver, part: 1)
  }

  /// Decides if all bits of a total `cost` are correct. `part` distinguishes the two decisions about a packet: 0 for
  /// the access address, 1 for the rest.
  private func arrive(_ cost: UInt64, transmission: Int, at receiver: Int, part: UInt64) -> Bool {
    guard cost > 0 else { return true }
    guard cost < Bits.hopeless else { return false }
    let draw = random.draw(
      sender: transmissions.all[transmission].radio, receiver: receiver, start: transmissions.all[transmission].start,
      part: part)
    return Bits.arrive(cost: cost, draw: draw)
  }

  /// Returns the cost of a part at a receiver, in units of 2⁻⁴⁰.
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
    // The interference is constant between the starts and ends of interfering transmissions, so the cost is summed over
    // these intervals.
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

  /// Returns the power of the receiver's noise or, for a strong signal, of its distortion if that is higher, dBm. The
  /// distortion is of the third order: it rises by 3 dB per dB of the signal. At the maximum input level it causes the
  /// bit error rate that the noise causes at the sensitivity, 0.1 %.
  private func unavoidable(_ modulation: Modulation, level: Decibel, at receiver: Int) -> Decibel {
    let noise = radios[receiver].properties.noise(modulation)
    let excess = level - radios[receiver].properties.maximumInputLevel
    // At 10 dB below the maximum input level, the distortion is 30.9 dB below the signal: it causes no bit error.
    guard excess > Decibel(-10) else { return noise }
    let distortion = level - RadioProperties.ratioAtSensitivity + excess + excess
    return max(noise, distortion)
  }

  /// Appends to `interferers` the interference sources that are stronger than `floor` (dBm), one entry for each phase
  /// in which a source transmits.
  private mutating func gatherSources(
    at receiver: Receiver, from: Instant, until: Instant, above floor: Decibel
  ) {
    for source in sources.indices {
      let level =
        sources[source].power + receiver.antennaGain
        // Sources have the negative indices −1, −2, …; radios have the indices from 0.
        - propagation.loss(
          from: -1 - Int32(truncatingIfNeeded: source), at: sources[source].position, to: receiver.radio,
          at: receiver.position)
      guard level > floor else { continue }
      let seed = random.seed(ofSource: source)
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
