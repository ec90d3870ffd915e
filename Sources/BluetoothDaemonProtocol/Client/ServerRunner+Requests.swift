import BluetoothDaemon
import BluetoothWire

// Requests of this process's apps. While there is no connection, they are handled as a daemon handles them whose adapter
// is not on.
extension ServerRunner {
  func handle(_ request: DaemonRequest) {
    switch request {
    case .openCentral(let id, let owner):
      let session = RemoteSession(nextNumber(), sessions.counters(of: id), owner)
      centrals[id] = session
      centralIDs[session.number] = id
      if channel != nil { open(id) } else if let outage { deliver(.stateChanged(outage), to: id) }
    case .openPeripheral(let id, let owner):
      let session = RemoteSession(nextNumber(), sessions.counters(of: id), owner)
      peripherals[id] = session
      peripheralIDs[session.number] = id
      if channel != nil { open(id) } else if let outage { deliver(.stateChanged(outage), to: id) }
    case .closeCentral(let id):
      guard let session = centrals.removeValue(forKey: id) else { return }
      centralIDs[session.number] = nil
      for peer in Array(attempts.keys) { attempts[peer]?.removeAll { $0.session == id } }
      send(.closeCentral(session.number))
    case .closePeripheral(let id):
      guard let session = peripherals.removeValue(forKey: id) else { return }
      peripheralIDs[session.number] = nil
      send(.closePeripheral(session.number))
    case .central(let id, let command, let seenStates): perform(command, of: id, seenStates)
    case .peripheral(let id, let command, let seenStates): perform(command, of: id, seenStates)
    case .channel(let handle): channelUsed(handle)
    // Only a server introduces devices to its daemon, and knows of the life of apps.
    case .introduce, .unhandled, .app, .system: break
    }
  }

  /// Opens all sessions on a new connection. The system may restore them if no manager knows a state of a server.
  func openAll() {
    if hasSessionEvents {
      send(.app(.returned))
      if runState == .background || runState == .suspended { send(.app(.wasInBackground)) }
    }
    for id in centrals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { open(id) }
    for id in peripherals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { open(id) }
  }

  private func open(_ id: CentralSessionID) {
    guard let session = centrals[id] else { return }
    centrals[id]?.open()
    nameSession(session)
    send(.openCentral(session.number))
    if session.observesLinks { send(.central(session.number, .observeLinks, seenStates: 0)) }
  }

  private func open(_ id: PeripheralSessionID) {
    guard let session = peripherals[id] else { return }
    peripherals[id]?.open()
    nameSession(session)
    send(.openPeripheral(session.number))
    if session.observesLinks { send(.peripheral(session.number, .observeLinks, seenStates: 0)) }
  }

  private func nameSession(_ session: RemoteSession) {
    guard let identifier = session.restoreIdentifier else { return }
    if !send(.app(.restoreIdentifier(session.number, identifier))) {
      DaemonLog.note("a restore identifier has no effect, because it is too long", of: "\(specifier)")
    }
  }

  private func perform(_ command: CentralCommand, of id: CentralSessionID, _ seenStates: UInt32) {
    guard let session = centrals[id] else { return }
    switch command {
    case .barrier(let number):
      guard channel != nil else { return deliver(.barrierReached(number), to: id) }
      centrals[id]?.barriers.append(number)
      send(.central(session.number, command, seenStates: 0))
    case .observeLinks:
      centrals[id]?.observesLinks = true
      send(.central(session.number, command, seenStates: 0))
    case .askForPower: send(.central(session.number, command, seenStates: 0))
    default:
      guard channel != nil, let seen = session.seenStates(seenStates) else { return returnCredit(of: command, session) }
      if !send(.central(session.number, command, seenStates: seen)) { failed(command, session, id) }
    }
  }

  /// Handles a command that can't be sent: the server does not know the peer, or the command is too long.
  private func failed(_ command: CentralCommand, _ session: RemoteSession, _ id: CentralSessionID) {
    returnCredit(of: command, session)
    switch command {
    // A server that has been started again does not know a peer without a bond. The attempt waits until it does.
    case .connect(let peer, _, _):
      guard let address = directory.address(of: peer) else { return }
      if attempts[peer]?.isEmpty ?? true { send(.introduce(address)) }
      attempts[peer, default: []].removeAll { $0.session == id }
      attempts[peer]?.append(WaitingAttempt(session: id, command: command))
    case .cancelConnection(let peer):
      attempts[peer]?.removeAll { $0.session == id }
      deliver(.disconnected(peer, nil, isReconnecting: false), to: id)
    default: break
    }
  }

