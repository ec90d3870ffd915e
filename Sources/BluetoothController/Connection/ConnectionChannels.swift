import BluetoothWire

/// Which channels a connection uses, and what is known of them · Vol 6, Part B, 4.5.8.
struct ConnectionChannels {
  /// In use.
  var map: ChannelMap
  /// Those that the host does not know to be bad · Vol 4, Part E, 7.8.19.
  var host: ChannelMap
  /// Whether what is measured counts.
  let isAssessed: Bool
  var assessment = ChannelAssessment()
  /// What the peripheral has reported to be bad.
  var reportedBad = ChannelMap(bits: 0)
  /// How many channels the peripheral needs · 5.1.11.
  private var minimums = (le1M: UInt8(2), le2M: UInt8(2), leCoded: UInt8(2))
  /// Whether and how a peripheral reports, or a central has asked it to · 5.1.27.
  var reporting: LL.ChannelReporting?
  /// In a peripheral that reports: when it may say something again, and whether there is something to say.
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

  /// The map that a central would like: without what is bad, as long as enough channels are left. What the peripheral has
  /// reported comes back first, and what the host has excluded stays out.
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

  /// What a peripheral reports.
  var status: LL.ChannelStatus {
    let excluded = ChannelMap.all.bits & ~host.bits
    return LL.ChannelStatus(
      good: ChannelMap(bits: assessment.good.bits & host.bits),
      bad: ChannelMap(bits: assessment.bad.bits | excluded))
  }
}

/// Classification of channels by what happens on them, and what follows from it.
extension Connection {
  /// A packet was due on the channel of this event, and came intact or not.
  mutating func recordReception(isIntact: Bool) {
    guard channels.isAssessed, isEstablished else { return }
    channels.assessment.record(ChannelIndex(event.channel), isIntact: isIntact)
  }

  /// Between two events: a central leaves out channels that have become bad, a peripheral reports them.
  mutating func assessChannels(at now: Instant, into output: inout HostOutput) {
    guard channels.isAssessed, reasonForEnd == nil else { return }
    if channels.assessment.evaluate(at: now) {
      channelsChanged(at: now, into: &output)
      if role == .central { askForReports(at: now, into: &output) }
    }
    if channels.hasNews { reportChannels(at: now, into: &output) }
  }

  /// The host or the assessment has come to know other channels as bad.
  mutating func channelsChanged(at now: Instant, into output: inout HostOutput) {
    switch role {
    case .central: updateChannelMap(at: now, into: &output)
    case .peripheral:
      guard channels.reporting?.isEnabled == true else { return }
      channels.hasNews = true
      reportChannels(at: now, into: &output)
    }
  }

  /// Changes to the channels that are wanted, unless that is under way.
  mutating func updateChannelMap(at now: Instant, into output: inout HostOutput) {
    guard role == .central, channels.wanted(on: phys) != channels.map || procedures.update != nil,
      !procedures.isWaiting(where: { if case .channelMapUpdate = $0 { true } else { false } })
    else { return }
    begin(.channelMapUpdate, at: now, into: &output)
  }

  /// A central that sees losses wants to know what the peripheral sees.
  private mutating func askForReports(at now: Instant, into output: inout HostOutput) {
    guard channels.isAssessed, channels.reporting == nil, features.contains(.channelClassification),
      procedures.remoteFeatures?.contains(.channelClassification) == true
    else { return }
    let reporting = LL.ChannelReporting(isEnabled: true, minimumSpacing: 10, maximumDelay: 25)
    channels.reporting = reporting
    begin(.channelReporting(reporting), at: now, into: &output)
  }

  /// LL_CHANNEL_STATUS_IND, no sooner after the one before than the central wants · 5.1.28.
  private mutating func reportChannels(at now: Instant, into output: inout HostOutput) {
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
