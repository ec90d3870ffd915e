import BluetoothWire

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
