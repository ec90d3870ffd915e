import BluetoothRadio
import BluetoothWire

/// Listening for advertisers on the primary channels, for the scanner and the initiator together.
extension Controller {
  mutating func listen(at now: Instant) {
    windowOpens = nil
    if case .listening = radioUse { return }
    // The time before the next claim would be too short to receive anything.
    guard scanner != nil || initiator != nil, agenda.next - now > LL.interFrameSpace else { return }
    guard let slot = listeningPlan.slot(at: now) else {
      let next = listeningPlan.next(after: now)
      windowOpens = next == .distantFuture ? nil : next
      return
    }
    radioUse = .listening(on: slot.channel)
    listen(on: slot.channel, phy: slot.phy, until: slot.end)
  }

  /// True if a scan window is open at that time.
  mutating func isListeningWanted(at time: Instant) -> Bool { listeningPlan.isOpen(at: time) }

  mutating func listen(on channel: RadioChannel, phy: PHY, until: Instant) {
    order(
      .receive(
        on: channel, phy: phy, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit, until: until)
    )
  }

  /// Updates the listening plan after the scanner or the initiator has started, ended, paused or resumed.
  mutating func listeningChanged() {
    listeningPlan.setScanner(scanner?.windows ?? ByPrimaryPHY())
    listeningPlan.setInitiator(initiator?.windows ?? ByPrimaryPHY())
    dropReceptions()
    switch radioUse {
    case .listening: abandonRadio()
    case .scanRequest where scanner == nil: abandonRadio()
    case .connecting where initiator == nil: abandonRadio()
    default: break
    }
  }

  /// Ends or pauses a scan with a duration or a period · Vol 4, Part E, 7.8.65.
  mutating func checkScanner(at now: Instant) {
    guard let change = scanner?.checkDeadline(at: now) else { return }
    switch change {
    case .none: return
    case .windows: listeningChanged()
    case .ended:
      scanner = nil
      listeningChanged()
      output.send(.leScanTimeout)
    }
  }

  mutating func continueListening(_ event: RadioEvent, on channel: RadioChannel, at now: Instant) {
    radioUse = .free
    guard case .received(let packet, let modulation, let start, let level, isIntact: true) = event,
      let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    else { return }
    learnAddresses(of: pdu)
    if case .extended(let payload) = pdu {
      heard(payload, modulation, from: start, level: level, at: now)
    } else if modulation == .le1M {
      report(pdu, level: level)
      if beginConnecting(to: pdu, on: channel, at: now) { return }
      beginScanRequest(for: pdu, on: channel, at: now)
    }
  }
}

extension Decibel {
  /// The level for HCI: whole dBm, −127 to 20.
  var hciLevel: Int8 { Int8(min(20, max(-127, rounded))) }
}
