import BluetoothWire

/// Channel assessment, and the channel map updates and reports that follow from it.
extension Connection {
  /// Applies the assessment between two events: a central excludes channels that have become bad, a peripheral
  /// reports them.
  mutating func assessChannels(at now: Instant, into output: inout HCIEventQueue) {
    guard channels.isAssessed, reasonForEnd == nil else { return }
    if channels.assessment.evaluate(at: now) {
      channelsChanged(at: now, into: &output)
      if role == .central, features.contains(.channelClassification),
        procedures.remoteFeatures?.contains(.channelClassification) == true,
        let reporting = channels.askForReports()
      {
        begin(.channelReporting(reporting), at: now, into: &output)
      }
    }
    if channels.hasNews, let status = channels.takeReport(at: now) {
      begin(.channelStatus(status), at: now, into: &output)
    }
  }

  /// Reacts to a new classification by the host or the assessment.
  mutating func channelsChanged(at now: Instant, into output: inout HCIEventQueue) {
    switch role {
    case .central: updateChannelMap(at: now, into: &output)
    case .peripheral:
      guard channels.reporting?.isEnabled == true else { return }
      channels.hasNews = true
      if let status = channels.takeReport(at: now) { begin(.channelStatus(status), at: now, into: &output) }
    }
  }

  /// Starts a channel map update to the preferred map, unless one is waiting.
  mutating func updateChannelMap(at now: Instant, into output: inout HCIEventQueue) {
    guard role == .central, channels.preferredMap(on: phys) != channels.map || procedures.update != nil,
      !procedures.isWaiting(where: { if case .channelMapUpdate = $0 { true } else { false } })
    else { return }
    begin(.channelMapUpdate, at: now, into: &output)
  }
}
