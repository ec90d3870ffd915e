import BluetoothWire

/// The identity and the statistics of one connection of this controller.
package struct LinkReport: Hashable, Sendable {
  package var handle: HCI.ConnectionHandle
  /// The access address of the connection; both ends share it, and it is almost always unique.
  package var accessAddress: UInt32
  package var isCentral: Bool
  package var isConnected: Bool
  package var statistics: LinkStatistics

  init(_ connection: borrowing Connection, isConnected: Bool) {
    handle = connection.handle
    accessAddress = connection.accessAddress
    isCentral = connection.role == .central
    self.isConnected = isConnected
    statistics = connection.statistics
  }
}

extension Controller {
  /// The maximum number of ended connections in `links`.
  static let reportedLinks = 64

  /// The reports of the connections that have ended recently, followed by the present connections.
  package var links: [LinkReport] {
    mutating get {
      var result = endedLinks
      for index in connections.indices { result.append(LinkReport(connections[index], isConnected: true)) }
      return result
    }
  }

  /// Records the end of a connection, and removes the oldest record if there are too many.
  mutating func noteEnd(ofConnection index: Int) {
    if endedLinks.count >= Self.reportedLinks { endedLinks.removeFirst() }
    endedLinks.append(LinkReport(connections[index], isConnected: false))
  }

  /// The present purpose of the radio. A packet that is still being sent when its activity has ended belongs to the
  /// purpose of that activity.
  package enum RadioPurpose: Hashable, Sendable {
    case advertising, scanning, connections
  }

  /// The present purpose; nil: the same as before, or none.
  package var radioPurpose: RadioPurpose? {
    mutating get {
      switch radioUse {
      case .free, .finishing: nil
      case .listening, .scanRequest, .connecting: .scanning
      case .activity(.connection): .connections
      case .activity(.advertising), .activity(.auxiliaryAdvertising), .activity(.periodicAdvertising): .advertising
      case .activity(.auxiliaryReception), .activity(.periodicSync): .scanning
      }
    }
  }
}
