import BluetoothWire

/// The peer's requests about channels.
extension CreditChannels {
  /// Processes a signal about channels. Returns the response to a request; nil: none.
  ///
  /// - Parameters:
  ///   - security: The security of the link, which listeners may require.
  ///   - undelivered: The number of packets of the link in the controller, plus 1 if the link has more to send.
  mutating func receive(
    _ signal: L2CAP.Signal, listeners: Listeners, security: HostLinkSecurity, undelivered: Int,
    identifiers: inout SignalIdentifiers, at now: Instant
  ) -> L2CAP.SignalContent? {
    switch signal.content {
    case .leCreditBasedConnectionRequest(let spsm, let source, let parameters):
      return accept(spsm, source, parameters, listeners, security)
    case .creditBasedConnectionRequest(let spsm, let parameters, let sources):
      return accept(spsm, Array(sources), parameters, listeners, security)
    case .creditBasedReconfigureRequest(let mtu, let mps, let destinations):
      return .creditBasedReconfigureResponse(reconfigure(Array(destinations), mtu: mtu, mps: mps))
    case .disconnectionRequest(let destination, let source):
      return disconnected(destination, source, undelivered: undelivered, &identifiers)
    case .flowControlCreditIndication(let remote, let credits):
      guard let index = index(remote: remote), channels[index].state == .open else { return nil }
      do throws(CreditChannel.Violation) {
        try channels[index].receiveCredits(credits)
        hasFrames = true
      } catch {
        disconnect(index, &identifiers, at: now)
      }
    default: receiveAnswer(signal, identifiers: &identifiers, at: now)
    }
    return nil
  }

  // MARK: Opening

  /// Returns the reason to refuse a channel with these parameters; nil: they are acceptable.
  func refusal(
    of parameters: L2CAP.CreditParameters, minimum: UInt16, isEnhanced: Bool
  ) -> L2CAP.ConnectionResult? {
    // A K-frame with an SDU length has at most 65,533 octets · 4.22.
    guard parameters.mtu >= minimum, parameters.mps >= minimum, parameters.mps <= 65_533 else {
      return .unacceptableParameters
    }
    return isEnhanced && parameters.initialCredits == 0 ? .invalidParameters : nil
  }

  private mutating func accept(
    _ spsm: UInt16, _ source: L2CAP.ChannelID, _ parameters: L2CAP.CreditParameters, _ listeners: Listeners,
    _ security: HostLinkSecurity
  ) -> L2CAP.SignalContent {
    func refuse(_ result: L2CAP.ConnectionResult) -> L2CAP.SignalContent {
      .leCreditBasedConnectionResponse(destination: .none, .none, result)
    }
    guard let listener = listeners[spsm] else { return refuse(.spsmNotSupported) }
    if let result = listener.security.refusal(for: security) { return refuse(result) }
    if let result = refusal(of: parameters, minimum: ChannelSettings.minimum, isEnhanced: false) {
      return refuse(result)
    }
    if let result = refusal(ofSource: source) { return refuse(result) }
    guard let index = add(spsm, source, parameters, listener.settings, isEnhanced: false) else {
      return refuse(.noResources)
    }
    return .leCreditBasedConnectionResponse(destination: channels[index].local, channels[index].offer, .successful)
  }

  private mutating func accept(
    _ spsm: UInt16, _ sources: [L2CAP.ChannelID], _ parameters: L2CAP.CreditParameters, _ listeners: Listeners,
    _ security: HostLinkSecurity
  ) -> L2CAP.SignalContent {
    func refuse(_ result: L2CAP.ConnectionResult) -> L2CAP.SignalContent {
      .creditBasedConnectionResponse(
        .none, result, destinations: L2CAP.ChannelList(sources.map { _ in L2CAP.ChannelID.none }))
    }
    guard let listener = listeners[spsm] else { return refuse(.spsmNotSupported) }
    if let result = listener.security.refusal(for: security) { return refuse(result) }
    if let result = refusal(of: parameters, minimum: ChannelSettings.enhancedMinimum, isEnhanced: true) {
      return refuse(result)
    }
    var result = L2CAP.ConnectionResult.successful
    var offer = L2CAP.CreditParameters.none
    // Refused channels get no identifier; the result is the reason of the last refusal · 4.26.
    let destinations = sources.map { source in
      if let refusal = refusal(ofSource: source) {
        result = refusal
      } else if let index = add(spsm, source, parameters, listener.settings, isEnhanced: true) {
        offer = channels[index].offer
        return channels[index].local
      } else {
        result = .noResources
      }
      return L2CAP.ChannelID.none
    }
    return .creditBasedConnectionResponse(offer, result, destinations: L2CAP.ChannelList(destinations))
  }

