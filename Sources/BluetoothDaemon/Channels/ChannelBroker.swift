import BluetoothHost
import BluetoothWire

/// The broker of apps' LE credit-based channels · Vol 3, Part A, 4.22.
struct ChannelBroker {
  private(set) var publishedChannels = PublishedChannels()
  /// The number of channels that apps have requested so far.
  private var channelRequests: UInt64 = 0
  /// The PSMs of channels that no session owns any more and that the host still publishes.
  private var droppedChannels: [UInt16] = []

  /// The parameters of this side of a channel. While the app does not read, the peer can send at most 32 SDUs, which
  /// limits the memory use of a channel.
  private static let settings = ChannelSettings(mtu: 2_048, mps: 247, credits: 32)
  /// The SPSMs that an LE channel can have: those assigned by the SIG and the dynamic ones · 4.22.
  private static let possiblePSMs: ClosedRange<UInt16> = 0x0001...0x00FF
  /// The time limit for sending the remaining data of a channel that its app has closed.
  private static let closeTimeout = TimeSpan.seconds(30)

  // MARK: Opening

  /// Opens a channel to a PSM of the peer of a link.
  mutating func openChannel(
    _ psm: UInt16, on link: SessionLink<CentralRole>, at now: Instant, _ context: inout DaemonContext
  ) {
    guard Self.possiblePSMs.contains(psm) else {
      let peer = context.links[link.index].peer
      context.deliver(.channelOpened(peer, .failure(.invalidParameters)), to: link.session)
      return
    }
    channelRequests += 1
    let token = ChannelToken(rawValue: channelRequests)
    context.links[link.index].channels.open(token, for: link.session)
    let connection = context.links[link.index].link.handle
    context.host.openChannels(spsm: psm, Self.settings, token: token, on: connection, at: now)
  }

  private mutating func opened(
    _ channel: Channel, _ token: ChannelToken?, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    if let token {
      guard let opening = context.links[link].channels.takeOpening(token) else {
        return abandon(channel, on: link, at: now, &context)
      }
      let open = enter(channel, of: .central(opening.session), on: link, &context)
      context.deliver(.channelOpened(context.links[link].peer, .success(open)), to: opening.session)
    } else {
      guard let owner = publishedChannels.owner(of: channel.spsm) else {
        return abandon(channel, on: link, at: now, &context)
      }
      let open = enter(channel, of: .peripheral(owner), on: link, &context)
      context.deliver(.channelOpened(context.centralInfo(of: link), open), on: link, to: owner)
    }
  }

  private mutating func enter(
    _ channel: Channel, of owner: AnySession, on link: DaemonLinkIndex, _ context: inout DaemonContext
  ) -> ChannelInfo {
    let pipe = context.clients.makePipe()
    context.hold(pipe, of: owner)
    context.links[link].channels.add(channel, pipe, of: owner)
    return ChannelInfo(handle: pipe.handle, psm: channel.spsm)
  }

  /// Closes a channel that no session wants any more.
  private mutating func abandon(
    _ channel: Channel, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    context.host.closeChannel(channel.id, on: context.links[link].link.handle, at: now)
  }

  // MARK: Publishing

  /// Publishes a channel under a new PSM, and reports it.
  mutating func publishChannel(
    isEncrypted: Bool, by session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    let security = ChannelSecurity(level: isEncrypted ? .encrypted : .none)
    let taken = publishedChannels.owners.values.map { (session: AnySession.peripheral($0), count: 1) }
    guard context.mayTake(of: .channels, for: .peripheral(session), beside: taken),
      let psm = context.host.publishChannel(Self.settings, security: security)
    else {
      context.deliver(.channelPublished(psm: 0, .outOfSpace), to: session)
      return
    }
    publishedChannels.add(psm, session)
    context.deliver(.channelPublished(psm: psm, nil), to: session)
  }

  /// Unpublishes a PSM. The host closes the channels that centrals have opened to it. Returns false if the session does
  /// not own the PSM.
  mutating func unpublishChannel(
    _ psm: UInt16, by session: PeripheralSessionID, at now: Instant, _ host: inout Host
  ) -> Bool {
    guard publishedChannels.remove(psm, session) else { return false }
    host.unpublishChannel(spsm: psm, at: now)
    return true
  }

  /// Unpublishes all PSMs of a session.
  mutating func unpublishChannels(
    of session: PeripheralSessionID, at now: Instant, _ host: inout Host
  ) {
    for psm in publishedChannels.all(of: session) {
      _ = unpublishChannel(psm, by: session, at: now, &host)
    }
  }

