import BluetoothWire

// Devices that only advertise: the engine transmits and listens on their behalf (see `RepeatedAdvertising`), and culls
// those without request windows while their packets can affect no receiver (see `CulledTransmitters`).

extension WorldEngine {
  /// The number of culled devices.
  package var unheardDevices: Int { unheard.count }
  /// The number of devices on whose behalf the engine advertises, without culled ones.
  package var scheduledDevices: Int { scheduledAdvertisers.indices.count { scheduledAdvertisers.contains($0) } }

  /// Handles the deadline of a device that only advertises: transmits its next packet, or culls the device. Returns
  /// false if the device must handle the deadline itself.
  func advertiseOnBehalf(_ index: Int) -> Bool {
    if unheard.contains(index) {
      run(index)
      return false
    }
    // A fault injector may replace the device's packet.
    guard advertisesForDevices, airFaults == nil else { return false }
    if !scheduledAdvertisers.contains(index) {
      guard let repeatedAdvertising = devices[index].repeatedAdvertising(at: now) else { return false }
      scheduledAdvertisers.begin(index, repeatedAdvertising)
    }
    let scheduledAdvertiser = scheduledAdvertisers[index]
    if scheduledAdvertiser.isBetweenEvents {
      if scheduledAdvertiser.until <= now {
        _ = scheduledAdvertisers.end(index)
        return false
      }
      if scheduledAdvertiser.requestWindow == nil, cull(index) { return true }
      // Another activity of the device falls into this event, so the device must run the event itself.
      if scheduledAdvertiser.until <= now + scheduledAdvertiser.span {
        _ = scheduledAdvertisers.end(index)
        return false
      }
    }
    guard let packet = scheduledAdvertisers.takePacket(index) else { return false }
    transmit(
      packet, from: RadioID(index: index), on: scheduledAdvertiser.channel, modulation: scheduledAdvertiser.modulation,
      power: scheduledAdvertiser.power)
    return true
  }

  /// Listens for a request to a device after its packet has ended, or sets the deadline of its next packet.
  func packetEnded(for index: Int) {
    if let until = scheduledAdvertisers.beginWindow(index, at: now), let packet = scheduledAdvertisers.packet(index) {
      listen(
        RadioID(index: index), on: scheduledAdvertisers[index].currentChannel, .le1M,
        accessAddress: packet.accessAddress, crcInit: packet.crcInit, until: until)
    } else {
      continueAdvertising(for: index)
    }
  }

  /// Ends a request window in which no request to the device has arrived.
  func requestWindowEnded(for index: Int) {
    scheduledAdvertisers.endWindow(index, at: now)
    continueAdvertising(for: index)
  }

  /// Sets the deadline of the next packet.
  private func continueAdvertising(for index: Int) {
    if let pause = scheduledAdvertisers.pause(index) {
      timers.set(Self.slot(of: index, .deadline), to: now + pause)
    } else {
      let device = devices[index]
      device.endEvent(scheduledAdvertisers.endEvent(index, at: now))
      timers.set(Self.slot(of: index, .deadline), to: device.deadline)
    }
  }

  /// Culls the device at the start of an advertising event, if its packets can affect no receiver. Returns true if the
  /// device is culled.
  private func cull(_ index: Int) -> Bool {
    guard !isWatched, observer == nil, recorder == nil, airFaults == nil, unheard.isWorthTrying(index, at: now),
      medium.canBeUnheard(index)
    else { return false }
    let scheduledAdvertiser = scheduledAdvertisers[index]
    let transmitter = CulledTransmitters.Transmitter(
      radio: index, power: scheduledAdvertiser.power + medium.antennaGain(of: index),
      position: medium.radios[index].properties.position, since: now)
    guard !medium.isNoticed(transmitter, at: now) else {
      unheard.postpone(index, since: nil, at: now)
      return false
    }
    _ = scheduledAdvertisers.end(index)
    unheard.add(transmitter)
    timers.set(
      Self.slot(of: index, .deadline), to: scheduledAdvertiser.until == .distantFuture ? nil : scheduledAdvertiser.until
    )
    return true
  }

