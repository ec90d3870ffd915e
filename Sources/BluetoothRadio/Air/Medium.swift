import BluetoothWire

/// The simulated 2.4 GHz band: which radio hears which packet how well.
///
/// A reception succeeds or fails by its signal, the receiver's noise, what else is on the air on any channel, and its
/// length. A receiver that is free locks onto the first packet with its access address that begins above its noise and
/// everything else; whatever begins later is interference for it. If it does not find the access address, it is free again
/// from that's end on.
struct Medium {
  var radios: [Radio] = []
  var bursts = Bursts()
  var propagation: Propagation
  let chance: AirChance
  /// Who has transmissions fail; nil: nobody.
  var faults: (any AirFaults)?
  /// What disturbs the band besides radios.
  var sources: [InterferenceSource] = []
  /// Used by one evaluation after the other.
  var disturbers: [Disturber] = []
  /// The radios that listen on each channel.
  private var listeners: [[Int32]] = Array(repeating: [], count: 40)
  private var injected: [UInt64: AirPacket] = [:]
  private var paths: [Int: MovementPath] = [:]

  init(generator: SplitGenerator) {
    chance = AirChance(generator)
    propagation = Propagation(chance: chance)
  }

  mutating func add(_ radio: RadioProperties, at now: Instant) {
    radios.append(Radio(properties: radio, meter: RadioMeter(at: now)))
  }

  // MARK: Places

  /// With the position of `now`. A new position ends a movement.
  func properties(of radio: RadioID, at now: Instant) -> RadioProperties {
    var properties = radios[radio.index].properties
    properties.position = position(of: radio.index, at: now)
    return properties
  }

  mutating func setProperties(_ properties: RadioProperties, of radio: RadioID, at now: Instant) {
    if properties.position != position(of: radio.index, at: now) { move(radio, along: nil) }
    radios[radio.index].properties = properties
  }

  mutating func move(_ radio: RadioID, along path: MovementPath?) {
    paths[radio.index] = path
    radios[radio.index].isMoving = path != nil
  }

  func position(of radio: Int, at now: Instant) -> GridPosition {
    guard radios[radio].isMoving, let path = paths[radio] else { return radios[radio].properties.position }
    return path.position(at: now)
  }

  // MARK: What radios do

  /// The radio begins to send; says when it ends.
  mutating func transmit(
    _ packet: AirPacket, from radio: RadioID, on channel: RadioChannel, modulation: Modulation, power: Decibel,
    at now: Instant
  ) -> Instant {
    stop(radio, at: now)
    let index = radio.index
    radios[index].meter.change(to: .transmitting(power: power.rounded), at: now)
    guard !radios[index].isMuted else {
      radios[index].activity = .transmitting(nil)
      return now + packet.airTime(modulation)
    }
    radios[index].meter.counts.packetsSent += 1
    var record = TransmissionRecord(
      number: bursts.nextNumber, radio: radio, packet: packet, channel: channel, modulation: modulation, power: power,
      start: now, end: now)
    faults?.transmissionBegins(&record)
    radios[index].packet = record.packet
    radios[index].activity = .transmitting(bursts.nextNumber)
    return begin(record, from: position(of: index, at: now), at: now)
  }

  /// A packet begins that comes from no radio; says its number and when it ends.
  mutating func inject(_ injection: Injection, at now: Instant) -> (number: UInt64, end: Instant) {
    let number = bursts.nextNumber
    injected[number] = injection.packet
    let record = TransmissionRecord(
      number: number, radio: .none, packet: injection.packet, channel: injection.channel,
      modulation: injection.modulation, power: injection.power, start: now, end: now)
    return (number, begin(record, from: injection.position, at: now))
  }

  private mutating func begin(_ record: TransmissionRecord, from position: GridPosition, at now: Instant) -> Instant {
    let end = now + record.packet.airTime(record.modulation)
    bursts.append(
      Burst(
        number: record.number, radio: Int32(truncatingIfNeeded: record.radio.index),
        payloadOctets: UInt16(clamping: record.packet.payload.count), channel: record.channel,
        modulation: record.modulation, accessAddress: record.packet.accessAddress,
        power: record.power + antennaGain(of: record.radio.index), position: position, start: now, end: end))
    let burst = bursts.indices.upperBound - 1
    let list = Int(record.channel.number)
    for place in listeners[list].indices { lock(Int(listeners[list][place]), onto: burst, at: now) }
    return end
  }

