import BluetoothHost
import BluetoothWire

/// The channels of apps on one link.
struct LinkChannels {
  /// A request of a central manager that the peer has not answered yet.
  struct Opening {
    let token: ChannelToken
    let session: CentralSessionID
  }

  enum Owner: Equatable {
    case central(CentralSessionID)
    case peripheral(PeripheralSessionID)
  }

  struct Entry {
    var channel: Channel
    let pipe: ChannelPipe
    let owner: Owner
    /// The deadline for sending data that the app wrote before it closed the channel; nil: the app has not closed it.
    var closesBy: Instant?
    /// True if the host has got data of the app.
    var hasSent = false
    /// True if the daemon has asked the host to close the channel. The entry stays until the peer has confirmed the
    /// end.
    var isClosing = false
  }

  var opening: [Opening] = []
  var entries: [Entry] = []

  /// The earliest deadline of the channels that apps have closed; nil: none.
  var deadline: Instant? {
    if entries.isEmpty { return nil }
    return entries.reduce(nil) { earliest($0, $1.closesBy) }
  }

  func index(of id: L2CAP.ChannelID) -> Int? { entries.firstIndex { $0.channel.id == id } }
  func index(of pipe: ChannelPipe) -> Int? { entries.firstIndex { $0.pipe === pipe } }

  /// Removes and returns the request with that token, which has ended.
  mutating func takeOpening(_ token: ChannelToken) -> Opening? {
    opening.firstIndex { $0.token == token }.map { opening.remove(at: $0) }
  }
}
