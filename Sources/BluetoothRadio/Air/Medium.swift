// Design: reception
//
// The medium decides every reception by one model:
// - The packets on the air are a list of `Transmission` values without references. The listening receivers are a list
//   of `ListeningRadio` values per channel, so a packet affects only the receivers of its channel.
// - A free receiver locks onto the first packet with its access address that begins above the receiver's noise and
//   above all other signals.
// - The parts of the packet (access address; Coding Indicator; PDU) are each compared with the noise and the sum of the
//   overlapping signals on all 40 channels, reduced by the receiver's selectivity. The sum changes only where a signal
//   begins or ends. Signals that are 20 dB below the noise, or below the level that could cost a bit, are left out.
// - The medium decides whether the access address is found when the result is needed: when the next packet begins, when
//   the listening time is over, or at the end.
// - Levels are whole numbers of 1/256 dB. Powers are summed as whole numbers of 10⁻¹⁵ mW. Error rates and the
//   logarithms between levels and powers are committed tables.
//
// Randomness on the air has no state: each random number is a hash of the seed, the two radios, the instant and the
// part of the packet. So an additional device changes nothing for the other devices. Shadowing is the same kind of hash
// over a pair of radios. Sources of interference (Wi-Fi, microwave oven, classic Bluetooth, jammers) are functions of
// seed and instant, and are evaluated only where a packet is received near them. Positions are whole millimetres. A
// path of movement is evaluated when a packet begins, without events. The engine meters each radio as it changes
// between transmitting (by power), listening and neither; the link layer reports the purpose. BluetoothLab makes its
// energy reports from these meters.

import BluetoothWire

/// The simulated 2.4 GHz band: decides which radio receives which packet, and with which errors.
///
/// The result of a reception depends on the level of the packet, the receiver's noise, all other transmissions on any
/// channel, and the length of the packet. A receiver without a lock locks onto the first packet with its access address
/// and PHY whose level exceeds the noise and the interference when the packet begins. Packets that begin later are
/// interference. If the access address is not detected, the receiver is released when the access address has ended.
struct Medium {
  var radios: [Radio] = []
  var transmissions = Transmissions()
  var propagation: Propagation
  let random: ChannelRandom
  /// The fault injector; nil: none.
  var faults: (any AirFaults)?
  /// The sources of interference besides radios.
  var sources: [InterferenceSource] = []
  /// A buffer that every reception reuses, to avoid allocations.
  var interferers: [Interferer] = []
  /// The listening receivers by channel number, in no particular order. `Radio.Activity.listening` holds a receiver's
  /// index.
  var listeners: [[ListeningRadio]] = Array(repeating: [], count: 40)
  /// The injected packets on the air, by transmission number.
  private var injected: [UInt64: AirPacket] = [:]
  /// The receivers whose listening time ends while the access address of a packet arrives, with the end of that access
  /// address. At that time the medium decides whether the receiver has detected the packet.
  private var undecided: [(radio: Int32, until: Instant)] = []
  /// The paths of moving radios, by radio index.
  var paths: [Int: MovementPath] = [:]

  init(generator: RandomStream) {
    random = ChannelRandom(generator)
    propagation = Propagation(random: random)
  }

  mutating func add(_ radio: RadioProperties, at now: Instant) {
    radios.append(Radio(properties: radio, meter: RadioMeter(at: now), place: propagation.losses.nextPlace()))
  }

  // MARK: Places

  /// Returns the properties of a radio, with its position at `now`.
  func properties(of radio: RadioID, at now: Instant) -> RadioProperties {
    var properties = radios[radio.index].properties
    properties.position = position(of: radio.index, at: now)
    return properties
  }

  mutating func setProperties(_ properties: RadioProperties, of radio: RadioID, at now: Instant) {
    if properties.position != position(of: radio.index, at: now) { move(radio, along: nil) }
    radios[radio.index].properties = properties
    if !radios[radio.index].isMoving { radios[radio.index].place = propagation.losses.nextPlace() }
  }

