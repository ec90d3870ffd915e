/// The role of the local device in a connection. Raw values are those of HCI.
enum ConnectionRole: UInt8 {
  case central = 0
  case peripheral = 1

  /// The role of the peer.
  var other: Self {
    switch self {
    case .central: .peripheral
    case .peripheral: .central
    }
  }
}
