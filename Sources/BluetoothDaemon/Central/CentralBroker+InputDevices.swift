import BluetoothHost
import BluetoothWire

// The links that the system itself has with input devices.
extension CentralBroker {
  /// Connects to the input devices among the bonds, and gives up those that are none any more.
  mutating func updateInputDevices(_ wanted: [PeerHandle], at now: Instant, _ context: inout DaemonContext) {
    let (added, removed) = context.inputDevices.update(wanted)
    for peer in added { connectInputDevice(peer, at: now, &context) }
    for peer in removed {
      if let link = context.links.index(of: peer) {
        endUnusedLink(link, at: now, &context)
      } else if !context.peers[peer].isAwaited {
        context.host.cancelConnecting(to: context.peers[peer].address, at: now)
      }
    }
  }

  /// Repeats the attempts that have failed.
  mutating func retryInputDevices(at now: Instant, _ context: inout DaemonContext) {
    for peer in context.inputDevices.takeDue(at: now) { connectInputDevice(peer, at: now, &context) }
  }

  /// Connects to an input device as soon as it advertises, unless there is a link.
  mutating func connectInputDevice(_ peer: PeerHandle, at now: Instant, _ context: inout DaemonContext) {
    guard context.inputDevices.wants(peer), context.links.index(of: peer) == nil, !context.peers[peer].isReplaced else {
      return
    }
    // Each link brings events for peripheral managers that do not handle the earlier ones.
    if context.hasExhaustedPeripheral { return context.inputDevices.retryLater(peer, at: now) }
    context.host.connect(to: context.peers[peer].address, at: now)
  }

  /// Begins the use of a new link by the system: `retrieveConnectedPeripherals` finds the peer, and background discovery
  /// finds its services.
  mutating func adoptForSystem(_ link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    guard context.inputDevices.wants(context.links[link].peer) else { return }
    context.publishConnected(link)
    gattClient.linkWasAdopted(link, at: now, &context)
  }
}
