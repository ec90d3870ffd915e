import BluetoothWire

/// LE credit based channels · Vol 3, Part A, 4.22 to 4.28. The host reports their events with `HostEvent.channel`.
extension Host {
  /// The dynamic SPSMs, which each device may assign freely · Vol 3, Part A, 4.22.
  package static let dynamicSPSMs = ChannelListeners.dynamicSPSMs

  // MARK: Listeners

  /// Accepts channels from peers to `spsm` (nil: the first free dynamic SPSM) on links with the required security.
  /// Returns the SPSM; nil: it is in use, none is free, or it is invalid (valid are 0x0001 to 0x00FF except that of
  /// Enhanced ATT).
  package mutating func publishChannel(
    spsm: UInt16? = nil, _ settings: ChannelSettings, security: ChannelSecurity = .none
  ) -> UInt16? {
    context.listeners.publish(spsm, CreditChannels.Listener(settings: settings, security: security))
  }

  /// Refuses new channels to `spsm`.
  ///
  /// - Parameter keepsChannels: false to close the open channels to `spsm`.
  package mutating func unpublishChannel(spsm: UInt16, keepsChannels: Bool = false, at now: Instant) {
    guard context.listeners.unpublish(spsm), !keepsChannels else { return }
    table.closeChannels(spsm: spsm, &context, at: now)
    settle(at: now)
  }

  // MARK: Channels of a link

  /// Opens one channel to `spsm`, or one to five enhanced channels at once. Each ends in `opened` or `openFailed`. If
  /// the peer refuses because of insufficient security, the host raises the security of the link and repeats the
  /// request.
  package mutating func openChannels(
    spsm: UInt16, count: Int = 1, isEnhanced: Bool = false, _ settings: ChannelSettings, token: ChannelToken,
    on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = table.index(of: handle) else {
      for _ in 0..<CreditChannels.possibleCount(count, isEnhanced: isEnhanced) {
        context.output.tell(.channel(handle, .openFailed(token, .notConnected)))
      }
      return
    }
    let request = PendingChannelRequest(
      spsm: spsm, isEnhanced: isEnhanced, settings: settings, token: token, unanswered: 0)
    table[index].bearer.client.noteUse(at: now)
    table[index].open(request, count: count, at: now)
    table[index].serve(&context, at: now)
    settle(at: now)
  }

  /// Queues an SDU of 1 to `sendMTU` octets. Returns false if the queue is full (`hasRoom` follows later), the
  /// channel does not exist, or the SDU does not fit.
  package mutating func sendOnChannel(
    _ sdu: ByteSlice, _ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant
  ) -> Bool {
    guard let index = table.index(of: handle) else { return false }
    let isTaken = table[index].channels.send(sdu, on: channel)
    table[index].markReady(&context)
    settle(at: now)
    return isTaken
  }

  /// Acknowledges a received SDU, so that the peer may send another one.
  package mutating func acknowledge(_ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant) {
    withChannels(of: handle, at: now) { channels, _ in channels.acknowledge(channel) }
  }

  /// Requests longer SDUs (and K-frames) toward this side on one to five enhanced channels; answered by
  /// `reconfigured` for each, or by `reconfigurationFailed`.
  package mutating func reconfigure(
    _ channels: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard table.index(of: handle) != nil else {
      context.output.tell(.channel(handle, .reconfigurationFailed(channels, .notConnected)))
      return
    }
    withChannels(of: handle, at: now) { $0.reconfigure(channels, mtu: mtu, mps: mps, identifiers: &$1, at: now) }
  }

  /// Closes a channel when all its queued SDUs have been sent; `closed` follows then. The peer's credits determine
  /// when that is. `closeEnded` tells if the peer has all SDUs: until then, the end of the link would discard those
  /// that wait in the controller.
  package mutating func closeChannelWhenSent(
    _ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    withChannels(of: handle, at: now) { channels, _ in channels.closeWhenSent(channel) }
  }

  /// Closes a channel; `closed` follows immediately. Unsent data are lost.
  package mutating func closeChannel(_ channel: L2CAP.ChannelID, on handle: HCI.ConnectionHandle, at now: Instant) {
    withChannels(of: handle, at: now) { $0.close(channel, identifiers: &$1, at: now) }
  }

  private mutating func withChannels(
    of handle: HCI.ConnectionHandle, at now: Instant, _ body: (inout CreditChannels, inout SignalIdentifiers) -> Void
  ) {
    guard let index = table.index(of: handle) else { return }
    table[index].withChannels(body)
    table[index].serve(&context, at: now)
    settle(at: now)
  }
}
