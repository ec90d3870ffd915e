import BluetoothWire

/// The timer of the liveness check for links without traffic. The controller may have ended such a link and its
/// Disconnection Complete may have been lost; without the check the link would exist for ever, and a peripheral with
/// a single link would not advertise again.
struct LinkCheck {
  /// The time without any sign of life after which the host checks a link.
  static let period = TimeSpan.seconds(60)

  /// The time of the next check; nil: no link exists.
  private(set) var deadline: Instant?

  mutating func begin(at now: Instant) {
    if deadline == nil { deadline = now + Self.period }
  }

  /// Returns true if the links must be checked now, and schedules the next check.
  mutating func isDue(at now: Instant, hasLinks: Bool) -> Bool {
    guard let due = deadline, due <= now else { return false }
    deadline = hasLinks ? now + Self.period : nil
    return hasLinks
  }

  mutating func end() { deadline = nil }
}

extension Host {
  /// Checks each link that has shown no sign of life since the last check. Read RSSI fails for a link that does not
  /// exist · Vol 4, Part E, 7.5.4.
  mutating func checkLinks(_ now: Instant) {
    guard linkCheck.isDue(at: now, hasLinks: isOn && !allLinks.isEmpty) else { return }
    for index in allLinks.indices {
      defer { allLinks[index].hasShownLife = false }
      guard !allLinks[index].hasShownLife, !allLinks[index].isDisconnecting, controller.supports(.readRSSI) else {
        continue
      }
      let handle = allLinks[index].link.handle
      commands.append(.readRSSI(handle), for: .checkLink(handle))
    }
  }

  /// Handles the result of a link's check.
  mutating func linkChecked(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    guard status == .unknownConnectionIdentifier, anyIndex(of: handle) != nil else { return }
    events.append(.trouble(.lostLink(handle)))
    disconnected(handle, .connectionTimeout, at: now)
  }
}
