import BluetoothDaemon
import BluetoothWire
import DequeModule

// Messages of the server for this process's apps.
extension ServerRunner {
  func handle(_ message: ServerMessage) {
    switch message {
    // This client never asks for the list of clients.
    case .welcome, .refused, .clients: break
    case .app(let report): handle(report)
    case .unknownMessage(let type): noteUnknownType(type)
    case .directory(let change):
      if !peers.take(change), let channel {
        channel.close()
        closed(channel, violation: "too many peers")
      }
      if case .access(let access) = change {
        noteAccess(access)
        noteAnswer()
      }
      sendAttempts()
    case .central(let number, let event):
      guard let id = centralIDs[number] else { return drop(event) }
      hasSessionEvents = true
      centrals[id]?.noteEvent()
      handle(event, for: id)
    case .peripheral(let number, let event):
      guard let id = peripheralIDs[number] else { return drop(event) }
      hasSessionEvents = true
      peripherals[id]?.noteEvent()
      handle(event, for: id)
    case .writeCredits(let number, let peer, let count):
      guard let id = centralIDs[number], let credits = centrals[id]?.counters.writeCredits(for: peer) else { return }
      if credits.put(Int(count)) { deliver(.readyToWriteWithoutResponse(peer), to: id) }
    case .updateCredits(let number, let count):
      guard let id = peripheralIDs[number], let credits = peripherals[id]?.counters.updateCredits else { return }
      if credits.put(Int(count)) { deliver(.readyToUpdate, to: id) }
    case .channelOctets(let channel, let octets):
      guard let handle = channelHandles[channel], let pipe = channels[handle]?.pipe else { return }
      // An app that has stopped to read takes everything.
      if pipe.receive(octets) { announce(pipe) } else { send(.channelRead(channel, frames: 1)) }
    case .channelTaken(let channel, let octets):
      guard let handle = channelHandles[channel] else { return }
      if let before = channels[handle]?.unacknowledged {
        channels[handle]?.unacknowledged = max(0, before - Int(octets))
      }
      sendOctets(of: handle)
    case .channelCut(let channel):
      if let handle = channelHandles[channel] { channels[handle]?.isCut = true }
    case .channelEnded(let channel, let end):
      guard let handle = channelHandles.removeValue(forKey: channel) else { return }
      finish(handle, end)
    }
  }

  private func handle(_ report: AppReport) {
    switch report {
    case .stateChanged(let state):
      runState = state
      DaemonLog.trace("this app is now \(state)", of: "\(specifier)")
    case .stop(let reason, let byUser): stop(reason, byUser)
    // Answers to questions that only the command line asks.
    case .apps, .done, .alerts, .links, .packet: break
    }
  }

  private func handle(_ event: CentralEvent, for id: CentralSessionID) {
    switch event {
    case .barrierReached: _ = centrals[id]?.barriers.popFirst()
    case .channelOpened(let peer, .success(let info)):
      return deliver(.channelOpened(peer, .success(openChannel(info))), to: id)
    default: break
    }
    deliver(event, to: id)
  }

  private func handle(_ event: PeripheralEvent, for id: PeripheralSessionID) {
    switch event {
    case .barrierReached: _ = peripherals[id]?.barriers.popFirst()
    case .channelOpened(let central, let info):
      return deliver(.channelOpened(central, openChannel(info)), to: id)
    default: break
    }
    deliver(event, to: id)
  }

  /// Delivers an event to its client.
  func deliver(_ event: CentralEvent, to id: CentralSessionID) {
    if case .stateChanged(let state) = event {
      centrals[id]?.noteState(state)
      for peer in Array(attempts.keys) { attempts[peer]?.removeAll { $0.session == id } }
    }
    sessions.deliver(.central(id, event))
  }

  /// Delivers an event to its client.
  func deliver(_ event: PeripheralEvent, to id: PeripheralSessionID) {
    if case .stateChanged(let state) = event { peripherals[id]?.noteState(state) }
    sessions.deliver(.peripheral(id, event))
  }

  // MARK: Channels

  /// Creates this end of a channel, and returns it under its handle of this process.
  private func openChannel(_ info: ChannelInfo) -> ChannelInfo {
    let pipe = sessions.makePipe()
    channels[pipe.handle] = RemoteChannel(handle: info.handle, pipe: pipe)
    channelHandles[info.handle] = pipe.handle
    return ChannelInfo(handle: pipe.handle, psm: info.psm)
  }

  private func drop(_ event: CentralEvent) {
    if case .channelOpened(_, .success(let info)) = event { send(.closeChannel(info.handle)) }
  }

  private func drop(_ event: PeripheralEvent) {
    if case .channelOpened(_, let info) = event { send(.closeChannel(info.handle)) }
  }

  private func finish(_ handle: ChannelHandle, _ end: ChannelEnd) {
    guard let channel = channels.removeValue(forKey: handle) else { return }
    channel.pipe.finish(end, isCut: channel.isCut || channel.unacknowledged > 0)
    announce(channel.pipe)
  }

  // MARK: Loss of the connection

  /// Drops everything of the apps when the connection is lost, as a daemon does when its adapter fails: their new state
  /// tells them of the end.
  func dropEverything(_ state: AdapterState) {
    peers.reset()
    attempts.removeAll()
    channelHandles.removeAll()
    for handle in channels.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      finish(handle, .lost(.link(.connectionTerminatedByLocalHost)))
    }
    for id in centrals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      centrals[id]?.counters.returnAllCredits()
      while let number = centrals[id]?.barriers.popFirst() { deliver(.barrierReached(number), to: id) }
      if centrals[id]?.latestState != state { deliver(.stateChanged(state), to: id) }
    }
    for id in peripherals.keys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      peripherals[id]?.counters.returnAllCredits()
      while let number = peripherals[id]?.barriers.popFirst() { deliver(.barrierReached(number), to: id) }
      if peripherals[id]?.latestState != state { deliver(.stateChanged(state), to: id) }
    }
  }
}
