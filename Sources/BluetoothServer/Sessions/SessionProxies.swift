import BluetoothDaemon
import BluetoothDaemonProtocol

/// The client of a central manager's session whose app is in another process. The daemon sees an ordinary client that
/// only queues events.
final class CentralProxy: CentralClient {
  let number: SessionNumber
  let counts: ProxyCounts<CentralRole, CentralEvent>
  private let outbox: Outbox
  private let channels: ChannelTable

  /// - Parameter keepsEvents: true if the daemon gets back the events that the app does not handle.
  init(_ number: SessionNumber, _ outbox: Outbox, _ channels: ChannelTable, keepsEvents: Bool) {
    counts = ProxyCounts(keepsEvents: keepsEvents)
    self.number = number
    self.outbox = outbox
    self.channels = channels
  }

  var queuesEvents: Bool { true }

  /// Opens the session.
  func open(on adapter: any DaemonAdapter, for owner: SessionOwner?) {
    let session = adapter.openCentralSession(for: self, owner: owner)
    let (outbox, number) = (outbox, number)
    session.observeCredits { peer, count in
      if let peer { outbox.send(.writeCredits(number, peer, count: UInt32(clamping: count))) }
    }
    counts.set(session)
  }

  func receive(_ event: CentralEvent) {
    counts.eventQueued(event.withOwnOctets)
    guard case .channelOpened(_, .success(let info)) = event, let channel = counts.session?.takeChannel(info) else {
      return outbox.send(.central(number, event))
    }
    // The app must know the channel before its first octets.
    channels.open(channel, info.handle, outbox) { outbox.send(.central(number, event)) }
  }

  /// Returns the events that the app has not handled to the daemon: the process of the app has ended.
  func returnEvents() {
    guard let (session, events) = counts.takeUnhandled(), !events.isEmpty else { return }
    session.putBack(events)
  }

  /// Passes on a command of the app. Returns false if the app has no credit for it.
  func perform(_ command: CentralCommand, seenStates: UInt32) -> Bool {
    guard let session = counts.session else { return true }
    switch command {
    case .writeWithoutResponse(let peer, _, _), .signedWriteWithoutResponse(let peer, _, _):
      // The peer has been forgotten.
      guard outbox.numbering.number(peer) != nil else { return true }
      guard session.writeCredits(for: peer).take() else { return false }
    default: break
    }
    session.send(command, seenStates: seenStates)
    return true
  }
}

/// The client of a peripheral manager's session whose app is in another process.
final class PeripheralProxy: PeripheralClient {
  let number: SessionNumber
  let counts: ProxyCounts<PeripheralRole, PeripheralEvent>
  private let outbox: Outbox
  private let channels: ChannelTable

  /// - Parameter keepsEvents: true if the daemon gets back the events that the app does not handle.
  init(_ number: SessionNumber, _ outbox: Outbox, _ channels: ChannelTable, keepsEvents: Bool) {
    counts = ProxyCounts(keepsEvents: keepsEvents)
    self.number = number
    self.outbox = outbox
    self.channels = channels
  }

  var queuesEvents: Bool { true }

  /// Opens the session.
  func open(on adapter: any DaemonAdapter, for owner: SessionOwner?) {
    let session = adapter.openPeripheralSession(for: self, owner: owner)
    let (outbox, number) = (outbox, number)
    session.observeCredits { _, count in outbox.send(.updateCredits(number, count: UInt32(clamping: count))) }
    counts.set(session)
  }

  func receive(_ event: PeripheralEvent) {
    counts.eventQueued(event.withOwnOctets)
    guard case .channelOpened(_, let info) = event, let channel = counts.session?.takeChannel(info) else {
      return outbox.send(.peripheral(number, event))
    }
    channels.open(channel, info.handle, outbox) { outbox.send(.peripheral(number, event)) }
  }

  /// Returns the events that the app has not handled to the daemon: the process of the app has ended.
  func returnEvents() {
    guard let (session, events) = counts.takeUnhandled(), !events.isEmpty else { return }
    session.putBack(events)
  }

  /// Passes on a command of the app. Returns false if the app has no credit for it.
  func perform(_ command: PeripheralCommand, seenStates: UInt32) -> Bool {
    guard let session = counts.session else { return true }
    if case .update = command { guard session.updateCredits.take() else { return false } }
    session.send(command, seenStates: seenStates)
    return true
  }
}
