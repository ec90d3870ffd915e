import BluetoothWire

// Devices that only send: what the engine does for them, and what it leaves out while nobody could notice.

extension WorldEngine {
  /// How many devices are not run at the moment because nobody could notice them.
  package var unheardDevices: Int { unheard.count }

  /// Something is due for a device: does it for the device, if that only sends; false: the device is to do it itself.
  func actsFor(_ index: Int) -> Bool {
    if unheard.contains(index) {
      run(index)
      return false
    }
    // A fault may put another packet in the place of the device's.
    guard actsForDevices, airFaults == nil else { return false }
    if !recitals.contains(index) {
      guard let soliloquy = members[index].soliloquy(at: now) else { return false }
      recitals.begin(index, soliloquy)
    }
    let recital = recitals[index]
    if recital.isBetweenEvents {
      if recital.until <= now {
        _ = recitals.end(index)
        return false
      }
      if setsAside(index) { return true }
      // What comes in the middle of an event may change the rest of it.
      if recital.until <= now + recital.span {
        _ = recitals.end(index)
        return false
      }
    }
    guard let packet = recitals.takePacket(index) else { return false }
    transmit(
      packet, from: RadioID(index: index), on: recital.channel, modulation: recital.modulation, power: recital.power)
    return true
  }

  /// A packet that was sent for a device has ended.
  func goOnActing(for index: Int) {
    if let pause = recitals.pause(index) {
      timers.set(Self.slot(of: index, .deadline), to: now + pause)
    } else {
      let participant = members[index]
      // The medium has counted them.
      _ = participant.skip(until: now)
      timers.set(Self.slot(of: index, .deadline), to: participant.deadline)
    }
  }

  /// At the beginning of an event: sets the device aside if nobody could notice.
  private func setsAside(_ index: Int) -> Bool {
    guard !isWatched, observer == nil, airFaults == nil, unheard.isWorthTrying(index, at: now),
      medium.canBeUnheard(index)
    else { return false }
    let recital = recitals[index]
    let voice = UnheardDevices.Voice(
      radio: index, power: recital.power + medium.antennaGain(of: index),
      position: medium.radios[index].properties.position, since: now)
    guard !medium.isNoticed(voice, at: now) else {
      unheard.postpone(index, since: nil, at: now)
      return false
    }
    _ = recitals.end(index)
    unheard.add(voice)
    timers.set(Self.slot(of: index, .deadline), to: recital.until == .distantFuture ? nil : recital.until)
    return true
  }

  /// Has a device do everything itself from now on that was done for it, or not done at all: it does what it would have done
  /// meanwhile, and goes on from there.
  func run(_ index: Int) {
    if recitals.contains(index) {
      if recitals.end(index) { catchUp(index, isOnAir: true) }
    } else if unheard.remove(index) != nil {
      catchUp(index, isOnAir: false)
    }
  }

  /// Runs all.
  func runAll() {
    for index in recitals.indices { run(index) }
    for index in unheard.radios { run(index) }
    unheard.forgetListeners()
  }

  /// Before a radio begins to listen: runs all that it could notice.
  func runAudible(to receiver: Int, on channel: RadioChannel, _ phy: PHY, until: Instant?) {
    let floor = medium.inaudible(at: receiver, on: channel, phy)
    let place = medium.position(of: receiver, at: now)
    let radius = medium.reach(of: receiver, from: now, until: until)
    guard unheard.mayReach(receiver, at: place, within: radius, above: floor, medium.propagation) else { return }
    for index in unheard.reaching(receiver, at: place, within: radius, above: floor, medium.propagation) {
      guard let voice = unheard.remove(index) else { continue }
      unheard.postpone(index, since: voice.since, at: now)
      catchUp(index, isOnAir: false)
    }
  }

  /// The radio has another place or another receiver, or moves in another way.
  func placeChanged(of receiver: Int) {
    unheard.forgetListener(receiver)
    guard !unheard.isEmpty, case .listening(let channel, let place) = medium.radios[receiver].activity else { return }
    let ear = medium.ears[Int(channel.number)][place]
    runAudible(to: receiver, on: channel, ear.phy, until: ear.until)
  }

