import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothWire
import NIOConcurrencyHelpers

/// The open channels of one connection.
final class ChannelTable: Sendable {
  private let proxies = NIOLockedValueBox<[ChannelHandle: ChannelProxy]>([:])

  /// Adds a channel, reports it by `report`, and sends the octets that it has received already.
  func open(_ channel: OpenChannel, _ handle: ChannelHandle, _ outbox: Outbox, report: () -> Void) {
    let proxy = ChannelProxy(channel, handle, outbox) { [weak self] in self?.remove(handle) }
    proxies.withLockedValue { $0[handle] = proxy }
    channel.pipe.setClient(proxy)
    report()
    proxy.channelChanged()
  }

  /// The channel of that handle; nil: it has ended.
  subscript(handle: ChannelHandle) -> ChannelProxy? { proxies.withLockedValue { $0[handle] } }

  /// Closes all channels.
  func closeAll() {
    // The channels are released, and so closed, without the lock.
    let all = proxies.withLockedValue { proxies in
      defer { proxies.removeAll() }
      return proxies
    }
    for proxy in all.values { proxy.abandon() }
  }

  private func remove(_ handle: ChannelHandle) {
    _ = proxies.withLockedValue { $0.removeValue(forKey: handle) }
  }
}

/// The end of an L2CAP channel whose app is in another process. Octets wait in the channel's pipe, where the flow
/// control of L2CAP counts them, until the app has room.
final class ChannelProxy: ChannelClient {
  private struct State {
    /// Nil: the app has closed the channel, and the channel has ended.
    var channel: OpenChannel?
    /// The number of frames that the app has not read.
    var unreadFrames = 0
    /// Octets of the app for which the pipe has no room.
    var outgoing: [UInt8] = []
    var isClosing = false
    var hasEnded = false
  }

  private let handle: ChannelHandle
  private let outbox: Outbox
  private let state: NIOLockedValueBox<State>
  /// Called when the channel has ended, with no lock held.
  private let onEnd: @Sendable () -> Void

  init(
    _ channel: OpenChannel, _ handle: ChannelHandle, _ outbox: Outbox, onEnd: @escaping @Sendable () -> Void
  ) {
    self.handle = handle
    self.outbox = outbox
    self.onEnd = onEnd
    state = NIOLockedValueBox(State(channel: channel))
  }

  /// Moves octets in both directions.
  func channelChanged() { change { _ in } }

  /// Takes octets of the app. Returns false if the app has sent more than it may.
  func receive(_ octets: ByteSlice) -> Bool {
    change { state in
      guard !state.isClosing, state.outgoing.count + octets.count <= DaemonProtocol.channelWindow else { return false }
      octets.withUnsafeBytes { state.outgoing.append(contentsOf: $0) }
      return true
    }
  }

  /// Counts frames that the app has read. Returns false if there were not so many.
  func wasRead(_ frames: Int) -> Bool {
    change { state in
      guard frames <= state.unreadFrames else { return false }
      state.unreadFrames -= frames
      return true
    }
  }

  /// Closes the channel when the octets that the app has written have been taken.
  func close() { change { $0.isClosing = true } }

  /// Closes the channel at once.
  func abandon() {
    change { state in
      state.outgoing.removeAll()
      state.isClosing = true
    }
  }

  private func change<R>(_ body: (inout State) -> R) -> R {
    let (result, channel, closes, isOver) = state.withLockedValue { state in
      let result = body(&state)
      let channel = state.channel
      if let channel { move(channel.pipe, &state) }
      return (result, channel, state.isClosing && state.outgoing.isEmpty, state.channel == nil || state.hasEnded)
    }
    // With no lock held.
    if closes { channel?.pipe.close() } else { channel?.pipe.tellDaemon() }
    if isOver { onEnd() }
    return result
  }

  private func move(_ pipe: ChannelPipe, _ state: inout State) {
    var buffer = [UInt8](repeating: 0, count: DaemonProtocol.maximumChannelPart)
    while state.unreadFrames < DaemonProtocol.channelParts, !state.isClosing {
      let count = buffer.withUnsafeMutableBytes { pipe.read(into: $0) }
      guard count > 0 else { break }
      state.unreadFrames += 1
      outbox.send(.channelOctets(handle, ByteSlice(buffer[..<count])))
    }
    if !state.outgoing.isEmpty {
      let count = state.outgoing.withUnsafeBytes { pipe.write($0) }
      state.outgoing.removeFirst(count)
      if count > 0 { outbox.send(.channelTaken(handle, octets: UInt32(count))) }
    }
    if !state.hasEnded, let end = end(of: pipe, state) {
      state.hasEnded = true
      // An end without a close by the app does not tell if the peer has all octets that the pipe has taken.
      if end == .closed, let finalEnd = pipe.finalEnd, finalEnd != .closed { outbox.send(.channelCut(handle)) }
      outbox.send(.channelEnded(handle, end))
    }
    if state.isClosing, state.hasEnded { state.channel = nil }
  }

  /// Returns the end of the channel that the app gets now; nil: none. After the app has closed the channel, this is the
  /// end at the daemon, which tells if the peer has all octets.
  private func end(of pipe: ChannelPipe, _ state: State) -> ChannelEnd? {
    guard state.isClosing else { return pipe.available == 0 ? pipe.end : nil }
    guard pipe.finalEnd == .closed, !state.outgoing.isEmpty else { return pipe.finalEnd }
    return .lost(.link(.connectionTerminatedByLocalHost))
  }
}
