import BluetoothWire

/// LE credit based channels · Vol 3, Part A, 4.22 to 4.28. What becomes of them is told by `HostEvent.channel`.
extension Host {
  /// The SPSMs that a device may choose itself · Vol 3, Part A, 4.22.
  package static let dynamicSPSMs: ClosedRange<UInt16> = 0x0080...0x00FF

  // MARK: What others may open

  /// That of ATT over enhanced channels, which this host does not have · Vol 3, Part G, 5.3.
  private static let enhancedATT: UInt16 = 0x0027

  /// Lets peers open channels to `spsm` (nil: the first dynamic one that is free) on links that are as `security` says; the
  /// result is the SPSM, nil if it is taken, or none is free, or there is no such one (0x0001 to 0x00FF, without that of
  /// ATT).
  package mutating func publishChannel(
    spsm: UInt16? = nil, _ settings: ChannelSettings, security: ChannelSecurity = .none
  ) -> UInt16? {
    guard let spsm = spsm ?? Self.dynamicSPSMs.first(where: { listeners[$0] == nil }), 0x0001...0x00FF ~= spsm,
      spsm != Self.enhancedATT, listeners[spsm] == nil
    else { return nil }
    listeners[spsm] = CreditChannels.Listener(settings: settings, security: security)
    return spsm
  }

  /// Closes the channels that lead to `spsm`, and lets nobody open others.
  package mutating func unpublishChannel(spsm: UInt16, at now: Instant) {
    guard listeners.removeValue(forKey: spsm) != nil else { return }
    for index in allLinks.indices {
      allLinks[index].withChannels { $0.closeAll(spsm: spsm, identifiers: &$1, at: now) }
      serve(index, at: now)
    }
    settle(at: now)
  }

  // MARK: Channels of a link

  /// Asks the peer for a channel to `spsm`, or for one to five enhanced ones at once. Each ends in `opened` or `openFailed`. If
  /// the peer refuses because the link is not protected well enough, the link is, and then the peer is asked again.
  package mutating func openChannels(
    spsm: UInt16, count: Int = 1, isEnhanced: Bool = false, _ settings: ChannelSettings, token: ChannelToken,
    on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = index(of: handle) else {
      for _ in 0..<CreditChannels.possibleCount(count, isEnhanced: isEnhanced) {
        events.append(.channel(handle, .openFailed(token, .notConnected)))
      }
      return
    }
    let wish = ChannelWish(spsm: spsm, isEnhanced: isEnhanced, settings: settings, token: token, unanswered: 0)
    open(wish, count: count, on: index, at: now)
    serve(index, at: now)
    settle(at: now)
  }

  /// Takes an SDU to send, of 1 to `sendMTU` octets; false: there is no room (then `hasRoom` follows), no such channel, or it
  /// does not fit.
  package mutating func sendOnChannel(
    _ sdu: ByteSlice, _ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant
  ) -> Bool {
    guard let index = index(of: handle) else { return false }
    let isTaken = allLinks[index].channels.send(sdu, on: channel)
    markReady(index)
    settle(at: now)
    return isTaken
  }

  /// The owner has done with an SDU that it got: the peer may send another one.
  package mutating func acknowledge(_ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant) {
    withChannels(of: handle, at: now) { channels, _ in channels.acknowledge(channel) }
  }

  /// Tells the peer that this side takes longer SDUs (and frames) on one to five enhanced channels; answered by `reconfigured`
  /// for each, or by `reconfigurationFailed`.
  package mutating func reconfigure(
    _ channels: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard index(of: handle) != nil else {
      events.append(.channel(handle, .reconfigurationFailed(channels, .notConnected)))
      return
    }
    withChannels(of: handle, at: now) { $0.reconfigure(channels, mtu: mtu, mps: mps, identifiers: &$1, at: now) }
  }

  /// Closes a channel once all SDUs that it has taken have been sent, which the peer decides; then `closed` follows.
  package mutating func closeChannelWhenSent(
    _ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    withChannels(of: handle, at: now) { channels, _ in channels.closeWhenSent(channel) }
  }

  /// Closes a channel; `closed` follows at once. What was not sent is lost.
  package mutating func closeChannel(_ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant) {
    withChannels(of: handle, at: now) { $0.close(channel, identifiers: &$1, at: now) }
  }

  private mutating func withChannels(
    of handle: HCI.ConnectionHandle, at now: Instant, _ body: (inout CreditChannels, inout SignalIdentifiers) -> Void
  ) {
    guard let index = index(of: handle) else { return }
    allLinks[index].withChannels(body)
    serve(index, at: now)
    settle(at: now)
  }

  // MARK: From the peer

  mutating func receiveForChannels(_ signal: L2CAP.Signal, on index: Int, at now: Instant) {
    // Nothing comes about of which the peer would not learn.
    guard allLinks[index].hasRoom || !signal.content.changesOnAnswer else {
      metrics.droppedAnswers += 1
      return
    }
    let (listeners, security) = (listeners, allLinks[index].bearer.security)
    let answer = allLinks[index].withChannels {
      $0.receive(signal, listeners: listeners, security: security, identifiers: &$1, at: now)
    }
    if let answer { send(L2CAP.Signal(identifier: signal.identifier, content: answer), on: index) }
    serve(index, at: now)
  }

  mutating func receiveOnChannel(_ frame: L2CAP.Frame, on index: Int, at now: Instant) {
    let pool = pool
    let isKnown = allLinks[index].withChannels {
      $0.receive(frame.payload, on: frame.channel, pool: pool, identifiers: &$1, at: now)
    }
    guard isKnown else {
      metrics.droppedFrames += 1
      return
    }
    serve(index, at: now)
  }
}