  /// Sends the attempts that have waited for the server to know their peers.
  func sendAttempts() {
    guard !attempts.isEmpty else { return }
    for (peer, waiting) in attempts where peers.numbering.number(peer) != nil {
      attempts[peer] = nil
      for attempt in waiting {
        guard let session = centrals[attempt.session] else { continue }
        // All states of the connection have been seen: a change would have dropped the attempt.
        let seen = session.allStates
        send(.central(session.number, attempt.command, seenStates: seen))
      }
    }
  }

  private func returnCredit(of command: CentralCommand, _ session: RemoteSession) {
    switch command {
    case .writeWithoutResponse(let peer, _, _), .signedWriteWithoutResponse(let peer, _, _):
      _ = session.counters.writeCredits(for: peer).put()
    default: break
    }
  }

  private func perform(_ command: PeripheralCommand, of id: PeripheralSessionID, _ seenStates: UInt32) {
    guard let session = peripherals[id] else { return }
    switch command {
    case .barrier(let number):
      guard channel != nil else { return deliver(.barrierReached(number), to: id) }
      peripherals[id]?.barriers.append(number)
      send(.peripheral(session.number, command, seenStates: 0))
    case .observeLinks:
      peripherals[id]?.observesLinks = true
      send(.peripheral(session.number, command, seenStates: 0))
    case .askForPower: send(.peripheral(session.number, command, seenStates: 0))
    default:
      guard channel != nil, let seen = session.seenStates(seenStates) else { return returnCredit(of: command, session) }
      if !send(.peripheral(session.number, command, seenStates: seen)) { failed(command, session, id, seen) }
    }
  }

  /// Handles a command that can't be sent: it is too long, or the server does not know the peer.
  private func failed(
    _ command: PeripheralCommand, _ session: RemoteSession, _ id: PeripheralSessionID, _ seenStates: UInt32
  ) {
    returnCredit(of: command, session)
    switch command {
    case .addService(let service), .addServiceAt(let service): deliver(.serviceAdded(service.id, .outOfSpace), to: id)
    case .startAdvertising, .advertise: deliver(.advertisingStarted(.outOfSpace), to: id)
    case .startSet(let set, _):
      // A refused change ends the set.
      send(.peripheral(session.number, .stopSet(set), seenStates: seenStates))
      deliver(.advertisingSetStarted(set, .outOfSpace), to: id)
    default: break
    }
  }

  private func returnCredit(of command: PeripheralCommand, _ session: RemoteSession) {
    if case .update = command { _ = session.counters.updateCredits.put() }
  }

  // MARK: Channels

  /// Passes on what an app has read from a channel or written to it.
  private func channelUsed(_ handle: ChannelHandle) {
    guard let pipe = sessions.pipe(of: handle) else { return }
    let work = pipe.takeWork()
    if work.wantsAnnouncement { announce(pipe) }
    guard let channel = channels[handle] else { return }
    if work.readSDUs > 0 { send(.channelRead(channel.handle, frames: UInt32(work.readSDUs))) }
    sendOctets(of: handle)
  }

  /// Sends octets that the app has written, as many as the server takes.
  func sendOctets(of handle: ChannelHandle) {
    guard let channel = channels[handle] else { return }
    let pipe = channel.pipe
    var unacknowledged = channel.unacknowledged
    var hasRoom = false
    while unacknowledged < DaemonProtocol.channelWindow {
      let maximum = min(DaemonProtocol.maximumChannelPart, DaemonProtocol.channelWindow - unacknowledged)
      guard let octets = pipe.nextSDU(maximum, in: pool) else { break }
      send(.channelOctets(channel.handle, octets))
      unacknowledged += octets.count
      if pipe.removeSent(octets.count) { hasRoom = true }
    }
    channels[handle]?.unacknowledged = unacknowledged
    if hasRoom { announce(pipe) }
    // The server reports the end when the peer has all octets.
    if pipe.isReleased, pipe.isDrained, !channel.isClosing {
      channels[handle]?.isClosing = true
      send(.closeChannel(channel.handle))
    }
  }

  /// Notifies the app of a change of its channel.
  func announce(_ pipe: ChannelPipe) {
    if pipe.beginAnnouncement() { sessions.deliver(.channel(pipe.handle)) }
  }
}
