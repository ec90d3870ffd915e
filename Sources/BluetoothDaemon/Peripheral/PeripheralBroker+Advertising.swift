import BluetoothHost
import BluetoothWire

extension PeripheralBroker {
  /// Adds a session's request to the advertisement.
  mutating func startAdvertising(
    _ request: AdvertisingState.Request, at now: Instant, _ context: inout DaemonContext
  ) {
    var request = request
    if let user = context.sessions[.peripheral(request.session)]?.user { request.user = user }
    guard advertising.start(request) else {
      context.deliver(.advertisingStarted(.alreadyAdvertising), to: request.session)
      return
    }
    // The host's answer to this request is the app's answer, even if the request changes nothing.
    applied = nil
    applyAdvertising(at: now, &context)
  }

  /// Adds the request of a session of a former run of the daemon to the advertisement. Returns false if that is not
  /// possible.
  mutating func goOn(
    _ request: RestoredPeripheral.Advertising, for session: PeripheralSessionID, at now: Instant,
    _ context: inout DaemonContext
  ) -> Bool {
    let user = context.sessions[.peripheral(session)]?.user ?? .unknown
    guard
      advertising.goOn(.init(session: session, user: user, localName: request.localName, services: request.services))
    else { return false }
    applied = nil
    applyAdvertising(at: now, &context)
    return true
  }

  /// Removes a session's request from the advertisement, or stops advertising if it was the last.
  mutating func stopAdvertising(by session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext) {
    guard case .stopped(let wasWaiting) = advertising.stop(session) else { return }
    // Every start is answered, even one followed by a stop before its outcome is known.
    if wasWaiting { context.deliver(.advertisingStarted(nil), to: session) }
    applyAdvertising(at: now, &context)
  }

  /// Applies the phases of apps to the advertising.
  mutating func updateAdvertising(at now: Instant, _ context: inout DaemonContext) {
    if advertising.isWanted { applyAdvertising(at: now, &context) }
  }

  private mutating func applyAdvertising(at now: Instant, _ context: inout DaemonContext) {
    let content = advertising.content { advertisingUse(of: $0, context) }
    if context.policy.background != nil {
      for request in advertising.requests {
        noteAdvertising(request, isSlow: content?.isSlow == true && request.custom == nil, &context)
      }
    }
    guard content != applied || content == nil else { return }
    applied = content
    guard let content else {
      context.host.stopAdvertising(at: now)
      // The advertising begins when the app is in the foreground again.
      for session in advertising.takeWaiting() { context.deliver(.advertisingStarted(nil), to: session) }
      return
    }
    if let custom = content.custom { return context.host.startAdvertising(custom, at: now) }
    let advertisement = PeripheralAdvertisement(
      localName: content.localName, services: content.services, overflowServices: content.overflowServices)
    var parameters = HostAdvertising(
      data: advertisement.advertisingData, scanResponse: advertisement.scanResponse)
    if content.isSlow, let limits = context.policy.background {
      parameters.shape.interval = HCI.advertisingInterval(limits.advertisingInterval)
    }
    context.host.startAdvertising(parameters, at: now)
  }

  /// Reports the host's answer to the sessions that have not been informed yet.
  mutating func advertisingStarted(_ error: HostError?, _ context: inout DaemonContext) {
    for session in advertising.takeWaiting() {
      if error != nil {
        _ = advertising.stop(session)
        applied = nil
      }
      context.deliver(.advertisingStarted(error.map { SessionError($0) }), to: session)
    }
  }

  /// Requests other connection parameters of a central.
  mutating func setConnectionLatency(
    _ latency: ConnectionLatency, on link: SessionLink<PeripheralRole>, at now: Instant,
    _ context: inout DaemonContext
  ) {
    context.host.updateConnection(
      context.links[link.index].link.handle, context.policy.parameters(for: latency), at: now)
  }
}

extension HCI {
  /// Returns an advertising interval in units of 0.625 ms, clamped to 20 ms to 10.24 s · Vol 4, Part E, 7.8.5.
  fileprivate static func advertisingInterval(_ duration: Duration) -> UInt16 {
    UInt16(min(max(TimeSpan(duration).nanoseconds / 625_000, 0x20), 0x4000))
  }
}

extension PlatformPolicy {
  /// Returns the connection parameters to request from a central, clamped to the ranges of Vol 6, Part B, 4.5.1, 4.5.2.
  fileprivate func parameters(for latency: ConnectionLatency) -> LinkParameters {
    let chosen =
      switch latency {
      case .low: lowLatency
      case .medium: mediumLatency
      case .high: highLatency
      }
    func clamped(_ duration: Duration, unit nanoseconds: Int64, _ range: ClosedRange<Int64>) -> UInt16 {
      UInt16(min(max(TimeSpan(duration).nanoseconds / nanoseconds, range.lowerBound), range.upperBound))
    }
    return LinkParameters(
      minimumInterval: clamped(chosen.intervals.lowerBound, unit: 1_250_000, 6...3_200),
      maximumInterval: clamped(chosen.intervals.upperBound, unit: 1_250_000, 6...3_200),
      latency: UInt16(min(max(chosen.peripheralLatency, 0), 499)),
      supervisionTimeout: clamped(chosen.supervisionTimeout, unit: 10_000_000, 10...3_200))
  }
}
