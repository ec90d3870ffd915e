// Design: the channels of apps
//
// A `ChannelPipe` (floor 4) is between an app and a channel. Both access it without waiting for each other. The data of
// the peer waits in the pipe until the app reads it. An SDU is acknowledged when all of it was read, so an app that
// never reads costs 64 kB and stops its peer. Written data waits in the pipe (16 kB) until the host takes it: all
// waiting data goes into one SDU, and the boundaries of writes are lost. The first octet that is written, the last
// octet of an SDU that is read, or the end of the channel posts one request, whatever else happens before the daemon
// takes it.
//
// - An event names the channel (`ChannelInfo`). The session's client takes the app's end, an `OpenChannel`, from the
//   session as soon as the event arrives. When its last reference is released, the channel closes. So an event that is
//   not consumed, an app without a delegate and a released manager leave no channel behind.
// - A close is not signalled before the written data has been sent, for which the peer has 30 s
//   (`closeChannelWhenSent`). The same applies to the channels of a preserved session whose app is terminated
//   (`releaseChannels`). If the app disconnects or unpublishes the PSM, or its session is not preserved, that data is
//   lost. The close is confirmed when the peer has answered it (`closeEnded`), not when it is sent: a link that ends in
//   between discards what is still in the controller. The channel's `finalEnd` tells the app's side, and
//   `L2CAPChannel.closeWhenSent` waits for it, also through a server.
// - Ends are reported in the order in which they happened: the octets before an end can still be read. A requested
//   close is an end of the stream; a lost link is an error with its reason.

import BluetoothWire
import DequeModule
import NIOConcurrencyHelpers

/// The reason why a channel has ended, as the app at this end sees it.
package enum ChannelEnd: Hashable, Sendable {
  /// An app at either end closed the channel, or one side ended the link on purpose.
  case closed
  /// The link was lost for this reason.
  case lost(SessionError)
}

/// A client that is notified of changes of a channel and then checks the channel. The adapter's executor calls it, as
/// it calls `CentralClient`.
package protocol ChannelClient: AnyObject, Sendable {
  func channelChanged()
}

