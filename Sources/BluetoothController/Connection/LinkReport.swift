import BluetoothWire

/// What has happened on a connection of this controller, and which one it is.
package struct LinkReport: Hashable, Sendable {
  package var handle: HCI.ConnectionHandle
  /// Both ends have the same one, and hardly ever two connections.
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
  /// How many connections that have ended are still told of.
  static let reportedLinks = 64

  /// The connections that have ended lately, and then those that there are.
  package var links: [LinkReport] {
    mutating get {
      var result = endedLinks
      for index in connections.indices { result.append(LinkReport(connections[index], isConnected: true)) }
      return result
    }
  }

  /// A connection comes to its end; the oldest one that is told of is forgotten when there are too many.
  mutating func noteEnd(ofConnection index: Int) {
    if endedLinks.count >= Self.reportedLinks { endedLinks.removeFirst() }
    endedLinks.append(LinkReport(connections[index], isConnected: false))
  }

  /// What the radio is used for at the moment; what is still being sent by an activity that has ended belongs to it.
  package enum RadioPurpose: Hashable, Sendable {
    case advertising, scanning, connections
  }

  /// nil: that of before, or none.
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
