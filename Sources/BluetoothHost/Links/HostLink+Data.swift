import BluetoothWire

/// ACL data of a link in both directions, and the events that it leads to.
extension HostLink {
  // MARK: From the controller

  /// Processes an ACL packet of the peer.
  mutating func receive(_ data: HCI.ACLData, _ context: inout HostContext, at now: Instant) {
    heardFromPeer(&context)
    lastData = now
    hasShownLife = true
    let dropped = reassembler.dropped
    let frame = reassembler.receive(data, pool: context.pool)
    context.output.metrics.droppedFrames += reassembler.dropped - dropped
    guard let frame else {
      if let frame = reassembler.takeTooLong() { receiveTooLong(frame, &context, at: now) }
      return
    }
    if pace != nil { count(frame, &context, at: now) }
    switch frame.channel {
    case .attribute:
      bearer.receive(frame.payload, database: &context.server.database, at: now)
      if frame.payload.isSignedWrite { signedWriteReceived(&context) }
      serve(&context, at: now)
    case .signalling: receiveSignal(frame.payload, &context, at: now)
    case .securityManager:
      security.receive(frame.payload, at: now, &context.security.context)
      serveSecurity(&context, at: now)
    default: receiveOnChannel(frame, &context, at: now)
    }
  }

  /// Handles a frame that was too long for every channel; `frame` contains only the first octets of its payload.
  private mutating func receiveTooLong(_ frame: L2CAP.Frame, _ context: inout HostContext, at now: Instant) {
    if frame.channel == .signalling {
      if let answer = signalling.receiveTooLong(frame.payload) { send(answer, &context) }
    } else if frame.channel.isDynamic {
      withChannels { $0.receivedTooLong(on: frame.channel, identifiers: &$1, at: now) }
      serve(&context, at: now)
    }
  }

  private mutating func receiveSignal(_ octets: ByteSlice, _ context: inout HostContext, at now: Instant) {
    let outcome = signalling.receive(octets, mayUpdate: !parameterUpdates.isRunning, at: now)
    if let answer = outcome.answer { send(answer, &context) }
    if let parameters = outcome.update { update(parameters, &context) }
    if let status = outcome.requestEnd { endRequest(.connectionParameters, status, &context) }
    if let signal = outcome.forChannels { receiveForChannels(signal, &context, at: now) }
    // A request of this side may have ended, so the next one may be due.
    markReady(&context)
  }

  /// Reports the link after the first sign that the peer has it; later calls have no effect. A central cannot know
  /// earlier that the link exists · Vol 6, Part B, 4.5.2.
  @inline(__always)
  mutating func heardFromPeer(_ context: inout HostContext) {
    if visibility == .provisional { reportConnected(&context) }
  }

  // MARK: To the controller

  /// Queues a signalling packet, unless too many wait.
  mutating func send(_ signal: L2CAP.Signal, _ context: inout HostContext) {
    if !append(signal.frame(in: context.pool)) { context.output.metrics.droppedAnswers += 1 }
    markReady(&context)
  }

  /// Marks the link if it may have data to send.
  @inline(__always)
  mutating func markReady(_ context: inout HostContext) {
    lookForOutput()
    if isReady { context.isReady = true }
  }

  /// Reports the events of the bearer and the channels, and checks for data to send. Called after every change to
  /// them. Disconnects the link if its bearer is closed · Vol 3, Part F, 3.3.3.
  mutating func serve(_ context: inout HostContext, at now: Instant) {
    markReady(&context)
    passOn(&context, at: now)
  }

  /// Reports the events of the bearer and the channels. Called after every packet too, because taking a PDU can
  /// complete a procedure.
  @inline(__always)
  mutating func passOn(_ context: inout HostContext, at now: Instant) {
    if hasNews { report(&context, at: now) }
  }

  private mutating func report(_ context: inout HostContext, at now: Instant) {
    let handle = link.handle
    while bearer.hasEvents, let event = bearer.takeEvent() {
      if case .securityRequired(let demand) = event {
        secure(demand, &context, at: now)
      } else if case .signatureMade = event {
        keepCounters(&context)
      } else if !context.nameDiscoveries.isEmpty, case .completed(NameDiscoveries.token, let result) = event {
        nameDiscoveryCompleted(result, &context, at: now)
      } else {
        context.output.tell(.gatt(handle, event))
      }
    }
    if channels.hasEvents {
      while let event = channels.takeEvent() { report(event, &context, at: now) }
    }
    if bearer.isClosed { disconnect(.remoteUserTerminatedConnection, &context) }
  }

  // MARK: Time

  /// Handles the timers of the link, except the time limit for its end: see `LinkTable.endOverdueLinks`.
  mutating func timeReached(_ context: inout HostContext, at now: Instant) {
    if let due = parameterUpdates.deadline, due <= now {
      requestDueUpdate(&context, at: now)
      endOverdueFeatures(&context, at: now)
    }
    bearer.timeReached(now)
    if signalling.timeReached(now) { endRequest(.connectionParameters, .connectionTimeout, &context) }
    withChannels { $0.timeReached(now, identifiers: &$1) }
    if pace != nil { continuePacedData(&context, at: now) }
    if let deadline = security.deadline, deadline <= now {
      security.timeReached(now, &context.security.context)
      serveSecurity(&context, at: now)
    } else {
      serve(&context, at: now)
    }
  }
}

extension ByteSlice {
  fileprivate var isSignedWrite: Bool {
    count > ATT.signatureLength && self[0] == ATT.Opcode.signedWriteCommand.rawValue
  }
}
