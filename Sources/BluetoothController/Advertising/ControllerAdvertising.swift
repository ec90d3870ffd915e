import BluetoothRadio
import BluetoothWire

/// Advertising, as the host sees it.
extension Controller {
  mutating func setAdvertisingEnable(_ isEnabled: Bool, at now: Instant) -> HCI.ErrorCode {
    guard isEnabled else {
      stopAdvertising()
      return .success
    }
    guard advertiser == nil else { return .success }
    let parameters = host.advertisingParameters
    if parameters.isConnectable && connections.count >= configuration.connectionLimit {
      return .connectionLimitExceeded
    }
    guard let own = ownAddress(parameters.ownAddressType) else { return .invalidHCICommandParameters }
    advertiser = Advertiser(
      parameters: parameters, own: own, data: host.advertisingData, response: host.scanResponse,
      power: configuration.transmitPower, clock: clock, pool: pool, at: now)
    let place = agenda.add(.advertising(0))
    advertiserPlace = place
    agenda[place] = advertiser?.claim
    return .success
  }

  private mutating func stopAdvertising() {
    removeAdvertiser()
    if radioUse.isActivity(.advertising(0)) { abandonRadio() }
  }

  private mutating func removeAdvertiser() {
    advertiser = nil
    if let place = advertiserPlace { agenda.remove(place) }
    advertiserPlace = nil
  }

  /// High duty cycle directed advertising has gone on for 1.28 s without an answer · Vol 6, Part B, 4.4.2.4.3.
  mutating func directedAdvertisingEnded() {
    stopAdvertising()
    output.send(.leConnectionComplete(HCI.ConnectionComplete(failure: .advertisingTimeout)))
  }

  mutating func advertiserReceived(_ packet: AirPacket, isIntact: Bool, at now: Instant) {
    guard let own = advertiser?.own,
      let outcome = advertiser?.received(
        packet, isIntact: isIntact, acceptList: host.acceptList,
        canConnect: connections.count < configuration.connectionLimit, at: now)
    else { return }
    switch outcome {
    case .goesOn(let step): perform(step, at: now)
    case .connect(let initiator, let data, let usesAlgorithm2):
      // Two devices have one connection at most · Vol 6, Part B, 4.5.
      guard !isConnected(own: own, peer: initiator) else {
        perform(.done, at: now)
        return
      }
      removeAdvertiser()
      radioUse = .free
      // This advertiser always sets ChSel.
      addConnection(.peripheral, own: own, peer: initiator, data: data, usesAlgorithm2: usesAlgorithm2, at: now)
    }
  }
}