  /// The radio begins to listen.
  mutating func receive(
    _ radio: RadioID, on channel: RadioChannel, phy: PHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?,
    at now: Instant
  ) {
    stop(radio, at: now)
    radios[radio.index].meter.change(to: .receiving, at: now)
    let list = Int(channel.number)
    radios[radio.index].activity = .listening(
      Radio.Listening(
        channel: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until,
        place: listeners[list].count))
    listeners[list].append(Int32(truncatingIfNeeded: radio.index))
    // What began at this very instant is heard from its beginning.
    for burst in bursts.indices.reversed() {
      guard bursts[burst].start == now else { break }
      if bursts[burst].channel == channel, !bursts[burst].isOver { lock(radio.index, onto: burst, at: now) }
    }
  }

  mutating func stop(_ radio: RadioID, at now: Instant) {
    if case .listening(let listening) = radios[radio.index].activity { removeListener(listening) }
    becomeIdle(radio.index, at: now)
  }

  private mutating func becomeIdle(_ radio: Int, at now: Instant) {
    if case .idle = radios[radio].activity { return }
    radios[radio].activity = .idle
    radios[radio].packet = nil
    radios[radio].meter.change(to: .idle, at: now)
  }

  /// The last one of the channel's list takes its place.
  private mutating func removeListener(_ listening: Radio.Listening) {
    let list = Int(listening.channel.number)
    let last = listeners[list].removeLast()
    guard listening.place < listeners[list].count else { return }
    listeners[list][listening.place] = last
    if case .listening(var moved) = radios[Int(last)].activity {
      moved.place = listening.place
      radios[Int(last)].activity = .listening(moved)
    }
  }

  func isTransmitting(_ radio: RadioID) -> Bool { radios[radio.index].activity.isTransmitting }

  /// Receivers that had locked onto a packet that has broken off, with the end of their listening time.
  typealias Freed = [(RadioID, until: Instant?)]

  /// The radio stops in the middle of a packet: nobody gets it, but it has disturbed what it has disturbed.
  mutating func abandonTransmission(of radio: RadioID, at now: Instant) -> Freed {
    guard case .transmitting(let number) = radios[radio.index].activity else { return [] }
    let freed = breakOff(number, at: now)
    becomeIdle(radio.index, at: now)
    return freed
  }

  private mutating func breakOff(_ number: UInt64?, at now: Instant) -> Freed {
    guard let number, let burst = bursts.index(of: number), !bursts[burst].isOver else { return [] }
    bursts[burst].end = now
    if let faults, let record = record(of: burst) { faults.transmissionEnded(record) }
    var freed: Freed = []
    for receiver in listeners[Int(bursts[burst].channel.number)] {
      if let until = unlock(Int(receiver), from: number) { freed.append((RadioID(index: Int(receiver)), until)) }
    }
    bursts.isOver(burst)
    return freed
  }

  /// nil: it had not locked onto that burst.
  private mutating func unlock(_ receiver: Int, from number: UInt64) -> Instant?? {
    guard case .listening(var listening) = radios[receiver].activity, listening.lock?.burst == number else {
      return nil
    }
    listening.lock = nil
    radios[receiver].activity = .listening(listening)
    return .some(listening.until)
  }

  /// A muted radio goes on as before, but nothing leaves it and nothing reaches it.
  mutating func setMuted(_ isMuted: Bool, _ radio: RadioID, at now: Instant) -> Freed {
    let index = radio.index
    guard radios[index].isMuted != isMuted else { return [] }
    radios[index].isMuted = isMuted
    guard isMuted else { return [] }
    switch radios[index].activity {
    case .idle: return []
    case .listening(let listening):
      guard let lock = listening.lock, let until = unlock(index, from: lock.burst) else { return [] }
      return [(radio, until)]
    case .transmitting(let number):
      radios[index].activity = .transmitting(nil)
      return breakOff(number, at: now)
    }
  }

  /// What the end of a radio's listening time finds.
  enum ListeningEnd {
    /// Nothing was coming; the radio is idle from now on.
    case over
    /// A packet is arriving.
    case receiving
    /// The access address of a packet is arriving; it will be known then whether it is found.
    case undecided(until: Instant)
  }

  mutating func listeningTimeIsOver(_ radio: RadioID, at now: Instant) -> ListeningEnd {
    guard case .listening(let listening) = radios[radio.index].activity else { return .receiving }
    if let lock = listening.lock {
      if now < lock.foundAt { return .undecided(until: lock.foundAt) }
      if decideLock(of: radio.index) { return .receiving }
    }
    stop(radio, at: now)
    return .over
  }

  // MARK: What becomes of a packet

