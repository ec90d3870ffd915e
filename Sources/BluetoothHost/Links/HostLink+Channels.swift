import BluetoothWire

/// The credit based channels of a link. If the peer refuses channels because of insufficient security, the host raises
/// the security of the link and repeats the request · Vol 3, Part C, 10.3.2.
extension HostLink {
  // MARK: Input from the peer

  /// Processes a signal for the channels.
  mutating func receiveForChannels(_ signal: L2CAP.Signal, _ context: inout HostContext, at now: Instant) {
    // Drop a request whose response could not be sent, so that both sides keep the same state.
    guard hasRoom || !signal.content.changesOnAnswer else {
      context.output.metrics.droppedAnswers += 1
      return
    }
    let (listeners, security) = (context.listeners.all, bearer.security)
    let undelivered = packetsInController + (hasOutput ? 1 : 0)
    let answer = withChannels {
      $0.receive(
        signal, listeners: listeners, security: security, undelivered: undelivered, identifiers: &$1, at: now)
    }
    if let answer { send(L2CAP.Signal(identifier: signal.identifier, content: answer), &context) }
    serve(&context, at: now)
  }

  /// Processes a frame on a dynamic channel.
  mutating func receiveOnChannel(_ frame: L2CAP.Frame, _ context: inout HostContext, at now: Instant) {
    let pool = context.pool
    let isKnown = withChannels {
      $0.receive(frame.payload, on: frame.channel, pool: pool, identifiers: &$1, at: now)
    }
    guard isKnown else {
      context.output.metrics.droppedFrames += 1
      return
    }
    serve(&context, at: now)
  }

  // MARK: Requests

  /// Requests channels of the peer and records the app's request.
  mutating func open(_ request: PendingChannelRequest, count: Int, at now: Instant) {
    var request = request
    request.unanswered = CreditChannels.possibleCount(count, isEnhanced: request.isEnhanced)
    (request.refused, request.refusal, request.demand) = (0, nil, nil)
    request.security = bearer.security
    channelRequests.add(request)
    withChannels {
      $0.open(
        spsm: request.spsm, count: count, isEnhanced: request.isEnhanced, request.settings, token: request.token,
        identifiers: &$1,
        at: now)
    }
  }

  /// Reports an event of the channels, unless it is a refusal that a higher security level may overcome. Then the host
  /// raises the security of the link.
  mutating func report(_ event: ChannelEvent, _ context: inout HostContext, at now: Instant) {
    let (effect, demand) = channelRequests.take(event)
    if let demand { secure(demand, &context, at: now) }
    if case .isReported = effect { context.output.tell(.channel(link.handle, event)) }
  }

  /// Reports, at the end of the link, the closed channels whose peer has all SDUs: it has not answered the request that
  /// follows them, but the controller has delivered every packet. A peer may end the link right after its answer, which
  /// is lost then.
  mutating func reportDeliveredChannels(_ context: inout HostContext) {
    guard packetsInController == 0, !hasOutput else { return }
    for id in channels.closingWithAllSent {
      context.output.tell(.channel(link.handle, .closeEnded(id, isConfirmed: true)))
    }
  }
}
