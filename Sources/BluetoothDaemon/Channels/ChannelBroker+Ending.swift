import BluetoothHost
import BluetoothWire

// The end of channels. The functions are static, because every broker that ends a link or its use of one calls them.
extension ChannelBroker {
  /// Removes a channel that has ended, and reports the end to its app.
  ///
  /// - Parameters:
  ///   - isDelivered: true if the peer has all octets of a channel that its app has closed. Otherwise the final end of
  ///     such a channel is a loss, which the app's call that waits for the delivery reports.
  ///   - hasSentAll: true if the host had no queued data of the channel; nil: unknown. If the host or the app's send
  ///     buffer had data, the final end is a loss, whether or not the app has closed the channel.
  static func finishChannel(
    _ index: Int, on link: DaemonLinkIndex, _ end: ChannelEnd, isDelivered: Bool = false, hasSentAll: Bool? = nil,
    _ context: inout DaemonContext
  ) {
    let entry = context.links[link].channels.remove(index)
    let pipe = entry.pipe
    let mayBeCut = pipe.isReleased && entry.closesBy != nil || !(hasSentAll ?? !entry.hasSent)
    let isCut = end == .closed && !isDelivered && mayBeCut
    pipe.finish(end, isCut: isCut)
    context.announce(entry)
  }

  /// Ends all channels of a link that has ended.
  static func endChannels(of link: DaemonLinkIndex, _ end: ChannelEnd, _ context: inout DaemonContext) {
    context.links[link].channels.forgetOpenings()
    while !context.links[link].channels.entries.isEmpty { finishChannel(0, on: link, end, &context) }
  }

  /// Closes the channels that a central manager has opened on a link that it no longer uses.
  static func closeChannels(
    of session: CentralSessionID, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    let connection = context.links[link].link.handle
    while let index = context.links[link].channels.index(of: .central(session)) {
      let id = context.links[link].channels.entries[index].channel.id
      finishChannel(index, on: link, .closed, &context)
      context.host.closeChannel(id, on: connection, at: now)
    }
  }
}