  /// Ends the advertising on behalf of a device, and resumes the device if it is culled. The device catches up with the
  /// events that it has missed, and handles its following events itself.
  func run(_ index: Int) {
    if scheduledAdvertisers.contains(index) {
      if let windowEnds = scheduledAdvertisers.end(index) { catchUp(index, onAirWith: windowEnds) }
    } else if unheard.remove(index) != nil {
      catchUp(index, onAirWith: nil)
    }
  }

  /// Ends the advertising on behalf of all devices, and resumes all culled devices.
  func runAll() {
    for index in scheduledAdvertisers.indices { run(index) }
    for index in unheard.radios { run(index) }
    unheard.forgetListeners()
  }

  /// Resumes all culled devices whose packets can affect a receiver until `until` (nil: without limit). Called before
  /// the receiver starts to listen.
  func resumeAudible(to receiver: Int, on channel: RadioChannel, _ phy: RadioPHY, until: Instant?) {
    let floor = medium.inaudible(at: receiver, on: channel, phy)
    let place = medium.position(of: receiver, at: now)
    let radius = medium.reach(of: receiver, from: now, until: until)
    guard unheard.mayReach(receiver, at: place, within: radius, above: floor, medium.propagation) else { return }
    for index in unheard.reaching(receiver, at: place, within: radius, above: floor, medium.propagation) {
      guard let transmitter = unheard.remove(index) else { continue }
      unheard.postpone(index, since: transmitter.since, at: now)
      catchUp(index, onAirWith: nil)
    }
  }

  /// Resumes the culled devices that can affect a listening radio now. Called after the radio's position, movement or
  /// properties have changed.
  func placeChanged(of receiver: Int) {
    unheard.forgetListener(receiver)
    guard !unheard.isEmpty, case .listening(let channel, let place) = medium.radios[receiver].activity else { return }
    let listener = medium.listeners[Int(channel.number)][place]
    resumeAudible(to: receiver, on: channel, listener.phy, until: listener.until)
  }

  /// Makes a device process all its events before `eventPosition`: first it skips complete advertising events, then it
  /// processes the event in progress packet by packet.
  ///
  /// - Parameter windowEnds: the ends of the request windows of the event in progress, if the engine has transmitted
  ///   the device's packets; nil if the device was culled, so that they were not transmitted.
  private func catchUp(_ index: Int, onAirWith windowEnds: ScheduledAdvertisers.WindowEnds?) {
    let device = devices[index]
    let isOnAir = windowEnds != nil
    var windowEnds = windowEnds ?? ScheduledAdvertisers.WindowEnds()
    let transmissionEnds = Self.slot(of: index, .transmissionEnds)
    let deadline = Self.slot(of: index, .deadline)
    func isDue(_ instant: Instant, _ rank: Rank, _ slot: Int) -> Bool {
      TimerQueue.Entry(instant, rank: rank.rawValue, slot: slot).precedes(eventPosition)
    }
    if !isOnAir {
      let limit = eventPosition.instant
      // At the same instant, the end of the last packet may still be in the future of `eventPosition`.
      let isOver = isDue(limit, .transmissionEnds, transmissionEnds)
      if let skipped = device.skip(until: isOver ? limit : limit - .nanoseconds(1)) {
        medium.radios[index].meter.skip(skipped)
      }
    }
    // The rest is the event in progress.
    var end: Instant?
    while true {
      let instant: Instant
      if let end, isDue(end, .transmissionEnds, transmissionEnds) {
        instant = end
        if !isOnAir { medium.becomeIdle(index, at: instant) }
        device.radio(.transmitted, at: instant)
      } else if end == nil, let due = device.deadline, isDue(due, .deadline, deadline) {
        instant = due
        device.timeReached(instant)
      } else {
        break
      }
      end = nil
      switch device.takeRadioCommand() {
      case nil: break
      case .transmit(let packet, let channel, let modulation, let power):
        let ending = instant + packet.airTime(modulation)
        if !isOnAir {
          medium.goOnTransmitting(
            packet, from: RadioID(index: index), on: channel, modulation: modulation, power: power, since: instant,
            until: ending, isOver: isDue(ending, .transmissionEnds, transmissionEnds))
        }
        end = ending
      case .receive where isOnAir:
        // Without an end, the request window is in progress: the radio listens for the device.
        if let windowEnd = windowEnds.popFirst() { device.radio(.nothingReceived, at: windowEnd) }
      case .receive, .stop:
        // A device that returns a `RepeatedAdvertising` does nothing else until its `until`: only the code of the
        // controller can cause this failure, neither packets nor user input.
        fatalError("a device issued another radio command than those of its repeated advertising")
      }
    }
    timers.set(transmissionEnds, to: end)
    timers.set(deadline, to: device.deadline)
  }
}

