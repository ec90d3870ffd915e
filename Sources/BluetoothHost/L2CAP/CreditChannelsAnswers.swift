import BluetoothWire

/// The peer's responses to requests of this side, and their timeouts.
extension CreditChannels {
  mutating func receiveAnswer(_ signal: L2CAP.Signal, identifiers: inout SignalIdentifiers, at now: Instant) {
    // Only a request that was sent can have a response.
    guard let place = requests.firstIndex(where: { $0.isSent && $0.identifier == signal.identifier }) else { return }
    switch (requests[place].kind, signal.content) {
    case (.open(let ids, _), .leCreditBasedConnectionResponse(let destination, let parameters, let result)):
      guard isEnhanced(ids) == false else { return }
      opened(place, [destination], parameters, result, isEnhanced: false, &identifiers, at: now)
    case (.open(let ids, _), .creditBasedConnectionResponse(let parameters, let result, let destinations)):
      guard isEnhanced(ids) == true else { return }
      guard !result.isPending else {
        requests[place].prolong(at: now)
        return
      }
      opened(place, Array(destinations), parameters, result, isEnhanced: true, &identifiers, at: now)
    case (.reconfigure(let ids, _, _), .creditBasedReconfigureResponse(let result)):
      _ = endRequest(at: place, &identifiers)
      reconfigured(ids, result)
    case (.close(let id), .disconnectionResponse(let destination, let source)):
      // Ignore a response with other channel identifiers · 4.7.
      guard id == source, let index = index(local: id), channels[index].remote == destination else { return }
      remove(at: index, &identifiers)
    case (_, .commandReject): fail(endRequest(at: place, &identifiers), .notUnderstood, &identifiers)
    default: break
    }
  }

  mutating func timeReached(_ now: Instant, identifiers: inout SignalIdentifiers) {
    while let place = requests.firstIndex(where: { $0.deadline.map { $0 <= now } ?? false }) {
      if case .open(let ids, let token) = requests[place].kind, requests[place].isSent, !requests[place].isLapsed {
        requests[place].lapse(at: now)
        owesSignals = true
        for _ in ids { events.append(.openFailed(token, .timeout)) }
      } else {
        fail(endRequest(at: place, &identifiers), .timeout, &identifiers)
      }
    }
  }

  private func isEnhanced(_ ids: [L2CAP.ChannelID]) -> Bool? {
    ids.first.flatMap { index(local: $0) }.map { channels[$0].isEnhanced }
  }

  // MARK: Opening

  private mutating func opened(
    _ place: Int, _ destinations: [L2CAP.ChannelID], _ parameters: L2CAP.CreditParameters,
    _ result: L2CAP.ConnectionResult, isEnhanced: Bool, _ identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    let request = endRequest(at: place, &identifiers)
    guard case .open(let ids, let token) = request.kind else { return }
    let minimum = isEnhanced ? ChannelSettings.enhancedMinimum : ChannelSettings.minimum
    let isPossible = refusal(of: parameters, minimum: minimum, isEnhanced: isEnhanced) == nil
    func fail(_ error: ChannelError) {
      if !request.isLapsed { events.append(.openFailed(token, error)) }
    }
    for (place, id) in ids.enumerated() {
      guard let index = index(local: id) else { continue }
      let destination = destinations.indices.contains(place) ? destinations[place] : .none
      guard destination != .none, result == .successful || isEnhanced && result.refusesSome else {
        remove(at: index, &identifiers)
        fail(result == .successful ? .invalidAnswer : .refused(result))
        continue
      }
      // A channel whose identifier is invalid or belongs to another channel cannot be disconnected.
      guard destination.isDynamic, self.index(remote: destination) == nil else {
        remove(at: index, &identifiers)
        fail(.invalidAnswer)
        // Disconnect the other channel with this identifier, too · 4.23, 4.26.
        if let other = self.index(remote: destination), channels[other].state == .open {
          disconnect(other, &identifiers, at: now)
        }
        continue
      }
      let isTwice = destinations.count { $0 == destination } > 1
      guard isPossible, !isTwice, !request.isLapsed else {
        abandon(index, remote: destination, &identifiers, at: now)
        fail(.invalidAnswer)
        continue
      }
      channels[index].open(remote: destination, parameters)
      events.append(.opened(Channel(channels[index]), token))
    }
  }

  // MARK: Reconfiguration

  private mutating func reconfigured(_ ids: [L2CAP.ChannelID], _ result: L2CAP.ReconfigureResult) {
    for id in ids {
      guard let index = index(local: id) else { continue }
      guard result == .successful else {
        channels[index].dropOffer()
        continue
      }
      channels[index].acceptOffer()
      events.append(.reconfigured(Channel(channels[index])))
    }
    if result != .successful, !ids.isEmpty { events.append(.reconfigurationFailed(ids, .refused(result))) }
  }

  // MARK: Failed requests

  /// Ends a request that has failed.
  private mutating func fail(
    _ request: ChannelRequest, _ error: ChannelError, _ identifiers: inout SignalIdentifiers
  ) {
    switch request.kind {
    case .open(let ids, let token):
      for id in ids {
        if let index = index(local: id) { remove(at: index, &identifiers) }
        if !request.isLapsed { events.append(.openFailed(token, error)) }
      }
    case .reconfigure(let ids, _, _):
      for index in ids.compactMap({ index(local: $0) }) {
        // A peer that rejects the request as unknown has not agreed; a peer that does not respond may have agreed.
        if error == .timeout { channels[index].loseOffer() } else { channels[index].dropOffer() }
      }
      if !ids.isEmpty { events.append(.reconfigurationFailed(ids, error == .timeout ? .timeout : .notUnderstood)) }
    case .close(let id):
      if let index = index(local: id) { remove(at: index, &identifiers, isConfirmed: error != .timeout) }
    }
  }
}

extension L2CAP.ConnectionResult {
  /// True if the peer may have opened some of the requested channels in spite of this result · 4.26.
  fileprivate var refusesSome: Bool {
    self == .noResources || self == .invalidSourceCID || self == .sourceCIDAlreadyAllocated
  }

  /// True if the final response follows later · 4.26.
  fileprivate var isPending: Bool {
    self == .pending || self == .authenticationPending || self == .authorizationPending
  }
}
