import BluetoothHost
import BluetoothWire

// The end of channels, for every part that ends links or sessions.
extension DaemonContext {
  /// Notifies the app of a change of its channel.
  mutating func announce(_ pipe: ChannelPipe) {
    if pipe.beginAnnouncement() { deliver(.channel(pipe.handle)) }
  }

  /// Notifies the app of octets to read, room to write or the end of its channel.
  mutating func announce(_ entry: LinkChannels.Entry) {
    channelChanged(of: entry.owner)
    announce(entry.pipe)
  }

  /// Removes a channel that has ended, and reports the end to its app.
  ///
  /// - Parameters:
  ///   - isDelivered: true if the peer has all octets of a channel that its app has closed. Otherwise the final end of
  ///     such a channel is a loss, which the app's call that waits for the delivery reports.
  ///   - hasSentAll: true if the host had no queued data of the channel; nil: unknown. If the host or the app's send
  ///     buffer had data, the final end is a loss, whether or not the app has closed the channel.
  mutating func finishChannel(
    _ index: Int, on link: LinkIndex, _ end: ChannelEnd, isDelivered: Bool = false, hasSentAll: Bool? = nil
  ) {
    let entry = links[link].channels.remove(index)
    let pipe = entry.pipe
    let mayBeCut = pipe.isReleased && entry.closesBy != nil || !(hasSentAll ?? !entry.hasSent)
    let isCut = end == .closed && !isDelivered && mayBeCut
    pipe.finish(end, isCut: isCut)
    announce(entry)
  }

  /// Ends all channels of a link that has ended.
  mutating func endChannels(of link: LinkIndex, _ end: ChannelEnd) {
    links[link].channels.forgetOpenings()
    while !links[link].channels.entries.isEmpty { finishChannel(0, on: link, end) }
  }

  /// Closes the channels that a central manager has opened on a link that it no longer uses.
  mutating func closeChannels(of session: CentralSessionID, on link: LinkIndex, at now: Instant) {
    let connection = links[link].link.handle
    while let index = links[link].channels.index(of: .central(session)) {
      let id = links[link].channels.entries[index].channel.id
      finishChannel(index, on: link, .closed)
      host.closeChannel(id, on: connection, at: now)
    }
  }
}
