import BluetoothWire

/// Who has the radio: one at a time.
enum RadioUse {
  case free
  /// Listening for advertisers, for the scanner and the initiator at once. What is planned may interrupt it.
  case listening(on: RadioChannel)
  /// A scannable packet has been heard: SCAN_REQ, then the response.
  case scanRequest(ScanExchange)
  /// A packet of the initiator's peer has been heard: CONNECT_IND.
  case connecting(ConnectExchange)
  /// What had a claim.
  case activity(RadioActivity)
  /// A packet is being sent whose activity has ended; it is not broken off.
  case finishing

  /// Whether another activity may take the radio now.
  var isInterruptible: Bool {
    switch self {
    case .free, .listening: true
    default: false
    }
  }

  func isActivity(_ activity: RadioActivity) -> Bool {
    if case .activity(activity) = self { true } else { false }
  }
}