extension Medium {
  /// More than 17,040 µs, the duration of a data packet of 251 octets and a MIC on LE Coded with S=8 · Vol 6, Part B,
  /// 4.5.10.
  private static let longestPacket = TimeSpan.milliseconds(18)

  /// Returns true if a radio may be culled: it is idle now, does not move and is not muted, so that the levels of its
  /// packets do not change.
  func canBeUnheard(_ index: Int) -> Bool {
    guard case .idle = radios[index].activity else { return false }
    return !radios[index].isMoving && !radios[index].isMuted
  }

  /// Returns the highest level, dBm, without the receiver's antenna gain, at which a packet on a primary advertising
  /// channel does not affect a receiver on `channel`: the packet can neither be received nor interfere with others.
  func inaudible(at receiver: Int, on channel: RadioChannel, _ phy: RadioPHY) -> Decibel {
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

  /// Returns the greatest distance, in millimetres, of a radio from its current position until `end` (nil: without
  /// limit); 0 if it does not move.
  func reach(of radio: Int, from now: Instant, until end: Instant?) -> Int64 {
    guard radios[radio].isMoving, let path = paths[radio] else { return 0 }
    // A packet that arrives at `end` is received to its end.
    return path.reach(from: now, until: end.map { $0 + Self.longestPacket })
  }

  /// Returns true if packets of this device can affect a radio that is listening now.
  func isNoticed(_ transmitter: CulledTransmitters.Transmitter, at now: Instant) -> Bool {
    for channel in listeners.indices {
      for listener in listeners[channel] {
        let receiver = Int(listener.radio)
        let loss = propagation.leastLoss(
          from: Int32(truncatingIfNeeded: transmitter.radio), at: transmitter.position, to: listener.radio,
          at: position(of: receiver, at: now), within: reach(of: receiver, from: now, until: listener.until))
        if transmitter.power - loss > inaudible(at: receiver, on: RadioChannel(UInt8(channel)), listener.phy) {
          return true
        }
      }
    }
    return false
  }

  /// Adds a transmission of a resumed device, which began at `start` in the past and has affected no receiver so far.
  ///
  /// - Parameter isOver: true if `end` is in the past, too; the transmission then needs no entry in `transmissions`.
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
    radios[index].activity = .transmitting(transmissions.nextNumber)
    radios[index].packet = packet
    var transmission = Transmission(
      number: transmissions.nextNumber, radio: Int32(truncatingIfNeeded: index),
      payloadOctets: UInt16(clamping: packet.payload.count), channel: channel, modulation: modulation,
      phyNumber: modulation.phy.rawValue, accessAddress: packet.accessAddress, power: power + antennaGain(of: index),
      position: radios[index].properties.position, place: radios[index].place, start: start, end: end)
    transmission.isLate = true
    transmissions.append(transmission)
  }
}