  mutating func setDirectionalLoss(_ loss: DirectionalLoss?, of radio: RadioID) {
    propagation.setDirectionalLoss(loss, of: radio)
    if !radios[radio.index].isMoving { radios[radio.index].place = propagation.losses.nextPlace() }
  }

  mutating func move(_ radio: RadioID, along path: MovementPath?) {
    paths[radio.index] = path
    radios[radio.index].isMoving = path != nil
    radios[radio.index].place = path == nil ? propagation.losses.nextPlace() : .passing
  }

  @inline(__always)
  func position(of radio: Int, at now: Instant) -> GridPosition {
    guard radios[radio].isMoving, let path = paths[radio] else { return radios[radio].properties.position }
    return path.position(at: now)
  }

  // MARK: Radio activity

  /// Starts a transmission of the radio, and returns its end. A muted radio puts nothing on the air.
  mutating func transmit(
    _ packet: consuming AirPacket, from radio: RadioID, on channel: RadioChannel, modulation: Modulation,
    power: Decibel, at now: Instant
  ) -> Instant {
    stop(radio, at: now)
    let index = radio.index
    radios[index].meter.change(to: .transmitting(power: power.rounded), at: now)
    guard !radios[index].isMuted else {
      radios[index].activity = .transmitting(nil)
      return now + packet.airTime(modulation)
    }
    radios[index].meter.counts.packetsSent += 1
    let number = transmissions.nextNumber
    radios[index].activity = .transmitting(number)
    let origin = Origin(radio: radio, position: position(of: index, at: now), place: radios[index].place)
    guard let faults else {
      let end = begin(packet, number, on: channel, modulation, power, from: origin, at: now)
      radios[index].packet = packet
      return end
    }
    var record = TransmissionRecord(
      number: number, radio: radio, packet: packet, channel: channel, modulation: modulation, power: power,
      start: now, end: now)
    faults.transmissionBegins(&record)
    radios[index].packet = record.packet
    return begin(
      record.packet, number, on: record.channel, record.modulation, record.power, from: origin, at: now)
  }

  /// Starts the transmission of an injected packet, which no radio sends, and returns its number and end.
  mutating func inject(_ injection: Injection, at now: Instant) -> (number: UInt64, end: Instant) {
    let number = transmissions.nextNumber
    injected[number] = injection.packet
    let end = begin(
      injection.packet, number, on: injection.channel, injection.modulation, injection.power,
      from: Origin(radio: .none, position: injection.position, place: .passing), at: now)
    return (number, end)
  }

  /// The transmitter of a packet: a radio, or the position of an injection.
  private struct Origin {
    let radio: RadioID
    let position: GridPosition
    let place: PlaceNumber
  }

  private mutating func begin(
    _ packet: AirPacket, _ number: UInt64, on channel: RadioChannel, _ modulation: Modulation, _ power: Decibel,
    from origin: Origin, at now: Instant
  ) -> Instant {
    let end = now + packet.airTime(modulation)
    transmissions.append(
      Transmission(
        number: number, radio: Int32(truncatingIfNeeded: origin.radio.index),
        payloadOctets: UInt16(clamping: packet.payload.count), channel: channel, modulation: modulation,
        phyNumber: modulation.phy.rawValue, accessAddress: packet.accessAddress,
        power: power + antennaGain(of: origin.radio.index), position: origin.position, place: origin.place, start: now,
        end: end))
    let transmission = transmissions.indices.upperBound - 1
    let list = Int(channel.number)
    for place in listeners[list].indices { lock(list, place, onto: transmission, at: now) }
    return end
  }

