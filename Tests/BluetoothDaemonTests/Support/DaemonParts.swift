import BluetoothHost
import BluetoothWire

@testable import BluetoothDaemon

// The parts of a daemon that tests look at.
extension Daemon {
  var links: [LinkState] { context.links.all }

  var host: Host {
    _read { yield context.host }
    _modify { yield &context.host }
  }

  var peers: PeerTable {
    _read { yield context.peers }
    _modify { yield &context.peers }
  }

  var publishedChannels: PublishedChannels { channels.publishedChannels }

  /// Reports a change of the attributes of the peer to which the link with this number leads.
  mutating func servicesChanged(_ range: ClosedRange<AttributeHandle>, on link: Int) {
    let link = Array(context.links.indices)[link]
    centrals.gattClient.servicesChanged(range, on: link, &context)
  }
}