  /// The device does all that was due before `turn`. Its packets are on the air already, or nobody has noticed them.
  private func catchUp(_ index: Int, isOnAir: Bool) {
    let participant = members[index]
    let transmissionEnds = Self.slot(of: index, .transmissionEnds)
    let deadline = Self.slot(of: index, .deadline)
    func isDue(_ instant: Instant, _ rank: Rank, _ slot: Int) -> Bool {
      TimerQueue.Entry(instant, rank: rank.rawValue, slot: slot).precedes(turn)
    }
    if !isOnAir {
      let limit = turn.instant
      let isOver = isDue(limit, .transmissionEnds, transmissionEnds)
      if let skipped = participant.skip(until: isOver ? limit : limit - .nanoseconds(1)) {
        medium.radios[index].meter.skip(skipped)
      }
    }
    // What is left: the event that goes on.
    var end: Instant?
    while true {
      let instant: Instant
      if let end, isDue(end, .transmissionEnds, transmissionEnds) {
        instant = end
        if !isOnAir { medium.becomeIdle(index, at: instant) }
        participant.radio(.transmitted, at: instant)
      } else if end == nil, let due = participant.deadline, isDue(due, .deadline, deadline) {
        instant = due
        participant.timeReached(instant)
      } else {
        break
      }
      end = nil
      guard let command = participant.takeRadioCommand() else { continue }
      guard case .transmit(let packet, let channel, let modulation, let power) = command else {
        // A soliloquy is the device's word that it does nothing else until then.
        fatalError("a device that should only send did something else")
      }
      let ending = instant + packet.airTime(modulation)
      if !isOnAir {
        medium.goOnTransmitting(
          packet, from: RadioID(index: index), on: channel, modulation: modulation, power: power, since: instant,
          until: ending, isOver: isDue(ending, .transmissionEnds, transmissionEnds))
      }
      end = ending
    }
    timers.set(transmissionEnds, to: end)
    timers.set(deadline, to: participant.deadline)
  }
}

extension Medium {
  /// More than 17,040 µs, a data packet of 251 octets on LE Coded with S=8 · Vol 6, Part B, 4.5.10.
  private static let longestPacket = TimeSpan.milliseconds(18)

  /// Whether a radio may be set aside while it only sends: where it is, and what it is, stays the same until somebody changes
  /// it.
  func canBeUnheard(_ index: Int) -> Bool {
    guard case .idle = radios[index].activity else { return false }
    return !radios[index].isMoving && !radios[index].isMuted
  }

  /// The level, without the receiver's antenna, up to which a packet on a primary advertising channel is nothing to a receiver
  /// on `channel`: it can't be heard, and it does not disturb what can.
  func inaudible(at receiver: Int, on channel: RadioChannel, _ phy: PHY) -> Decibel {
    func level(_ modulation: Modulation) -> Decibel {
      var rejection = Decibel(1_000)
      for place in 0..<PrimaryChannels.all.count {
        let offset = PrimaryChannels.all[place].megahertz - channel.megahertz
        rejection = min(rejection, Selectivity.rejection(atOffset: offset, modulation))
      }
      return radios[receiver].properties.noise(modulation) - Self.negligible + rejection
    }
    let lowest: Decibel
    switch phy {
    case .le1M: lowest = level(.le1M)
    case .le2M: lowest = level(.le2M)
    case .leCoded: lowest = min(level(.codedS8), level(.codedS2))
    }
    return lowest - antennaGain(of: receiver)
  }

  /// How far, in millimetres, a radio gets until `end` from where it is now.
  func reach(of radio: Int, from now: Instant, until end: Instant?) -> Int64 {
    guard radios[radio].isMoving, let path = paths[radio] else { return 0 }
    // A packet that has begun to arrive is heard to its end.
    return path.reach(from: now, until: end.map { $0 + Self.longestPacket })
  }

  /// Whether anybody who listens now gets something of what is sent like that.
  func isNoticed(_ voice: UnheardDevices.Voice, at now: Instant) -> Bool {
    for channel in ears.indices {
      for ear in ears[channel] {
        let receiver = Int(ear.radio)
        let loss = propagation.leastLoss(
          from: Int32(truncatingIfNeeded: voice.radio), at: voice.position, to: ear.radio,
          at: position(of: receiver, at: now), within: reach(of: receiver, from: now, until: ear.until))
        if voice.power - loss > inaudible(at: receiver, on: RadioChannel(UInt8(channel)), ear.phy) { return true }
      }
    }
    return false
  }

  /// Enters a transmission that has begun at `start`, of which nobody has noticed anything so far.
  /// - Parameter isOver: its end has been reached, too.
  mutating func goOnTransmitting(
    _ packet: AirPacket, from radio: RadioID, on channel: RadioChannel, modulation: Modulation, power: Decibel,
    since start: Instant, until end: Instant, isOver: Bool
  ) {
    let index = radio.index
    radios[index].meter.change(to: .transmitting(power: power.rounded), at: start)
    radios[index].meter.counts.packetsSent += 1
    guard !isOver else {
      radios[index].activity = .transmitting(nil)
      return
    }
    radios[index].activity = .transmitting(bursts.nextNumber)
    radios[index].packet = packet
    var burst = Burst(
      number: bursts.nextNumber, radio: Int32(truncatingIfNeeded: index),
      payloadOctets: UInt16(clamping: packet.payload.count), channel: channel, modulation: modulation,
      phyNumber: modulation.phy.rawValue, accessAddress: packet.accessAddress, power: power + antennaGain(of: index),
      position: radios[index].properties.position, place: radios[index].place, start: start, end: end)
    burst.isLate = true
    bursts.append(burst)
  }
}