  /// Makes a radio listen until `until` (nil: without limit).
  mutating func receive(
    _ radio: RadioID, on channel: RadioChannel, phy: RadioPHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?,
    at now: Instant
  ) {
    stop(radio, at: now)
    radios[radio.index].meter.change(to: .receiving, at: now)
    let list = Int(channel.number)
    let place = listeners[list].count
    radios[radio.index].activity = .listening(on: channel, place: place)
    listeners[list].append(
      ListeningRadio(
        radio: Int32(truncatingIfNeeded: radio.index), phy: phy, phyNumber: phy.rawValue, accessAddress: accessAddress,
        crcInit: crcInit, until: until))
    // The receiver can lock onto a packet that began at the same instant. The list is in the order of start times,
    // except for late entries.
    for transmission in transmissions.indices.reversed() {
      guard transmissions.all[transmission].start == now else {
        if transmissions.all[transmission].isLate { continue }
        break
      }
      if transmissions.all[transmission].channel == channel, !transmissions.all[transmission].isOver {
        lock(list, place, onto: transmission, at: now)
      }
    }
  }

  mutating func stop(_ radio: RadioID, at now: Instant) {
    if case .listening(let channel, let place) = radios[radio.index].activity {
      removeEar(Int(channel.number), place)
    }
    becomeIdle(radio.index, at: now)
  }

  mutating func becomeIdle(_ radio: Int, at now: Instant) {
    if case .idle = radios[radio].activity { return }
    radios[radio].activity = .idle
    radios[radio].packet = nil
    radios[radio].meter.change(to: .idle, at: now)
  }

  /// Removes a receiver from a channel's list. The last receiver of the list moves to its index.
  private mutating func removeEar(_ list: Int, _ place: Int) {
    let last = listeners[list].removeLast()
    guard place < listeners[list].count else { return }
    listeners[list][place] = last
    if case .listening(let channel, _) = radios[Int(last.radio)].activity {
      radios[Int(last.radio)].activity = .listening(on: channel, place: place)
    }
  }

  func isTransmitting(_ radio: RadioID) -> Bool { radios[radio.index].activity.isTransmitting }

  /// The receivers that have lost their lock because a transmission was aborted or a radio was muted, with the end of
  /// their listening time.
  typealias ReleasedReceivers = [(RadioID, until: Instant?)]

  /// Aborts the radio's transmission. No receiver gets the packet, but the part transmitted until now counts as
  /// interference. Returns the receivers that had locked onto the packet.
  mutating func abandonTransmission(of radio: RadioID, at now: Instant) -> ReleasedReceivers {
    guard case .transmitting(let number) = radios[radio.index].activity else { return [] }
    let freed = breakOff(number, at: now)
    becomeIdle(radio.index, at: now)
    return freed
  }

  /// Ends a transmission before the end of its packet: no receiver gets the packet, but the part transmitted until now
  /// counts as interference. Returns the receivers that had locked onto the packet.
  private mutating func breakOff(_ number: UInt64?, at now: Instant) -> ReleasedReceivers {
    guard let number, let transmission = transmissions.index(of: number), !transmissions.all[transmission].isOver else {
      return []
    }
    transmissions.all[transmission].end = now
    if let faults, let record = record(of: transmission) { faults.transmissionEnded(record) }
    var freed: ReleasedReceivers = []
    let list = Int(transmissions.all[transmission].channel.number)
    for place in listeners[list].indices where listeners[list][place].lock?.transmission == number {
      listeners[list][place].lock = nil
      freed.append((RadioID(index: Int(listeners[list][place].radio)), listeners[list][place].until))
    }
    transmissions.isOver(transmission)
    return freed
  }

  func isMuted(_ radio: RadioID) -> Bool { radios[radio.index].isMuted }

  /// Mutes or unmutes a radio. A muted radio executes commands as usual, but transmits nothing and receives nothing.
  /// Returns the receivers that lose their lock.
  mutating func setMuted(_ isMuted: Bool, _ radio: RadioID, at now: Instant) -> ReleasedReceivers {
    let index = radio.index
    guard radios[index].isMuted != isMuted else { return [] }
    radios[index].isMuted = isMuted
    guard isMuted else { return [] }
    switch radios[index].activity {
    case .idle: return []
    case .listening(let channel, let place):
      let list = Int(channel.number)
      guard listeners[list][place].lock != nil else { return [] }
      listeners[list][place].lock = nil
      return [(radio, listeners[list][place].until)]
    case .transmitting(let number):
      radios[index].activity = .transmitting(nil)
      return breakOff(number, at: now)
    }
  }

