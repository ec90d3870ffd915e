import BluetoothWire

/// The schedule of listening for advertisers, for the scanner and the initiator and on both primary PHYs · Vol 6,
/// Part B, 4.4.3, 4.4.4.
///
/// On one PHY the scanner and the initiator listen together: the windows with the higher duty cycle determine the
/// channel. If windows of both PHYs are open at once, one of them is used to its end; the next window is on the PHY
/// that has lost the greater part of its requested time.
struct ListeningPlan {
  struct Slot {
    let phy: RadioPHY
    let channel: RadioChannel
    let end: Instant
  }

  private struct Listeners {
    var scanner: ScanWindows?
    var initiator: ScanWindows?
    /// The time, in microseconds, for which the other PHY was used while windows were open on this PHY, divided by the
    /// duty cycle of these windows.
    var lost: Int64 = 0

    var isWanted: Bool { scanner != nil || initiator != nil }

    /// Returns the windows that choose the channel, with the channel and the end of the open window.
    func open(at now: Instant) -> (windows: ScanWindows, channel: RadioChannel, end: Instant)? {
      let scanning = scanner?.open(at: now)
      guard let initiator, let initiating = initiator.open(at: now) else {
        guard let scanner, let scanning else { return nil }
        return (scanner, scanning.channel, scanning.end)
      }
      guard let scanner, let scanning, !initiator.isDenser(than: scanner) else {
        return (initiator, initiating.channel, initiating.end)
      }
      return (scanner, scanning.channel, scanning.end)
    }

    /// Returns the time at which the next window opens.
    func next(after now: Instant) -> Instant {
      min(scanner?.next(after: now) ?? .distantFuture, initiator?.next(after: now) ?? .distantFuture)
    }
  }

  private var le1M = Listeners()
  private var leCoded = Listeners()
  /// True if there are any windows.
  private(set) var isWanted = false
  /// The present slot, the time up to which it is accounted for, and the windows on the other PHY that wait for its
  /// end, by which that PHY's loss is computed.
  private var current: (slot: Slot, counted: Instant, rival: ScanWindows?)?

  /// Sets the scanner's windows.
  mutating func setScanner(_ windows: ByPrimaryPHY<ScanWindows>) {
    (le1M.scanner, leCoded.scanner) = (windows.le1M, windows.leCoded)
    current = nil
    isWanted = le1M.isWanted || leCoded.isWanted
  }

  mutating func setInitiator(_ windows: ByPrimaryPHY<ScanWindows>) {
    (le1M.initiator, leCoded.initiator) = (windows.le1M, windows.leCoded)
    current = nil
    isWanted = le1M.isWanted || leCoded.isWanted
  }

  /// True if a window is open.
  func isOpen(at now: Instant) -> Bool {
    isWanted && (le1M.open(at: now) != nil || leCoded.open(at: now) != nil)
  }

  /// Returns the time at which the next window opens, if none is open.
  func next(after now: Instant) -> Instant { min(le1M.next(after: now), leCoded.next(after: now)) }

  /// Returns the slot to listen to now; nil: no window is open.
  mutating func slot(at now: Instant) -> Slot? {
    count(until: now)
    if let slot = current?.slot, now < slot.end { return slot }
    current = choose(at: now)
    return current?.slot
  }

  private func choose(at now: Instant) -> (Slot, Instant, ScanWindows?)? {
    guard let coded = leCoded.open(at: now) else {
      guard let plain = le1M.open(at: now) else { return nil }
      let end = min(plain.end, leCoded.next(after: now))
      return (Slot(phy: .le1M, channel: plain.channel, end: end), now, nil)
    }
    guard let plain = le1M.open(at: now) else {
      let end = min(coded.end, le1M.next(after: now))
      return (Slot(phy: .leCoded, channel: coded.channel, end: end), now, nil)
    }
    let isCodedFirst =
      leCoded.lost == le1M.lost ? plain.windows.isDenser(than: coded.windows) : leCoded.lost > le1M.lost
    return isCodedFirst
      ? (Slot(phy: .leCoded, channel: coded.channel, end: coded.end), now, plain.windows)
      : (Slot(phy: .le1M, channel: plain.channel, end: plain.end), now, coded.windows)
  }

  private mutating func count(until now: Instant) {
    guard let current, let rival = current.rival else { return }
    let until = min(now, current.slot.end)
    self.current?.counted = until
    let lost = rival.share(of: until - current.counted)
    if current.slot.phy == .le1M { leCoded.lost += lost } else { le1M.lost += lost }
  }
}
