import BluetoothWire
import DequeModule
import NIOConcurrencyHelpers

/// How a channel has ended, as the app at this end of it sees it.
package enum ChannelEnd: Hashable, Sendable {
  /// Somebody wanted that: either app, or who has ended the link.
  case closed
  /// The link is gone, for this reason.
  case lost(SessionError)
}

/// Who is told that something has happened to a channel: it is to look. On the adapter's executor, as `CentralClient`.
package protocol ChannelClient: AnyObject, Sendable {
  func channelChanged()
}

/// What stands between an app and a channel: octets that have come and were not read, octets that were written and have
/// not left. Both sides reach it without waiting for each other, and it has an end in both directions: the peer may send
/// more only when what it has sent was read, and an app may write as much as there is room for.
package final class ChannelPipe: Sendable {
  /// How many octets may wait to be taken by the host.
  package static let capacity = 16_384

  fileprivate struct State {
    weak var client: (any ChannelClient)?
    // What the peer has sent.
    var received = OctetQueue()
    /// What is left of each SDU, which has a credit of the peer until all of it was read.
    var unread: Deque<Int> = []
    /// SDUs that were read, and whose credits the peer has not got back.
    var read = 0
    // What is to be sent.
    var outgoing = OctetQueue()
    /// The app has found no room, and wants to know when there is some.
    var isRoomAwaited = false
    // Ends.
    var end: ChannelEnd?
    var isReleased = false
    /// The app reads nothing any more.
    var isInputDiscarded = false
    // Between the two sides.
    /// There is work for the service, of which it has not been told.
    var hasWork = false
    /// The service was told, and has not looked yet.
    var isPosted = false
    var wantsAnnouncement = false
    /// The client is about to be told.
    var isAnnounced = false
  }

  /// What an app has done since the service has looked last.
  struct Work {
    var readSDUs: Int
    var wantsAnnouncement: Bool
  }

  private let mailbox: Mailbox
  private let state = NIOLockedValueBox(State())

  init(mailbox: Mailbox) { self.mailbox = mailbox }

  // MARK: The app's side, on any thread

  /// Who is told from now on; held weakly.
  package func setClient(_ client: any ChannelClient) { state.withLockedValue { $0.client = client } }

  /// How many octets can be read.
  package var available: Int { state.withLockedValue { $0.received.count } }

  /// How many octets can be written. Whoever finds none is told when there is room again.
  package var room: Int {
    state.withLockedValue { state in
      let room = state.room
      if room == 0 { state.isRoomAwaited = true }
      return room
    }
  }

  /// How it has ended; nil: it has not. What had come before can still be read.
  package var end: ChannelEnd? { state.withLockedValue { $0.end } }

  /// Takes what there is, as far as it fits, and says how much. To be followed by `tellService`.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLockedValue { state in
      let count = state.received.withFirst(buffer.count) { octets in
        buffer.copyMemory(from: octets)
        return octets.count
      }
      state.received.removeFirst(count)
      state.noteRead(count)
      return count
    }
  }

  /// Takes as many octets as there is room for, and says how many. To be followed by `tellService`.
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

  /// The app has no use for it any more: what was written is still sent, what has come is thrown away.
  package func close() {
    state.withLockedValue { state in
      guard !state.isReleased else { return }
      state.isReleased = true
      state.drop()
      state.hasWork = state.end == nil
      state.end = state.end ?? .closed
    }
    tellService()
  }

  /// The app reads nothing any more: what has come, and what comes, is thrown away, so that the peer may go on. To be followed
  /// by `tellService`.
  package func discardInput() {
    state.withLockedValue { state in
      state.isInputDiscarded = true
      state.drop()
      state.hasWork = true
    }
  }

  /// Has the client told, in the order of all that the adapter tells apps. To be followed by `tellService`.
  package func requestAnnouncement() {
    state.withLockedValue { state in
      state.wantsAnnouncement = true
      state.hasWork = true
    }
  }

  /// Posts mail, if there is anything that the service does not know. With no lock held.
  package func tellService() {
    let isNews = state.withLockedValue { state in
      guard state.hasWork, !state.isPosted else { return false }
      state.isPosted = true
      return true
    }
    if isNews { mailbox.post(.channel(self)) }
  }

  // MARK: The service's side

  /// What the app has done.
  func takeWork() -> Work {
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

  /// An SDU has come. False: nobody will read it.
  func receive(_ sdu: ByteSlice) -> Bool {
    state.withLockedValue { state in
      guard !state.isReleased, !state.isInputDiscarded, state.end == nil else { return false }
      sdu.withUnsafeBytes { state.received.append($0) }
      state.unread.append(sdu.count)
      return true
    }
  }

  /// The app has closed it.
  var isReleased: Bool { state.withLockedValue { $0.isReleased } }

  /// Nothing that was written waits here any more.
  var isDrained: Bool { state.withLockedValue { $0.outgoing.isEmpty } }

  /// The next SDU to send, of at most `maximum` octets, which stays here until `removeSent`; nil: there is none.
  func nextSDU(_ maximum: Int, in pool: PacketPool) -> ByteSlice? {
    state.withLockedValue { state in
      guard !state.outgoing.isEmpty else { return nil }
      return state.outgoing.withFirst(maximum) { ByteSlice($0, in: pool) }
    }
  }

  /// So many octets have been taken. True: the app waits for the room.
  func removeSent(_ count: Int) -> Bool {
    state.withLockedValue { state in
      state.outgoing.removeFirst(count)
      defer { state.isRoomAwaited = false }
      return state.isRoomAwaited
    }
  }

  /// It is over. What has come can still be read, unless the app has closed it itself.
  func finish(_ end: ChannelEnd) {
    state.withLockedValue { state in
      state.end = state.end ?? end
      state.outgoing.removeAll()
    }
  }

  /// Whether the client is to be told, and was not about to be.
  func beginAnnouncement() -> Bool {
    state.withLockedValue { state in
      guard state.client != nil, !state.isAnnounced else { return false }
      state.isAnnounced = true
      return true
    }
  }

  /// Tells the client.
  func announce() {
    let client = state.withLockedValue { state in
      state.isAnnounced = false
      return state.client
    }
    client?.channelChanged()
  }
}

extension ChannelPipe.State {
  fileprivate var room: Int { end == nil ? max(0, ChannelPipe.capacity - outgoing.count) : 0 }

  /// The credit of an SDU is the peer's again when all of it was read.
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

  /// Throws away what has come.
  fileprivate mutating func drop() {
    read += unread.count
    unread.removeAll()
    received.removeAll()
  }
}

/// A channel that is open, as it is handed to an app: with the last reference to it, it closes.
package final class OpenChannel: Sendable {
  /// The channel's number, as the app that offers it was told.
  package let psm: UInt16
  package let pipe: ChannelPipe

  init(psm: UInt16, pipe: ChannelPipe) {
    self.psm = psm
    self.pipe = pipe
  }

  deinit { pipe.close() }
}
