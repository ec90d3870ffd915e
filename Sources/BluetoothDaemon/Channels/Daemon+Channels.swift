import BluetoothHost
import BluetoothWire

/// LE credit-based channels of apps · Vol 3, Part A, 4.22.
extension Daemon {
  /// The parameters of this side of a channel. While the app does not read, the peer may be 32 SDUs ahead: this limits
  /// the memory that a channel takes.
  private static let settings = ChannelSettings(mtu: 2_048, mps: 247, credits: 32)
  /// The SPSMs that an LE channel can have: those assigned by the SIG and the dynamic ones · 4.22.
  private static let possiblePSMs: ClosedRange<UInt16> = 0x0001...0x00FF
  /// The time that a channel closed by its app has for sending the data written before.
  private static let patience = TimeSpan.seconds(30)

  // MARK: Opening

  mutating func openChannel(_ psm: UInt16, to peer: PeerHandle, for session: CentralSessionID, at now: Instant) {
    guard let link = usedLink(of: peer, by: session) else { return }
    guard Self.possiblePSMs.contains(psm) else {
      deliver(.channelOpened(peer, .failure(.invalidParameters)), to: session)
      return
    }
    channelRequests += 1
    let token = ChannelToken(rawValue: channelRequests)
    links[link].channels.opening.append(LinkChannels.Opening(token: token, session: session))
    links[link].preparation.linkWasUsed(at: now)
    host.openChannels(spsm: psm, Self.settings, token: token, on: links[link].link.handle, at: now)
  }

  private mutating func opened(_ channel: Channel, _ token: ChannelToken?, on link: Int, at now: Instant) {
    if let token {
      guard let opening = links[link].channels.takeOpening(token) else { return abandon(channel, on: link, at: now) }
      let open = enter(channel, of: .central(opening.session), on: link)
      deliver(.channelOpened(links[link].peer, .success(open)), to: opening.session)
    } else {
      guard let owner = publishedChannels.owner(of: channel.spsm) else { return abandon(channel, on: link, at: now) }
      let open = enter(channel, of: .peripheral(owner), on: link)
      deliver(.channelOpened(centralInfo(of: link), open), to: owner)
    }
  }

  private mutating func enter(_ channel: Channel, of owner: LinkChannels.Owner, on link: Int) -> ChannelInfo {
    let pipe = sessions.makePipe()
    links[link].channels.entries.append(LinkChannels.Entry(channel: channel, pipe: pipe, owner: owner))
    return ChannelInfo(handle: pipe.handle, psm: channel.spsm)
  }

  /// Closes a channel that no session wants any more.
  private mutating func abandon(_ channel: Channel, on link: Int, at now: Instant) {
    host.closeChannel(channel.id, on: links[link].link.handle, at: now)
  }

  // MARK: Publishing

  mutating func publishChannel(isEncrypted: Bool, by session: PeripheralSessionID, at now: Instant) {
    let security = ChannelSecurity(level: isEncrypted ? .encrypted : .none)
    guard let psm = host.publishChannel(Self.settings, security: security) else {
      deliver(.channelPublished(psm: 0, .outOfSpace), to: session)
      return
    }
    publishedChannels.add(psm, session)
    deliver(.channelPublished(psm: psm, nil), to: session)
  }

  /// Unpublishes a PSM. Closes the channels that centrals have opened to it.
  mutating func unpublishChannel(_ psm: UInt16, by session: PeripheralSessionID, at now: Instant) {
    guard publishedChannels.remove(psm, session) else {
      deliver(.channelUnpublished(psm: psm, .invalidParameters), to: session)
      return
    }
    host.unpublishChannel(spsm: psm, at: now)
    // Apps learn of the end of the channels first.
    takeHostEvents(at: now)
    deliver(.channelUnpublished(psm: psm, nil), to: session)
  }

  mutating func unpublishChannels(of session: PeripheralSessionID, at now: Instant) {
    for psm in publishedChannels.all(of: session) where publishedChannels.remove(psm, session) {
      host.unpublishChannel(spsm: psm, at: now)
    }
    takeHostEvents(at: now)
  }

  // MARK: Data

  /// Handles an app's reads, its writes or its closing of the channel.
  mutating func channelUsed(_ channel: ChannelHandle, at now: Instant) {
    guard let pipe = sessions.pipe(of: channel) else { return }
    let work = pipe.takeWork()
    if work.wantsAnnouncement { announce(pipe) }
    for link in links.indices {
      guard let index = links[link].channels.index(of: pipe) else { continue }
      let (id, connection) = (links[link].channels.entries[index].channel.id, links[link].link.handle)
      for _ in 0..<work.readSDUs { host.acknowledge(id, on: connection, at: now) }
      if pipe.isReleased, links[link].channels.entries[index].closesBy == nil {
        links[link].channels.entries[index].closesBy = now + Self.patience
      }
      send(index, on: link, at: now)
      return
    }
  }

