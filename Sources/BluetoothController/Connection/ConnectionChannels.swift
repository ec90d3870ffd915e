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

  private func minimum(on phy: PHY) -> Int {
    switch phy {
    case .le1M: Int(minimums.le1M)
    case .le2M: Int(minimums.le2M)
    case .leCoded: Int(minimums.leCoded)
    }
  }

  /// Returns the channel map that a central prefers: without bad channels, as long as enough channels are left. To
  /// reach the minimum, channels that only the peripheral has reported come back first; channels that the host has
  /// excluded stay out.
  func wanted(on phys: PHYState) -> ChannelMap {
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
}

/// Channel assessment, and the channel map updates and reports that follow from it.
extension Connection {
  /// Records a packet that was expected on the channel of this event, intact or not.
  mutating func recordReception(isIntact: Bool) {
    guard channels.isAssessed, isEstablished else { return }
    channels.assessment.record(ChannelIndex(event.channel), isIntact: isIntact)
  }

  /// Applies the assessment between two events: a central excludes channels that have become bad, a peripheral
  /// reports them.
  mutating func assessChannels(at now: Instant, into output: inout HCIEventQueue) {
    guard channels.isAssessed, reasonForEnd == nil else { return }
    if channels.assessment.evaluate(at: now) {
      channelsChanged(at: now, into: &output)
      if role == .central { askForReports(at: now, into: &output) }
    }
    if channels.hasNews { reportChannels(at: now, into: &output) }
  }

  /// Reacts to a new classification by the host or the assessment.
  mutating func channelsChanged(at now: Instant, into output: inout HCIEventQueue) {
    switch role {
    case .central: updateChannelMap(at: now, into: &output)
    case .peripheral:
      guard channels.reporting?.isEnabled == true else { return }
      channels.hasNews = true
      reportChannels(at: now, into: &output)
    }
  }

  /// Starts a channel map update to the preferred map, unless one is waiting.
  mutating func updateChannelMap(at now: Instant, into output: inout HCIEventQueue) {
    guard role == .central, channels.wanted(on: phys) != channels.map || procedures.update != nil,
      !procedures.isWaiting(where: { if case .channelMapUpdate = $0 { true } else { false } })
    else { return }
    begin(.channelMapUpdate, at: now, into: &output)
  }

  /// Enables the peripheral's channel reports when a central detects losses.
  private mutating func askForReports(at now: Instant, into output: inout HCIEventQueue) {
    guard channels.isAssessed, channels.reporting == nil, features.contains(.channelClassification),
      procedures.remoteFeatures?.contains(.channelClassification) == true
    else { return }
    let reporting = LL.ChannelReporting(isEnabled: true, minimumSpacing: 10, maximumDelay: 25)
    channels.reporting = reporting
    begin(.channelReporting(reporting), at: now, into: &output)
  }

  /// Sends LL_CHANNEL_STATUS_IND, at the earliest after the minimum spacing that the central has set · 5.1.28.
  private mutating func reportChannels(at now: Instant, into output: inout HCIEventQueue) {
    guard let reporting = channels.reporting, reporting.isEnabled, now >= channels.nextReport else { return }
    channels.hasNews = false
    channels.nextReport = now + LL.ChannelReporting.unit * Int64(reporting.minimumSpacing)
    begin(.channelStatus(channels.status), at: now, into: &output)
  }

  mutating func takeChannelReporting(_ reporting: LL.ChannelReporting) {
    channels.reporting = reporting
    channels.hasNews = reporting.isEnabled
  }
}
