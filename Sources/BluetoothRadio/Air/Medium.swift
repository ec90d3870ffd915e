import BluetoothWire

/// One radio on the air, by number.
package struct RadioID: Hashable, Sendable {
  /// The devices of a world are numbered from 0 on, in the order in which they were added.
  package let index: Int

  package init(index: Int) { self.index = index }
}

/// What a radio is, besides what it does at the moment.
package struct RadioProperties: Sendable {
  package var position: GridPosition
  /// The level at which one bit in a thousand is lost, dBm · Vol 6, Part A, 4.1. One for each modulation.
  package var sensitivity1M = Decibel(-90)
  package var sensitivity2M = Decibel(-87)
  package var sensitivityS8 = Decibel(-102)
  package var sensitivityS2 = Decibel(-95)

  package init(position: GridPosition) { self.position = position }

  package func sensitivity(_ modulation: Modulation) -> Decibel {
    switch modulation {
    case .le1M: sensitivity1M
    case .le2M: sensitivity2M
    case .codedS8: sensitivityS8
    case .codedS2: sensitivityS2
    }
  }
}

/// The simulated 2.4 GHz band: which radio hears which packet how well.
///
/// A reception succeeds or fails by its signal, the receiver's noise, other transmissions on its channel, and its length.
/// A receiver that is free locks onto the first packet with its access address that begins above its noise; whatever
/// begins later is interference for it.
struct Medium {
  /// A receiver's noise lies this far below its sensitivity: there one bit in a thousand is lost.
  private static let noiseBelowSensitivity = Decibel(steps: 2790)  // 10.9 dB

  private enum State {
    case idle
    case listening(Listening)
    case transmitting(on: RadioChannel)

    var isIdle: Bool { if case .idle = self { true } else { false } }
    var isTransmitting: Bool { if case .transmitting = self { true } else { false } }
  }

  private struct Listening {
    var channel: RadioChannel
    var phy: PHY
    var accessAddress: UInt32
    var crcInit: UInt32
    var until: Instant?
    var lock: Lock?
  }

  private struct Lock {
    var transmission: UInt64
    var level: Decibel
  }

  private var properties: [RadioProperties] = []
  private var states: [State] = []
  /// The radios that listen on each channel.
  private var listeners: [[RadioID]] = Array(repeating: [], count: 40)
  /// What is on each channel, and what was while something that is still there had begun.
  private var transmissions: [[TransmissionRecord]] = Array(repeating: [], count: 40)
  private var lastNumber: UInt64 = 0
  private var generator: SplitGenerator

  /// Who has transmissions fail; nil: nobody.
  var faults: (any AirFaults)?

  init(generator: SplitGenerator) { self.generator = generator }

  mutating func add(_ radio: RadioProperties) {
    properties.append(radio)
    states.append(.idle)
  }

  subscript(radio: RadioID) -> RadioProperties {
    get { properties[radio.index] }
    set { properties[radio.index] = newValue }
  }

  // MARK: What radios do

  /// The radio begins to send; says when it ends.
  mutating func transmit(
    _ packet: AirPacket, from radio: RadioID, on channel: RadioChannel, modulation: Modulation, power: Decibel,
    at now: Instant
  ) -> Instant {
    stop(radio)
    lastNumber += 1
    var transmission = TransmissionRecord(
      number: lastNumber, radio: radio, packet: packet, channel: channel, modulation: modulation, power: power,
      start: now, end: now)
    faults?.transmissionBegins(&transmission)
    transmission.end = now + transmission.packet.airTime(modulation)
    states[radio.index] = .transmitting(on: channel)
    let index = Int(channel.number)
    transmissions[index].append(transmission)
    for listener in listeners[index] { lock(listener, onto: transmission) }
    return transmission.end
  }

  /// The radio begins to listen.
  mutating func receive(
    _ radio: RadioID, on channel: RadioChannel, phy: PHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?,
    at now: Instant
  ) {
    stop(radio)
    states[radio.index] = .listening(
      Listening(channel: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until))
    let index = Int(channel.number)
    listeners[index].append(radio)
    // What began at this very instant is heard from its beginning.
    for transmission in transmissions[index] where transmission.start == now && transmission.end > now {
      lock(radio, onto: transmission)
    }
  }

  mutating func stop(_ radio: RadioID) {
    if case .listening(let listening) = states[radio.index] {
      let index = Int(listening.channel.number)
      if let place = listeners[index].firstIndex(of: radio) { listeners[index].remove(at: place) }
    }
    states[radio.index] = .idle
  }

  func isTransmitting(_ radio: RadioID) -> Bool { states[radio.index].isTransmitting }

  /// The radio stops in the middle of a packet: nobody gets it, but it has disturbed what it has disturbed. Returns who
  /// had locked onto it and listens again, with the end of their listening time.
  mutating func abandonTransmission(of radio: RadioID, at now: Instant) -> [(RadioID, until: Instant?)] {
    guard case .transmitting(let channel) = states[radio.index] else { return [] }
    let index = Int(channel.number)
    states[radio.index] = .idle
    guard let place = transmissions[index].firstIndex(where: { $0.radio == radio && $0.end > now }) else { return [] }
    transmissions[index][place].end = now
    faults?.transmissionEnded(transmissions[index][place])
    var freed: [(RadioID, until: Instant?)] = []
    for listener in listeners[index] {
      guard case .listening(var listening) = states[listener.index],
        listening.lock?.transmission == transmissions[index][place].number
      else { continue }
      listening.lock = nil
      states[listener.index] = .listening(listening)
      freed.append((listener, listening.until))
    }
    forgetEnded(on: index, at: now)
    return freed
  }

