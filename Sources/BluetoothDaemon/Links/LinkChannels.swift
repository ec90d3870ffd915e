import BluetoothHost
import BluetoothWire

/// The channels of apps on one link.
struct LinkChannels {
  /// A request of a central manager that the peer has not answered yet.
  struct Opening {
    let token: ChannelToken
    let session: CentralSessionID
  }

  struct Entry {
    fileprivate(set) var channel: Channel
    let pipe: ChannelPipe
    let owner: AnySession
    /// The deadline for sending data that the app wrote before it closed the channel; nil: the app has not closed it.
    fileprivate(set) var closesBy: Instant?
    /// True if the host has got data of the app.
    fileprivate(set) var hasSent = false
    /// True if the daemon has asked the host to close the channel. The entry stays until the peer has confirmed the
    /// end.
    fileprivate(set) var isClosing = false
  }

  private(set) var opening: [Opening] = []
  private(set) var entries: [Entry] = []

  /// The earliest deadline of the channels that apps have closed; nil: none.
  var deadline: Instant? {
    if entries.isEmpty { return nil }
    return entries.reduce(nil) { earliest($0, $1.closesBy) }
  }

  func index(of id: L2CAP.ChannelID) -> Int? { entries.firstIndex { $0.channel.id == id } }
  func index(of pipe: ChannelPipe) -> Int? { entries.firstIndex { $0.pipe === pipe } }

  /// Returns the first channel of an owner; nil: none.
  func index(of owner: AnySession) -> Int? { entries.firstIndex { $0.owner == owner } }

  /// Returns the first channel whose deadline for sending has passed; nil: none.
  func late(at now: Instant) -> Int? { entries.firstIndex { $0.closesBy.map { $0 <= now } ?? false } }

  // MARK: Opening

  /// Notes a request of a session.
  mutating func open(_ token: ChannelToken, for session: CentralSessionID) {
    opening.append(Opening(token: token, session: session))
  }

  /// Forgets the requests of a session.
  mutating func forgetOpenings(of session: CentralSessionID) { opening.removeAll { $0.session == session } }

  /// Forgets all requests: the link has ended.
  mutating func forgetOpenings() { opening.removeAll() }

  /// Removes and returns the request with that token, which has ended.
  mutating func takeOpening(_ token: ChannelToken) -> Opening? {
    opening.firstIndex { $0.token == token }.map { opening.remove(at: $0) }
  }

  // MARK: Channels

  mutating func add(_ channel: Channel, _ pipe: ChannelPipe, of owner: AnySession) {
    entries.append(Entry(channel: channel, pipe: pipe, owner: owner))
  }

  mutating func remove(_ index: Int) -> Entry { entries.remove(at: index) }

  /// Notes new parameters of a channel.
  mutating func reconfigure(_ channel: Channel) {
    if let index = index(of: channel.id) { entries[index].channel = channel }
  }

  /// Notes that the host has got data of the app.
  mutating func noteSent(_ index: Int) { entries[index].hasSent = true }

  /// Notes that the app has closed a channel.
  ///
  /// - Parameter deadline: the time limit for sending the data that the app wrote before.
  mutating func close(_ index: Int, by deadline: Instant) {
    if entries[index].closesBy == nil { entries[index].closesBy = deadline }
  }

  /// Notes that the host closes a channel. Returns false if the host closes it already.
  mutating func beginClosing(_ index: Int) -> Bool {
    guard !entries[index].isClosing else { return false }
    entries[index].isClosing = true
    return true
  }
}