  /// The state of a reception at the end of the listening time.
  enum ListeningEnd {
    /// No packet was arriving; the radio is idle from now on.
    case over
    /// A packet is arriving.
    case receiving
    /// The access address of a packet is arriving until `until`; its detection is decided only then.
    case undecided(until: Instant)
  }

  /// Ends the listening time of a radio, unless a packet is arriving.
  mutating func listeningTimeIsOver(_ radio: RadioID, at now: Instant) -> ListeningEnd {
    guard case .listening(let channel, let place) = radios[radio.index].activity else { return .receiving }
    let list = Int(channel.number)
    if let lock = listeners[list][place].lock {
      if now < lock.foundAt { return .undecided(until: lock.foundAt) }
      if decideLock(list, place) { return .receiving }
    }
    stop(radio, at: now)
    return .over
  }

  // MARK: Reception of packets

  /// Locks a receiver onto a transmission that begins now, if the receiver has no lock and the packet is detectable. If
  /// the receiver is locked onto a packet whose access address has ended, the detection of that packet is decided
  /// first.
  private mutating func lock(_ list: Int, _ place: Int, onto transmission: Int, at now: Instant) {
    guard listeners[list][place].accessAddress == transmissions.all[transmission].accessAddress,
      listeners[list][place].phyNumber == transmissions.all[transmission].phyNumber,
      listeners[list][place].radio != transmissions.all[transmission].radio
    else { return }
    if let lock = listeners[list][place].lock, lock.isFound || now < lock.foundAt || decideLock(list, place) { return }
    let receiver = Int(listeners[list][place].radio)
    guard !radios[receiver].isMuted,
      let level = detectableLevel(at: receiver, of: transmission, at: now)
    else { return }
    transmissions.all[transmission].locks += 1
    let foundAt = now + transmissions.all[transmission].modulation.foundAfter
    listeners[list][place].lock = ListeningRadio.Lock(
      transmission: transmissions.all[transmission].number, level: level, foundAt: foundAt)
    if let until = listeners[list][place].until, until < foundAt {
      undecided.append((Int32(truncatingIfNeeded: receiver), foundAt))
    }
  }

  /// Removes and returns an element of `undecided`; nil if there is none.
  mutating func takeUndecided() -> (radio: RadioID, until: Instant)? {
    guard let (radio, until) = undecided.popLast() else { return nil }
    return (RadioID(index: Int(radio)), until)
  }

  /// Decides if the receiver has detected the access address of the packet that it is locked onto. Returns true if so;
  /// otherwise releases the lock. Must be called after the access address has ended.
  private mutating func decideLock(_ list: Int, _ place: Int) -> Bool {
    guard let lock = listeners[list][place].lock else { return false }
    if lock.isFound { return true }
    let receiver = Int(listeners[list][place].radio)
    let isFound =
      transmissions.index(of: lock.transmission).map { detects(receiver, transmission: $0, level: lock.level) } ?? false
    if isFound {
      listeners[list][place].lock?.isFound = true
    } else {
      listeners[list][place].lock = nil
      radios[receiver].meter.counts.missedPackets += 1
    }
    return isFound
  }

  /// Ends the transmission with this number. Fills `receptions` with the result of each receiver that is locked onto
  /// it, in the order of radio numbers. These receivers become idle, except those that missed the packet and whose
  /// listening time has not ended.
  ///
  /// Returns the transmission; nil if no receiver locked onto it and no observer or fault injector needs it.
  mutating func burstEnds(
    _ number: UInt64, at now: Instant, isObserved: Bool, receptions: inout [Reception]
  ) -> TransmissionRecord? {
    guard let transmission = transmissions.index(of: number) else { return nil }
    let isHeard = transmissions.all[transmission].locks > 0
    guard isHeard || isObserved || faults != nil, let record = record(of: transmission) else {
      senderIsDone(transmission, at: now)
      transmissions.isOver(transmission)
      return nil
    }
    senderIsDone(transmission, at: now)
    if isHeard { finishReceptions(of: transmission, record, at: now, into: &receptions) }
    faults?.transmissionEnded(record)
    transmissions.isOver(transmission)
    return record
  }

