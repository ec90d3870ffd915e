import BluetoothWire

/// The channels that a connection uses, and their classification · Vol 6, Part B, 4.5.8.
struct ConnectionChannels {
  /// The channel map in use.
  var map: ChannelMap
  /// The channels that the host does not classify as bad · Vol 4, Part E, 7.8.19.
  var host: ChannelMap
  /// True if the connection uses the assessment.
  let isAssessed: Bool
  var assessment = ChannelAssessment()
  /// The channels that the peripheral has reported as bad.
  var reportedBad = ChannelMap(bits: 0)
  /// The minimum number of channels that the peripheral needs on each PHY · 5.1.11.
  private var minimums = (le1M: UInt8(2), le2M: UInt8(2), leCoded: UInt8(2))
  /// The channel reporting that the peripheral performs, or that the central has enabled · 5.1.27.
  var reporting: LL.ChannelReporting?
  /// The earliest time of a peripheral's next report; `hasNews` is true if there is something to report.
  var nextReport = Instant.zero
  var hasNews = false

  init(map: ChannelMap, host: ChannelMap, isAssessed: Bool) {
    self.map = map
    self.host = host
    self.isAssessed = isAssessed
  }

  mutating func require(_ minimum: LL.MinimumUsedChannels) {
    if minimum.phys.contains(.le1M) { minimums.le1M = minimum.count }
    if minimum.phys.contains(.le2M) { minimums.le2M = minimum.count }
    if minimum.phys.contains(.leCoded) { minimums.leCoded = minimum.count }
  }

  private func minimum(on phy: RadioPHY) -> Int {
    switch phy {
    case .le1M: Int(minimums.le1M)
    case .le2M: Int(minimums.le2M)
    case .leCoded: Int(minimums.leCoded)
    }
  }

  /// Returns the channel map that a central prefers: without bad channels, as long as enough channels are left. To
  /// reach the minimum, the map includes bad channels again: first those that only the peripheral has reported, then
  /// those of the assessment, but never channels that the host has excluded.
  func preferredMap(on phys: PHYState) -> ChannelMap {
    let needed = max(minimum(on: phys.transmit), minimum(on: phys.receive))
    let best = host.bits & ~assessment.bad.bits & ~reportedBad.bits
    var map = ChannelMap(bits: best)
    for others in [reportedBad.bits & ~assessment.bad.bits, assessment.bad.bits] {
      var rest = host.bits & others
      while map.count < needed, rest != 0 {
        let lowest = rest & (~rest &+ 1)
        map = ChannelMap(bits: map.bits | lowest)
        rest &= ~lowest
      }
    }
    return map.isValid ? map : host
  }

  /// The channel status that a peripheral reports.
  var status: LL.ChannelStatus {
    let excluded = ChannelMap.all.bits & ~host.bits
    return LL.ChannelStatus(
      good: ChannelMap(bits: assessment.good.bits & host.bits),
      bad: ChannelMap(bits: assessment.bad.bits | excluded))
  }

  /// Records a packet that was expected on a data channel, intact or not.
  mutating func record(_ channel: RadioChannel, isIntact: Bool) {
    guard isAssessed else { return }
    assessment.record(ChannelIndex(channel), isIntact: isIntact)
  }

  // MARK: Reports of a peripheral · 5.1.27, 5.1.28

  /// Returns the channel reporting that a central enables when it detects losses; nil if it is already enabled or the
  /// connection is not assessed.
  mutating func askForReports() -> LL.ChannelReporting? {
    guard isAssessed, reporting == nil else { return nil }
    reporting = LL.ChannelReporting(isEnabled: true, minimumSpacing: 10, maximumDelay: 25)
    return reporting
  }

  /// Starts or stops the reports, as the central requests.
  mutating func take(_ reporting: LL.ChannelReporting) {
    self.reporting = reporting
    hasNews = reporting.isEnabled
  }

  /// Returns the status that a peripheral reports now, at the earliest after the minimum spacing that the central has
  /// set; nil: no report.
  mutating func takeReport(at now: Instant) -> LL.ChannelStatus? {
    guard let reporting, reporting.isEnabled, now >= nextReport else { return nil }
    hasNews = false
    nextReport = now + LL.ChannelReporting.unit * Int64(reporting.minimumSpacing)
    return status
  }
}