/// The two buffers between an app and a channel: octets received but not yet read, and octets written but not yet sent.
/// The app and the daemon share the buffers, from different threads. Flow control applies in both directions: the peer
/// gets the credit of an SDU back when the app has read the SDU, and an app can write only as many octets as fit into
/// the send buffer. While the app is suspended, the daemon holds the pipe: octets wait in both buffers, and the app sees
/// neither octets nor room nor the end.
package final class ChannelPipe: Sendable {
  /// The capacity of the send buffer, in octets.
  package static let capacity = 16_384

  fileprivate struct State {
    weak var client: (any ChannelClient)?
    // Receive buffer
    var received = OctetQueue()
    /// The number of unread octets of each SDU. The SDU holds a credit of the peer until all its octets have been read.
    var unread: Deque<Int> = []
    /// The number of SDUs that have been read and whose credits have not been returned to the peer.
    var read = 0
    // Send buffer
    var outgoing = OctetQueue()
    /// True if the app found no room and wants to be notified when there is room.
    var isRoomAwaited = false
    // End of the channel
    var end: ChannelEnd?
    /// The end of the channel at the daemon.
    var finalEnd: ChannelEnd?
    var isReleased = false
    /// True if the app has stopped reading.
    var isInputDiscarded = false
    /// True while the app is suspended.
    var isHeld = false
    // Notifications between the two sides
    /// True if there is work of which the daemon has not been notified.
    var hasWork = false
    /// True if the daemon has been notified and has not called `takeWork` yet.
    var isPosted = false
    var wantsAnnouncement = false
    /// True while a notification of the client is queued.
    var isAnnounced = false
  }

  /// The app's actions since the last call of `takeWork`.
  package struct Work {
    package var readSDUs: Int
    package var wantsAnnouncement: Bool
  }

  /// The identifier of the channel in requests and events.
  package let handle: ChannelHandle
  private let requests: RequestQueue
  private let state = NIOLockedValueBox(State())

  init(_ handle: ChannelHandle, requests: RequestQueue) {
    self.handle = handle
    self.requests = requests
  }

  // MARK: App side, on any thread

  /// Sets the client, which is held weakly.
  package func setClient(_ client: any ChannelClient) { state.withLockedValue { $0.client = client } }

  /// The number of octets that can be read.
  package var available: Int { state.withLockedValue { $0.isHeld ? 0 : $0.received.count } }

  /// The number of octets that can be written. If it is 0, the client is notified when there is room again.
  package var room: Int {
    state.withLockedValue { state in
      let room = state.room
      if room == 0 { state.isRoomAwaited = true }
      return room
    }
  }

  /// The reason for the channel's end; nil: the channel is open. Octets received before the end can still be read.
  package var end: ChannelEnd? { state.withLockedValue { $0.isHeld && !$0.isReleased ? nil : $0.end } }

  /// The end of the channel at the daemon, after which nothing more is sent; nil: it has not ended there. It comes
  /// after `end` if the app has closed the channel, and is then `closed` if the peer has all octets written before. If
  /// the channel ends while written octets have not been sent, it is `lost`, also if `end` is `closed`. A client is
  /// notified.
  package var finalEnd: ChannelEnd? { state.withLockedValue { $0.finalEnd } }

  /// Moves received octets into `buffer`, as many as fit, and returns their number. The caller then calls
  /// `tellDaemon`.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLockedValue { state in
      guard !state.isHeld else { return 0 }
      let count = state.received.withFirst(buffer.count) { octets in
        buffer.copyMemory(from: octets)
        return octets.count
      }
      state.received.removeFirst(count)
      state.noteRead(count)
      return count
    }
  }

  /// Takes as many octets as there is room for and returns their number. The caller then calls `tellDaemon`.
  package func write(_ octets: UnsafeRawBufferPointer) -> Int {
    state.withLockedValue { state in
      let count = min(octets.count, state.room)
      if count < octets.count { state.isRoomAwaited = true }
      guard count > 0 else { return 0 }
      state.outgoing.append(UnsafeRawBufferPointer(rebasing: octets[..<count]))
      state.hasWork = true
      return count
    }
  }

  /// Closes the channel for the app: octets written before are still sent, unread octets are discarded.
  package func close() {
    state.withLockedValue { state in
      guard !state.isReleased else { return }
      state.isReleased = true
      state.drop()
      state.hasWork = state.end == nil
      state.end = state.end ?? .closed
    }
    tellDaemon()
  }

  /// Stops reading: octets received now or later are discarded, and the peer gets its credits back. The caller then
  /// calls `tellDaemon`.
  package func discardInput() {
    state.withLockedValue { state in
      state.isInputDiscarded = true
      state.drop()
      state.hasWork = true
    }
  }

  /// Requests a notification of the client, in order with the adapter's other events for apps. The caller then calls
  /// `tellDaemon`.
  package func requestAnnouncement() {
    state.withLockedValue { state in
      state.wantsAnnouncement = true
      state.hasWork = true
    }
  }

  /// Posts a request if there is work of which the daemon has not been notified. The caller must hold no lock.
  package func tellDaemon() {
    let isNews = state.withLockedValue { state in
      guard state.hasWork, !state.isPosted else { return false }
      state.isPosted = true
      return true
    }
    if isNews { requests.post(.channel(handle)) }
  }

  // MARK: Daemon side, or the way to a daemon in another process

  /// Returns the app's actions since the last call and resets them.
  package func takeWork() -> Work {
    state.withLockedValue { state in
      defer {
        state.isPosted = false
        state.hasWork = false
        state.read = 0
        state.wantsAnnouncement = false
      }
      return Work(readSDUs: state.read, wantsAnnouncement: state.wantsAnnouncement)
    }
  }

  /// Appends a received SDU. Returns false if no app will read it.
  package func receive(_ sdu: ByteSlice) -> Bool {
    state.withLockedValue { state in
      guard !state.isReleased, !state.isInputDiscarded, state.end == nil else { return false }
      sdu.withUnsafeBytes { state.received.append($0) }
      state.unread.append(sdu.count)
      return true
    }
  }

  /// Holds the pipe while the app is suspended. The caller announces the pipe when it no longer is.
  func setHeld(_ isHeld: Bool) { state.withLockedValue { $0.isHeld = isHeld } }

  /// True if the app has closed the channel.
  package var isReleased: Bool { state.withLockedValue { $0.isReleased } }

  /// True if the send buffer is empty.
  package var isDrained: Bool { state.withLockedValue { $0.outgoing.isEmpty } }

  /// Returns the next SDU to send, of at most `maximum` octets; nil: there is none. The octets stay in the buffer until
  /// `removeSent`.
  package func nextSDU(_ maximum: Int, in pool: PacketPool) -> ByteSlice? {
    state.withLockedValue { state in
      guard !state.outgoing.isEmpty else { return nil }
      return state.outgoing.withFirst(maximum) { ByteSlice($0, in: pool) }
    }
  }

  /// Removes `count` sent octets. Returns true if the app waits for the room.
  package func removeSent(_ count: Int) -> Bool {
    state.withLockedValue { state in
      state.outgoing.removeFirst(count)
      defer { state.isRoomAwaited = false }
      return state.isRoomAwaited
    }
  }

  /// Ends the channel. Received octets can still be read, unless the app has closed the channel itself.
  ///
  /// - Parameter isCut: true if octets that have left the send buffer were lost.
  package func finish(_ end: ChannelEnd, isCut: Bool = false) {
    state.withLockedValue { state in
      state.end = state.end ?? end
      let isLoss = end == .closed && (isCut || !state.outgoing.isEmpty)
      state.finalEnd = state.finalEnd ?? (isLoss ? .lost(.link(.connectionTerminatedByLocalHost)) : end)
      state.outgoing.removeAll()
    }
  }

  /// Returns true if there is a client and no notification for the client is queued; the caller then queues one.
  package func beginAnnouncement() -> Bool {
    state.withLockedValue { state in
      guard state.client != nil, !state.isAnnounced, !state.isHeld else { return false }
      state.isAnnounced = true
      return true
    }
  }

  /// Notifies the client.
  func announce() {
    let client = state.withLockedValue { state in
      state.isAnnounced = false
      return state.client
    }
    client?.channelChanged()
  }
}

extension ChannelPipe.State {
  fileprivate var room: Int { end == nil && !isHeld ? max(0, ChannelPipe.capacity - outgoing.count) : 0 }

  /// Counts `count` octets as read. An SDU's credit goes back to the peer when all of the SDU has been read.
  fileprivate mutating func noteRead(_ count: Int) {
    var rest = count
    while rest > 0, let first = unread.first {
      if first > rest {
        unread[0] = first - rest
        return
      }
      rest -= first
      unread.removeFirst()
      read += 1
      hasWork = true
    }
  }

  /// Discards received octets.
  fileprivate mutating func drop() {
    read += unread.count
    unread.removeAll()
    received.removeAll()
  }
}

/// An open channel, as an app gets it. The channel closes with the last reference to this object.
package final class OpenChannel: Sendable {
  /// The channel's PSM, as reported to the app that publishes it.
  package let psm: UInt16
  package let pipe: ChannelPipe

  init(psm: UInt16, pipe: ChannelPipe) {
    self.psm = psm
    self.pipe = pipe
  }

  deinit { pipe.close() }
}