  private mutating func lock(_ receiver: Int, onto burst: Int, at now: Instant) {
    guard case .listening(let listening) = radios[receiver].activity,
      listening.accessAddress == bursts[burst].accessAddress, listening.phy == bursts[burst].modulation.phy,
      bursts[burst].radio != receiver, !radios[receiver].isMuted
    else { return }
    if let lock = listening.lock, lock.isFound || now < lock.foundAt || decideLock(of: receiver) { return }
    guard let level = levelAbove(everythingElseAt: receiver, of: burst, at: now),
      case .listening(var listening) = radios[receiver].activity
    else { return }
    bursts[burst].locks += 1
    listening.lock = Radio.Lock(
      burst: bursts[burst].number, level: level, foundAt: now + bursts[burst].modulation.foundAfter)
    radios[receiver].activity = .listening(listening)
  }

  /// Whether the receiver has found the packet that it has locked onto, whose access address has ended. If not, it has not
  /// locked onto it any more.
  private mutating func decideLock(of receiver: Int) -> Bool {
    guard case .listening(var listening) = radios[receiver].activity, let lock = listening.lock else { return false }
    if lock.isFound { return true }
    let isFound = bursts.index(of: lock.burst).map { finds(receiver, burst: $0, level: lock.level) } ?? false
    if isFound {
      listening.lock?.isFound = true
    } else {
      listening.lock = nil
      radios[receiver].meter.counts.missedPackets += 1
    }
    radios[receiver].activity = .listening(listening)
    return isFound
  }

  /// The burst of this number ends now: fills `receptions` with what each receiver that had locked onto it got, in the
  /// order of their numbers. They are idle from now on, except those that heard nothing and still have time to listen.
  mutating func burstEnds(
    _ number: UInt64, at now: Instant, receptions: inout [Reception]
  ) -> TransmissionRecord? {
    guard let burst = bursts.index(of: number), let record = record(of: burst) else { return nil }
    if bursts[burst].radio >= 0 { becomeIdle(Int(bursts[burst].radio), at: now) } else { injected[number] = nil }
    if bursts[burst].locks > 0 {
      let list = Int(record.channel.number)
      var place = listeners[list].count
      while place > 0 {
        place -= 1
        let receiver = Int(listeners[list][place])
        guard case .listening(let listening) = radios[receiver].activity, let lock = listening.lock,
          lock.burst == number
        else { continue }
        receptions.append(finish(listening, lock, of: burst, record, at: receiver, now: now))
      }
      // Who is told first does not hang on who began to listen first.
      if receptions.count > 1 { receptions.sort { $0.radio.index < $1.radio.index } }
    }
    faults?.transmissionEnded(record)
    bursts.isOver(burst)
    return record
  }

  func burst(of radio: RadioID) -> UInt64? {
    if case .transmitting(let number) = radios[radio.index].activity { number } else { nil }
  }

  /// A muted radio's transmission ends.
  mutating func silentTransmissionEnds(of radio: RadioID, at now: Instant) { becomeIdle(radio.index, at: now) }

  private func record(of burst: Int) -> TransmissionRecord? {
    let number = bursts[burst].number
    let radio = Int(bursts[burst].radio)
    guard let packet = radio >= 0 ? radios[radio].packet : injected[number] else { return nil }
    return TransmissionRecord(
      number: number, radio: RadioID(index: radio), packet: packet, channel: bursts[burst].channel,
      modulation: bursts[burst].modulation, power: bursts[burst].power - antennaGain(of: radio),
      start: bursts[burst].start,
      end: bursts[burst].end)
  }

  private func antennaGain(of radio: Int) -> Decibel {
    radio >= 0 ? radios[radio].properties.antennaGain : Decibel(0)
  }

  private mutating func finish(
    _ listening: Radio.Listening, _ lock: Radio.Lock, of burst: Int, _ record: TransmissionRecord, at receiver: Int,
    now: Instant
  ) -> Reception {
    let radio = RadioID(index: receiver)
    var outcome = ReceptionOutcome.missed
    if lock.isFound || finds(receiver, burst: burst, level: lock.level) {
      let isIntact =
        listening.crcInit == record.packet.crcInit && reads(receiver, burst: burst, level: lock.level)
      outcome = isIntact ? .intact : .corrupt
    }
    if let faults { outcome = faults.outcome(of: record, at: radio, otherwise: outcome) }
    switch outcome {
    case .intact: radios[receiver].meter.counts.packetsReceived += 1
    case .corrupt: radios[receiver].meter.counts.crcErrors += 1
    case .missed: radios[receiver].meter.counts.missedPackets += 1
    }
    let stillListens = outcome == .missed && listening.goesOn(at: now)
    if stillListens { _ = unlock(receiver, from: lock.burst) } else { stop(radio, at: now) }
    return Reception(radio: radio, level: lock.level, outcome: outcome, stillListens: stillListens)
  }
}