  /// Passes written data to the host, as much as the host accepts.
  private mutating func send(_ index: Int, on link: Int, at now: Instant) {
    let (channel, connection) = (links[link].channels.entries[index].channel, links[link].link.handle)
    let pipe = links[link].channels.entries[index].pipe
    var hasRoom = false
    while let sdu = pipe.nextSDU(channel.sendMTU, in: host.pool) {
      // The host reports when there is room again.
      guard host.sendOnChannel(sdu, channel.id, on: connection, at: now) else { break }
      if pipe.removeSent(sdu.count) { hasRoom = true }
    }
    if hasRoom { announce(pipe) }
    guard links[link].channels.entries[index].closesBy != nil, !links[link].channels.entries[index].isClosing,
      pipe.isDrained
    else { return }
    links[link].channels.entries[index].isClosing = true
    host.closeChannelWhenSent(channel.id, on: connection, at: now)
  }

  mutating func announce(_ pipe: ChannelPipe) {
    if pipe.beginAnnouncement() { deliver(.channel(pipe.handle)) }
  }

  // MARK: Host events

  mutating func handle(_ event: ChannelEvent, on link: Int, at now: Instant) {
    switch event {
    case .opened(let channel, let token): opened(channel, token, on: link, at: now)
    case .openFailed(let token, let error):
      guard let opening = links[link].channels.takeOpening(token) else { return }
      deliver(.channelOpened(links[link].peer, .failure(SessionError(error))), to: opening.session)
    case .received(let id, let sdu):
      guard let index = links[link].channels.index(of: id) else { return }
      let pipe = links[link].channels.entries[index].pipe
      if pipe.receive(sdu) {
        announce(pipe)
      } else {
        host.acknowledge(id, on: links[link].link.handle, at: now)
      }
    case .hasRoom(let id):
      if let index = links[link].channels.index(of: id) { send(index, on: link, at: now) }
    case .reconfigured(let channel):
      if let index = links[link].channels.index(of: channel.id) {
        links[link].channels.entries[index].channel = channel
      }
    case .closed(let id):
      if let index = links[link].channels.index(of: id) { finish(index, on: link, .closed) }
    // The daemon requests no reconfiguration.
    case .reconfigurationFailed: break
    }
  }

  // MARK: End of channels

  private mutating func finish(_ index: Int, on link: Int, _ end: ChannelEnd) {
    let pipe = links[link].channels.entries.remove(at: index).pipe
    pipe.finish(end)
    announce(pipe)
  }

  /// Ends all channels of a link that has ended.
  mutating func endChannels(of link: Int, _ end: ChannelEnd) {
    links[link].channels.opening.removeAll()
    while !links[link].channels.entries.isEmpty { finish(0, on: link, end) }
  }

  /// Closes the channels that a central manager has opened on a link that it no longer uses.
  mutating func closeChannels(of session: CentralSessionID, on link: Int, at now: Instant) {
    let connection = links[link].link.handle
    while let index = links[link].channels.entries.firstIndex(where: { $0.owner == .central(session) }) {
      let id = links[link].channels.entries[index].channel.id
      finish(index, on: link, .closed)
      host.closeChannel(id, on: connection, at: now)
    }
  }

  /// The earliest deadline of a channel that its app has closed; nil: none.
  var channelDeadline: Instant? {
    // Read in place: see `deadline`.
    mutating get {
      var result: Instant?
      for link in links.indices { result = earliest(result, links[link].channels.deadline) }
      return result
    }
  }

  /// Closes the channels whose peer has not accepted the data written before the deadline.
  mutating func closeLateChannels(at now: Instant) {
    for link in links.indices {
      guard let deadline = links[link].channels.deadline, deadline <= now else { continue }
      let connection = links[link].link.handle
      while let index = links[link].channels.entries.firstIndex(where: { $0.closesBy.map { $0 <= now } ?? false }) {
        let id = links[link].channels.entries[index].channel.id
        finish(index, on: link, .closed)
        host.closeChannel(id, on: connection, at: now)
      }
    }
  }
}

extension SessionError {
  init(_ error: ChannelError) {
    switch error {
    case .refused(.insufficientAuthentication): self = .att(.insufficientAuthentication)
    case .refused(.insufficientAuthorization): self = .att(.insufficientAuthorization)
    case .refused(.insufficientEncryption): self = .att(.insufficientEncryption)
    case .refused(.encryptionKeySizeTooShort): self = .att(.insufficientEncryptionKeySize)
    case .refused(.noResources): self = .connectionLimitReached
    case .refused: self = .refused
    case .notUnderstood: self = .notSupported
    case .timeout: self = .timeout
    case .invalidAnswer: self = .invalidResponse
    case .outOfChannels: self = .outOfSpace
    case .notConnected: self = .link(.unknownConnectionIdentifier)
    }
  }
}
