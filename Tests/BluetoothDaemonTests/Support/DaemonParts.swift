import BluetoothWire

@testable import BluetoothDaemon
@testable import BluetoothHost

// The parts of a daemon that tests look at.
extension Daemon {
  var links: [LinkState] { context.links.all }

  var host: Host {
    _read { yield context.host }
    _modify { yield &context.host }
  }

  var peers: Peers {
    _read { yield context.peers }
    _modify { yield &context.peers }
  }

  var publishedChannels: PublishedChannels { channels.publishedChannels }
}

extension DaemonNetwork {
  /// Indicates to the clients of a device that its attributes in `range` have changed.
  func indicateChange(_ range: ClosedRange<AttributeHandle>, by device: Int) {
    devices[device].daemon.withHost { [now] host in
      host.table.databaseChanged(range, &host.context, at: now)
      host.settle(at: now)
    }
    run()
  }
}