  /// Unpublishes all PSMs of a session whose app has been terminated, and closes its channels when their data have been
  /// sent.
  mutating func release(_ session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext) {
    for psm in publishedChannels.all(of: session) where publishedChannels.remove(psm, session) {
      context.host.unpublishChannel(spsm: psm, keepsChannels: true, at: now)
    }
    context.links.releaseChannels(of: .peripheral(session))
  }

  /// Forgets all PSMs when the adapter goes off. They stay published until `removeDropped`.
  mutating func dropAll() { droppedChannels += publishedChannels.removeAll() }

  /// Unpublishes the forgotten PSMs.
  mutating func removeDropped(at now: Instant, _ host: inout Host) {
    for psm in droppedChannels { host.unpublishChannel(spsm: psm, at: now) }
    droppedChannels.removeAll()
  }

  // MARK: Data

  /// Handles an app's reads, its writes or its closing of the channel.
  mutating func channelUsed(_ channel: ChannelHandle, at now: Instant, _ context: inout DaemonContext) {
    guard let pipe = context.clients.pipe(of: channel) else { return }
    let work = pipe.takeWork()
    if work.wantsAnnouncement { context.announce(pipe) }
    for link in context.links.indices {
      guard let index = context.links[link].channels.index(of: pipe) else { continue }
      let (id, connection) = (context.links[link].channels.entries[index].channel.id, context.links[link].link.handle)
      for _ in 0..<work.readSDUs { context.host.acknowledge(id, on: connection, at: now) }
      if pipe.isReleased { context.links[link].channels.close(index, by: now + Self.closeTimeout) }
      send(index, on: link, at: now, &context)
      return
    }
  }

  /// Passes written data to the host, as much as the host accepts.
  private mutating func send(_ index: Int, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    let (channel, connection) = (context.links[link].channels.entries[index].channel, context.links[link].link.handle)
    let pipe = context.links[link].channels.entries[index].pipe
    var hasRoom = false
    while let sdu = pipe.nextSDU(channel.sendMTU, in: context.host.pool) {
      // The host reports when there is room again.
      guard context.host.sendOnChannel(sdu, channel.id, on: connection, at: now) else { break }
      context.links[link].channels.noteSent(index)
      if pipe.removeSent(sdu.count) { hasRoom = true }
    }
    if hasRoom { context.announce(context.links[link].channels.entries[index]) }
    guard context.links[link].channels.entries[index].closesBy != nil, pipe.isDrained,
      context.links[link].channels.beginClosing(index)
    else { return }
    context.host.closeChannelWhenSent(channel.id, on: connection, at: now)
  }

  // MARK: Host events

  /// Handles the host's event of a channel.
  mutating func handle(_ event: ChannelEvent, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext)
  {
    switch event {
    case .opened(let channel, let token): opened(channel, token, on: link, at: now, &context)
    case .openFailed(let token, let error):
      guard let opening = context.links[link].channels.takeOpening(token) else { return }
      context.deliver(.channelOpened(context.links[link].peer, .failure(SessionError(error))), to: opening.session)
    case .received(let id, let sdu):
      guard let index = context.links[link].channels.index(of: id) else { return }
      let entry = context.links[link].channels.entries[index]
      if entry.pipe.receive(sdu) {
        context.announce(entry)
      } else {
        context.host.acknowledge(id, on: context.links[link].link.handle, at: now)
      }
    case .hasRoom(let id):
      if let index = context.links[link].channels.index(of: id) { send(index, on: link, at: now, &context) }
    case .reconfigured(let channel): context.links[link].channels.reconfigure(channel)
    case .closed(let id, let hasSentAll):
      // A channel that is closed when its data have been sent ends with `closeEnded`.
      guard let index = context.links[link].channels.index(of: id),
        !context.links[link].channels.entries[index].isClosing
      else { return }
      Self.finishChannel(index, on: link, .closed, hasSentAll: hasSentAll, &context)
    case .closeEnded(let id, let isConfirmed):
      if let index = context.links[link].channels.index(of: id) {
        Self.finishChannel(index, on: link, .closed, isDelivered: isConfirmed, &context)
      }
    // The daemon requests no reconfiguration.
    case .reconfigurationFailed: break
    }
  }

  // MARK: Time

  /// Closes the channels whose peer has not accepted the data written before the deadline.
  mutating func closeLateChannels(at now: Instant, _ context: inout DaemonContext) {
    for link in context.links.indices {
      guard let deadline = context.links[link].channels.deadline, deadline <= now else { continue }
      let connection = context.links[link].link.handle
      while let index = context.links[link].channels.late(at: now) {
        let id = context.links[link].channels.entries[index].channel.id
        Self.finishChannel(index, on: link, .lost(.timeout), &context)
        context.host.closeChannel(id, on: connection, at: now)
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
