import BluetoothWire

/// The present owner of the radio: one at a time.
enum RadioOwner {
  case free
  /// Listening for advertisers, for the scanner and the initiator together. Timeslots may interrupt it.
  case listening(on: RadioChannel)
  /// A scan exchange: a scannable packet was received, and SCAN_REQ and the response follow.
  case scanRequest
  /// A connection request: a packet of the initiator's peer was received, and CONNECT_IND follows.
  case connecting
  /// An activity that had a timeslot.
  case activity(RadioActivity)
  /// The transmission of a packet whose activity has ended; it is completed.
  case finishing

  /// True if an activity may take the radio now.
  var isInterruptible: Bool {
    switch self {
    case .free, .listening: true
    case .scanRequest, .connecting, .activity, .finishing: false
    }
  }

  func isActivity(_ activity: RadioActivity) -> Bool {
    if case .activity(activity) = self { true } else { false }
  }
}
