import BluetoothHost
import BluetoothWire

/// The channels of apps on one link.
struct LinkChannels {
  /// A request of a central manager that the peer has not answered.
  struct Opening {
    let token: ChannelToken
    let session: CentralSlot
  }

  enum Owner: Equatable {
    case central(CentralSlot)
    case peripheral(PeripheralSlot)
  }

  struct Entry {
    var channel: Channel
    let pipe: ChannelPipe
    let owner: Owner
    /// The app has closed it: until then the peer may still take what was written before.
    var closesBy: Instant?
    /// The host was told to close it.
    var isClosing = false
  }

  var opening: [Opening] = []
  var entries: [Entry] = []

  /// When the first of those that were closed has had time enough.
  var deadline: Instant? {
    if entries.isEmpty { return nil }
    return entries.reduce(nil) { earliest($0, $1.closesBy) }
  }

  func index(of id: L2CAP.ChannelID) -> Int? { entries.firstIndex { $0.channel.id == id } }
  func index(of pipe: ChannelPipe) -> Int? { entries.firstIndex { $0.pipe === pipe } }

  /// The request with that token, which has ended.
  mutating func takeOpening(_ token: ChannelToken) -> Opening? {
    opening.firstIndex { $0.token == token }.map { opening.remove(at: $0) }
  }
}

/// The PSMs that apps offer, and whose they are.
struct PublishedChannels {
  private(set) var owners: [UInt16: PeripheralSlot] = [:]

  func owner(of psm: UInt16) -> PeripheralSlot? { owners[psm] }
  mutating func add(_ psm: UInt16, _ session: PeripheralSlot) { owners[psm] = session }

  /// False: it is not this session's.
  mutating func remove(_ psm: UInt16, _ session: PeripheralSlot) -> Bool {
    guard owners[psm] == session else { return false }
    owners[psm] = nil
    return true
  }

  /// In order, so that all that follows from it is the same in each run.
  func all(of session: PeripheralSlot) -> [UInt16] { owners.filter { $0.value == session }.keys.sorted() }

  mutating func removeAll() -> [UInt16] {
    defer { owners = [:] }
    return owners.keys.sorted()
  }
}