  private mutating func senderIsDone(_ transmission: Int, at now: Instant) {
    if transmissions.all[transmission].radio >= 0 {
      becomeIdle(Int(transmissions.all[transmission].radio), at: now)
    } else {
      injected[transmissions.all[transmission].number] = nil
    }
  }

  private mutating func finishReceptions(
    of transmission: Int, _ record: TransmissionRecord, at now: Instant, into receptions: inout [Reception]
  ) {
    let list = Int(record.channel.number)
    // Iterates backwards, because the last element moves to the index of a removed element.
    var place = listeners[list].count
    while place > 0 {
      place -= 1
      guard let lock = listeners[list][place].lock, lock.transmission == record.number else { continue }
      receptions.append(finish(list, place, lock, of: transmission, record, now: now))
    }
    // The list of receivers has no particular order, but the order of reports must be reproducible.
    if receptions.count > 1 { receptions.sort { $0.radio.index < $1.radio.index } }
  }

  /// Returns the number of the radio's transmission; nil if it is not transmitting, or is muted.
  func transmission(of radio: RadioID) -> UInt64? {
    if case .transmitting(let number) = radios[radio.index].activity { number } else { nil }
  }

  /// Ends the transmission of a muted radio.
  mutating func silentTransmissionEnds(of radio: RadioID, at now: Instant) { becomeIdle(radio.index, at: now) }

  /// The transmissions on the air, in the order in which they began.
  var recordsOnAir: [TransmissionRecord] {
    transmissions.indices.compactMap { transmissions.all[$0].isOver ? nil : record(of: $0) }
  }

  private func record(of transmission: Int) -> TransmissionRecord? {
    let number = transmissions.all[transmission].number
    let radio = Int(transmissions.all[transmission].radio)
    guard let packet = radio >= 0 ? radios[radio].packet : injected[number] else { return nil }
    return TransmissionRecord(
      number: number, radio: RadioID(index: radio), packet: packet, channel: transmissions.all[transmission].channel,
      modulation: transmissions.all[transmission].modulation,
      power: transmissions.all[transmission].power - antennaGain(of: radio),
      start: transmissions.all[transmission].start,
      end: transmissions.all[transmission].end)
  }

  func antennaGain(of radio: Int) -> Decibel {
    radio >= 0 ? radios[radio].properties.antennaGain : Decibel(0)
  }

  /// Decides the outcome of a reception at the end of the packet, and releases the receiver.
  private mutating func finish(
    _ list: Int, _ place: Int, _ lock: ListeningRadio.Lock, of transmission: Int, _ record: TransmissionRecord,
    now: Instant
  ) -> Reception {
    let receiver = Int(listeners[list][place].radio)
    let radio = RadioID(index: receiver)
    var outcome = ReceptionOutcome.missed
    if lock.isFound || detects(receiver, transmission: transmission, level: lock.level) {
      let isIntact =
        listeners[list][place].crcInit == record.packet.crcInit
        && decodes(receiver, transmission: transmission, level: lock.level)
      outcome = isIntact ? .intact : .corrupt
    }
    var reception = Reception(radio: radio, level: lock.level, outcome: outcome, stillListens: false)
    if let faults { faults.change(&reception, of: record) }
    switch reception.outcome {
    case .intact: radios[receiver].meter.counts.packetsReceived += 1
    case .corrupt: radios[receiver].meter.counts.crcErrors += 1
    case .missed: radios[receiver].meter.counts.missedPackets += 1
    }
    reception.stillListens = reception.outcome == .missed && listeners[list][place].goesOn(at: now)
    if reception.stillListens { listeners[list][place].lock = nil } else { stop(radio, at: now) }
    return reception
  }
}
