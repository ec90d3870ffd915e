import BluetoothDaemon
import BluetoothDaemonProtocol
import NIOConcurrencyHelpers

/// The frames that wait for one client. Any thread appends messages, and the connection's event loop takes the octets.
///
/// A message that refers to a peer follows the directory's changes of this peer; all other changes of the directory go
/// out while the client reads.
final class Outbox: Sendable {
  /// The reason why the connection must end.
  enum Failure: Error, Hashable, Sendable {
    /// The client reads too little: more octets wait than `limit`.
    case full
    /// A message is longer than a frame may be.
    case tooLong
  }

  private struct State {
    var octets: [UInt8] = []
    /// The octets that the event loop has taken and that the socket has not.
    var inFlight = 0
    /// True if the event loop has been told of new octets and has not taken them.
    var isAnnounced = false
    var isClosed = false
    var failure: Failure?
    /// The number of packets of the monitored adapter that have been dropped since the last one that was appended.
    var missedPackets: UInt32 = 0
  }

  private let state = NIOLockedValueBox(State())
  private let directory: PeerDirectory
  private let observation: DirectoryObservation
  let numbering: PeerNumbering
  private let limit: Int
  private let announce: @Sendable () -> Void
  /// The number of changes of the directory that are taken at once.
  private static let directoryPart = 256
  /// The part of the limit that packets of a monitored adapter may fill, so that they never end the connection.
  private static let packetPart = 4

  /// - Parameters:
  ///   - app: the name of the client's app; nil: the client belongs to none.
  ///   - limit: the maximum number of waiting octets.
  ///   - announce: tells the event loop of new octets. Called on any thread with no lock held, once until
  ///     `takeOctets`.
  init(_ directory: PeerDirectory, for app: String?, limit: Int, announce: @escaping @Sendable () -> Void) {
    self.directory = directory
    self.limit = limit
    self.announce = announce
    numbering = .ofServer(directory, for: app)
    observation = directory.observe(for: app, announce)
  }

  /// Appends a packet of a monitored adapter, with the number of packets that have been dropped before it; drops the
  /// packet if too many octets wait.
  func offer(_ packet: MonitoredPacket) {
    let isNews = state.withLockedValue { state in
      guard !state.isClosed, state.failure == nil else { return false }
      guard state.octets.count + state.inFlight <= limit / Self.packetPart else {
        state.missedPackets = state.missedPackets &+ 1
        return false
      }
      var packet = packet
      packet.missed = state.missedPackets
      state.missedPackets = 0
      append(ServerMessage.app(.packet(packet)).encode(numbering), &state)
      defer { state.isAnnounced = true }
      return !state.isAnnounced
    }
    if isNews { announce() }
  }

  /// Appends a message; drops it if the connection has ended.
  func send(_ message: ServerMessage) {
    let isNews = state.withLockedValue { state in
      guard !state.isClosed, state.failure == nil else { return false }
      let writer = message.encode(numbering)
      if message.tellsState, let change = directory.accessChange(for: observation) { append(change, &state) }
      // In one step with the message, so that no other thread's message about the same peers comes between.
      for change in directory.changes(of: writer.peers, for: observation) { append(change, &state) }
      // The peer has been forgotten since the event, so the event has no meaning for the client.
      if writer.hasUnknownPeer { return false }
      append(writer, &state)
      if state.octets.count + state.inFlight > limit { state.failure = .full }
      defer { state.isAnnounced = true }
      return !state.isAnnounced
    }
    if isNews { announce() }
  }

  private func append(_ change: DirectoryChange, _ state: inout State) {
    append(ServerMessage.directory(DirectoryMessage(change)).encode(numbering), &state)
  }

  private func append(_ writer: MessageWriter, _ state: inout State) {
    if let frame = writer.frame() { state.octets += frame } else { state.failure = .tooLong }
  }

  /// Removes and returns the waiting octets. The caller reports them by `wasSent` when the socket has taken them.
  ///
  /// - Parameter withDirectory: true if the next changes of the directory are taken, too.
  func takeOctets(withDirectory: Bool) throws(Failure) -> [UInt8] {
    let result: Result<[UInt8], Failure> = state.withLockedValue { state in
      state.isAnnounced = false
      if let failure = state.failure { return .failure(failure) }
      if withDirectory {
        for change in directory.changes(for: observation, maximum: Self.directoryPart) { append(change, &state) }
      }
      defer { state.octets.removeAll(keepingCapacity: state.octets.count <= 1 << 16) }
      state.inFlight += state.octets.count
      return .success(state.octets)
    }
    return try result.get()
  }

  /// Counts octets that the socket has taken.
  func wasSent(_ count: Int) { state.withLockedValue { $0.inFlight -= count } }

  /// Drops all waiting and all later messages.
  func close() {
    state.withLockedValue { state in
      state.isClosed = true
      state.octets.removeAll()
    }
  }
}

extension ServerMessage {
  /// True if the client looks at its permission when it gets the message.
  fileprivate var tellsState: Bool {
    switch self {
    case .central(_, .stateChanged), .peripheral(_, .stateChanged): true
    default: false
    }
  }
}
