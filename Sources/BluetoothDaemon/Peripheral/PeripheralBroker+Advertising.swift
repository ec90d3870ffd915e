import BluetoothHost
import BluetoothWire

extension PeripheralBroker {
  /// Adds a session's request to the advertisement.
  mutating func startAdvertising(
    _ request: AdvertisingState.Request, at now: Instant, _ context: inout DaemonContext
  ) {
    guard advertising.start(request) else {
      context.deliver(.advertisingStarted(.alreadyAdvertising), to: request.session)
      return
    }
    applyAdvertising(at: now, &context)
  }

  /// Removes a session's request from the advertisement, or stops advertising if it was the last.
  mutating func stopAdvertising(by session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext) {
    guard case .stopped(let wasWaiting) = advertising.stop(session) else { return }
    // Every start is answered, even one followed by a stop before its outcome is known.
    if wasWaiting { context.deliver(.advertisingStarted(nil), to: session) }
    if advertising.isWanted { applyAdvertising(at: now, &context) } else { context.host.stopAdvertising(at: now) }
  }

  private mutating func applyAdvertising(at now: Instant, _ context: inout DaemonContext) {
    if let custom = advertising.custom { return context.host.startAdvertising(custom, at: now) }
    let advertisement = PeripheralAdvertisement(localName: advertising.localName, services: advertising.services)
    context.host.startAdvertising(
      data: advertisement.advertisingData, scanResponse: advertisement.scanResponse, at: now)
  }

  /// Reports the host's answer to the sessions that have not been informed yet.
  mutating func advertisingStarted(_ error: HostError?, _ context: inout DaemonContext) {
    for session in advertising.takeWaiting() {
      if error != nil { _ = advertising.stop(session) }
      context.deliver(.advertisingStarted(error.map { SessionError($0) }), to: session)
    }
  }

  /// Requests other connection parameters of a central.
  mutating func setConnectionLatency(
    _ latency: ConnectionLatency, of central: PeerHandle, at now: Instant, _ context: inout DaemonContext
  ) {
    guard context.peers.contains(central), let link = context.links.index(of: central) else { return }
    context.host.updateConnection(context.links[link].link.handle, latency.parameters, at: now)
  }
}

extension ConnectionLatency {
  /// The connection parameters to request from a central. Apple documents only that the three levels trade delay for
  /// energy; these are the intervals that its guidelines for accessories allow: 15 ms, 30 to 60 ms, 200 to 300 ms.
  fileprivate var parameters: ConnectionParameters {
    switch self {
    case .low: .init(minimumInterval: 12, maximumInterval: 12, latency: 0, supervisionTimeout: 200)
    case .medium: .init(minimumInterval: 24, maximumInterval: 48, latency: 0, supervisionTimeout: 400)
    case .high: .init(minimumInterval: 160, maximumInterval: 240, latency: 0, supervisionTimeout: 600)
    }
  }
}