  private func refusal(ofSource source: L2CAP.ChannelID) -> L2CAP.ConnectionResult? {
    guard source.isDynamic else { return .invalidSourceCID }
    return index(remote: source) == nil ? nil : .sourceCIDAlreadyAllocated
  }

  private mutating func add(
    _ spsm: UInt16, _ source: L2CAP.ChannelID, _ parameters: L2CAP.CreditParameters, _ settings: ChannelSettings,
    isEnhanced: Bool
  ) -> Int? {
    guard let local = takeID() else { return nil }
    var channel = CreditChannel(
      local: local, spsm: spsm, isEnhanced: isEnhanced, isIncoming: true, settings: settings)
    channel.open(remote: source, parameters)
    channels.append(channel)
    events.append(.opened(Channel(channel), nil))
    return channels.count - 1
  }

  // MARK: Reconfiguration and disconnection

  /// Applies the peer's new receive limits · 4.27. The request contains the peer's channel identifiers.
  private mutating func reconfigure(_ remotes: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16) -> L2CAP.ReconfigureResult {
    var chosen: [Int] = []
    for remote in remotes {
      guard let index = index(remote: remote), channels[index].state == .open, channels[index].isEnhanced,
        !chosen.contains(index)
      else { return .invalidDestinationCID }
      chosen.append(index)
    }
    guard mtu >= ChannelSettings.enhancedMinimum, mps >= ChannelSettings.enhancedMinimum, mps <= 65_533 else {
      return .otherUnacceptableParameters
    }
    guard chosen.allSatisfy({ channels[$0].sendMTU <= Int(mtu) }) else { return .mtuReductionNotAllowed }
    // The MPS may decrease only if the request is for a single channel.
    guard chosen.count == 1 || chosen.allSatisfy({ channels[$0].sendMPS <= Int(mps) }) else {
      return .mpsReductionNotAllowed
    }
    for index in chosen {
      channels[index].setLimits(mtu: mtu, mps: mps)
      events.append(.reconfigured(Channel(channels[index])))
    }
    return .successful
  }

  private mutating func disconnected(
    _ destination: L2CAP.ChannelID, _ source: L2CAP.ChannelID, undelivered: Int,
    _ identifiers: inout SignalIdentifiers
  ) -> L2CAP.SignalContent? {
    guard let index = index(local: destination), channels[index].state != .opening else {
      return .commandReject(.invalidCID(local: destination, remote: source))
    }
    // A request with the right destination and a wrong source gets no response · 4.6.
    guard channels[index].remote == source else { return nil }
    let (isReported, hasSentAll) = (channels[index].state == .open, channels[index].hasSentAll)
    // The peer's request may cross K-frames that the peer does not have. This side's own request follows them in one
    // packet, and the controller delivers packets in order: if one packet is missing, it is not a K-frame.
    remove(at: index, &identifiers, isConfirmed: undelivered <= (hasSentClose(of: destination) ? 1 : 0))
    if isReported { events.append(.closed(destination, hasSentAll: hasSentAll)) }
    return .disconnectionResponse(destination: destination, source: source)
  }

  /// True if the request to close a channel has been sent and not answered.
  private func hasSentClose(of id: L2CAP.ChannelID) -> Bool {
    requests.contains { request in
      if case .close(id) = request.kind { request.isSent } else { false }
    }
  }
}

extension L2CAP.SignalContent {
  /// True if the signal changes this side's channels in a way that the peer learns only from the response.
  var changesOnAnswer: Bool {
    switch self {
    case .leCreditBasedConnectionRequest, .creditBasedConnectionRequest, .creditBasedReconfigureRequest: true
    default: false
    }
  }
}
