import BluetoothWire

/// When the links are looked at that nothing was heard of: the controller may have ended one, and its Disconnection Complete
/// was lost. Such a link would stand for ever, and a peripheral with one link would not be found again.
struct LinkCheck {
  /// A link is asked about when nothing was heard of it for this long.
  static let period = TimeSpan.seconds(60)

  /// nil: there is no link.
  private(set) var deadline: Instant?

  mutating func begin(at now: Instant) {
    if deadline == nil { deadline = now + Self.period }
  }

  /// True if it is time to look at the links.
  mutating func isDue(at now: Instant, hasLinks: Bool) -> Bool {
    guard let due = deadline, due <= now else { return false }
    deadline = hasLinks ? now + Self.period : nil
    return hasLinks
  }

  mutating func end() { deadline = nil }
}

extension Host {
  /// Asks the controller about each link that has shown no life since the last check. Read RSSI fails for a link that does
  /// not exist · Vol 4, Part E, 7.5.4.
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

  /// The controller has said whether it has the link.
  mutating func linkChecked(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    guard status == .unknownConnectionIdentifier, anyIndex(of: handle) != nil else { return }
    events.append(.trouble(.lostLink(handle)))
    disconnected(handle, .connectionTimeout, at: now)
  }
}