  /// Whether the radio still waits for a packet to begin; then it is idle from now on.
  mutating func listeningTimeIsOver(_ radio: RadioID) -> Bool {
    guard case .listening(let listening) = states[radio.index], listening.lock == nil else { return false }
    stop(radio)
    return true
  }

  // MARK: What becomes of a packet

  private mutating func lock(_ radio: RadioID, onto transmission: TransmissionRecord) {
    guard radio != transmission.radio, case .listening(var listening) = states[radio.index], listening.lock == nil,
      listening.accessAddress == transmission.packet.accessAddress, listening.phy == transmission.modulation.phy
    else { return }
    let level = level(of: transmission, at: radio)
    guard level > noise(at: radio, on: transmission.modulation) else { return }
    listening.lock = Lock(transmission: transmission.number, level: level)
    states[radio.index] = .listening(listening)
  }

  private func level(of transmission: TransmissionRecord, at radio: RadioID) -> Decibel {
    let distance = properties[transmission.radio.index].position.distance(to: properties[radio.index].position)
    return transmission.power - Levels.pathLoss(millimetres: distance)
  }

  private func noise(at radio: RadioID, on modulation: Modulation) -> Decibel {
    properties[radio.index].sensitivity(modulation) - Self.noiseBelowSensitivity
  }

  /// The radio's transmission ends now: fills `receptions` with what each receiver that had locked onto it got. They are
  /// idle from now on, except those that heard nothing and still have time to listen.
  mutating func transmissionEnds(of radio: RadioID, at now: Instant, receptions: inout [Reception])
    -> TransmissionRecord?
  {
    guard case .transmitting(let channel) = states[radio.index],
      let transmission = transmissions[Int(channel.number)].first(where: { $0.radio == radio && $0.end == now })
    else { return nil }
    states[radio.index] = .idle
    let index = Int(transmission.channel.number)
    for listener in listeners[index] {
      guard case .listening(var listening) = states[listener.index], let lock = listening.lock,
        lock.transmission == transmission.number
      else { continue }
      var outcome = outcome(of: transmission, at: listener, level: lock.level, crcInit: listening.crcInit)
      if let faults { outcome = faults.outcome(of: transmission, at: listener, otherwise: outcome) }
      let stillListens = outcome == .missed && listening.until.map { $0 > now } ?? true
      receptions.append(Reception(radio: listener, level: lock.level, outcome: outcome, stillListens: stillListens))
      listening.lock = nil
      states[listener.index] = stillListens ? .listening(listening) : .idle
    }
    listeners[index].removeAll { states[$0.index].isIdle }
    faults?.transmissionEnded(transmission)
    forgetEnded(on: index, at: now)
    return transmission
  }

  /// Drops what can't disturb anything any more.
  private mutating func forgetEnded(on channel: Int, at now: Instant) {
    let states = states
    // Of those that end at one instant, each is there until its own end has been dealt with.
    func isOngoing(_ transmission: TransmissionRecord) -> Bool {
      transmission.end > now || transmission.end == now && states[transmission.radio.index].isTransmitting
    }
    var earliestOngoing = Instant.distantFuture
    for transmission in transmissions[channel] where isOngoing(transmission) {
      earliestOngoing = min(earliestOngoing, transmission.start)
    }
    transmissions[channel].removeAll { !isOngoing($0) && $0.end <= earliestOngoing }
  }

  private mutating func outcome(
    of transmission: TransmissionRecord, at radio: RadioID, level: Decibel, crcInit: UInt32
  ) -> ReceptionOutcome {
    let costs = costs(of: transmission, at: radio, level: level)
    guard Levels.arrives(cost: costs.synchronisation, using: &generator) else { return .missed }
    guard Levels.arrives(cost: costs.rest, using: &generator), crcInit == transmission.packet.crcInit else {
      return .corrupt
    }
    return .intact
  }

  /// What the packet's bits cost at a receiver: those that it needs to find the packet, and all others.
  private func costs(
    of transmission: TransmissionRecord, at radio: RadioID, level: Decibel
  ) -> (synchronisation: UInt64, rest: UInt64) {
    let noise = noise(at: radio, on: transmission.modulation)
    let bits = Self.bits(of: transmission)
    let index = Int(transmission.channel.number)
    let clear = Levels.costPerBit(at: level - noise)
    guard transmissions[index].count > 1 else {
      return (clear * UInt64(bits.synchronisation), clear * UInt64(bits.total - bits.synchronisation))
    }
    // Bit by bit is exact and rare; the level of the disturbance only changes where a transmission begins or ends.
    var result: (synchronisation: UInt64, rest: UInt64) = (0, 0)
    let duration = transmission.end - transmission.start
    var bit = 0
    while bit < bits.total {
      let at = transmission.start + duration * Int64(bit) / Int64(bits.total)
      var disturbance = noise
      var changes = transmission.end
      for other in transmissions[index] where other.number != transmission.number && other.radio != radio {
        if other.start <= at && other.end > at {
          disturbance = Levels.sum(disturbance, self.level(of: other, at: radio))
          changes = min(changes, other.end)
        } else if other.start > at {
          changes = min(changes, other.start)
        }
      }
      let span = (changes - transmission.start).nanoseconds * Int64(bits.total)
      let next = max(bit + 1, min(bits.total, Int((span + duration.nanoseconds - 1) / duration.nanoseconds)))
      let cost = Levels.costPerBit(at: level - disturbance)
      let early = max(0, min(next, bits.synchronisation) - bit)
      result.synchronisation += cost * UInt64(early)
      result.rest += cost * UInt64(next - bit - early)
      bit = next
    }
    return result
  }

  /// The access address must be found, all else must be right. Coded packets count their data bits.
  private static func bits(of transmission: TransmissionRecord) -> (synchronisation: Int, total: Int) {
    (32, 32 + 8 * (2 + transmission.packet.payload.count + 3))
  }
}
