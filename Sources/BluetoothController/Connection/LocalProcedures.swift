import BluetoothWire

/// Procedures that this device begins · Vol 6, Part B, 5.1.
extension Connection {
  /// Begins `procedure`, now or when those before it are over.
  mutating func begin(_ procedure: ControlProcedures.Procedure, at now: Instant, into output: inout HostOutput) {
    if case .termination? = procedures.active { return }
    procedures.enqueue(procedure)
    beginNextProcedure(at: now, into: &output)
  }

  mutating func beginNextProcedure(at now: Instant, into output: inout HostOutput) {
    while let procedure = procedures.begin(deadline: now + ControlProcedures.timeout) {
      start(procedure, at: now, into: &output)
      schedule.hasten(at: now)
    }
  }

  mutating func finishProcedure(at now: Instant, into output: inout HostOutput) {
    procedures.finish()
    beginNextProcedure(at: now, into: &output)
  }

  mutating func send(_ pdu: LL.ControlPDU, meaning: OutgoingPDU.Meaning = .none, in pool: PacketPool) {
    flow.append(control: pdu.payload(in: pool), meaning: meaning)
  }

  private mutating func start(
    _ procedure: ControlProcedures.Procedure, at now: Instant, into output: inout HostOutput
  ) {
    let pool = output.pool
    switch procedure {
    case .featureExchange:
      let features = HCI.LEFeatures.claimed.rawValue
      send(role == .central ? .featureReq(features) : .peripheralFeatureReq(features), in: pool)
    case .versionExchange:
      if let version = procedures.remoteVersion {
        reportVersion(version, into: &output)
        procedures.finish()
      } else {
        sendVersion(in: pool)
      }
    case .termination(_, let code):
      procedures.setDeadline(now + supervisionTimeout)
      send(.terminateInd(code), meaning: .termination, in: pool)
    case .dataLengthUpdate:
      send(.lengthReq(lengths.announce()), in: pool)
    case .connectionUpdate(let parameters):
      startUpdate(parameters, in: pool)
    case .channelMapUpdate(let map):
      let instant = firstInstant
      procedures.mapUpdate = (map, instant)
      procedures.setDeadline(nil)
      send(.channelMapInd(map, instant: UInt16(truncatingIfNeeded: instant)), in: pool)
    case .parameterRequest(let parameters):
      let proposal = LL.ConnectionParameterProposal(
        parameters: parameters, referenceConnectionEventCount: UInt16(truncatingIfNeeded: schedule.next))
      send(.connectionParamReq(proposal), in: pool)
    }
  }

  /// Asks for longer PDUs if the host would like them, once. A peripheral does it after the first event in which the central
  /// has not.
  mutating func exchangeLengths(at now: Instant, into output: inout HostOutput) {
    guard lengths.shouldAsk() else { return }
    begin(.dataLengthUpdate, at: now, into: &output)
  }

  /// LL_VERSION_IND is sent once in a connection · 5.1.5.
  mutating func sendVersion(in pool: PacketPool) {
    guard !procedures.hasSentVersion else { return }
    procedures.hasSentVersion = true
    send(.versionInd(version), in: pool)
  }

  private mutating func startUpdate(_ parameters: ConnectionParameters, in pool: PacketPool) {
    let instant = firstInstant
    let timing = LL.ConnectionTiming(
      windowSize: 1, windowOffset: 0, interval: parameters.maximumInterval, latency: parameters.latency,
      timeout: parameters.supervisionTimeout)
    procedures.update = (timing, instant)
    procedures.setDeadline(nil)
    send(.connectionUpdateInd(timing, instant: UInt16(truncatingIfNeeded: instant)), in: pool)
  }

  /// The peripheral shall have the chance to hear of it in six events at least that it attends · 5.1.1. One more is for
  /// what is queued before it.
  private var firstInstant: Int {
    schedule.next + (ControlProcedures.eventsBeforeInstant + 1) * (Int(values.latency) + 1)
  }

  // MARK: Instants

  /// Between two events: what is due at the next one's number happens.
  mutating func applyUpdates(at now: Instant, into output: inout HostOutput) {
    if let update = procedures.mapUpdate, schedule.next >= update.instant {
      channelMap = update.map
      procedures.mapUpdate = nil
      if case .channelMapUpdate? = procedures.active { finishProcedure(at: now, into: &output) }
    }
    if let update = procedures.update, schedule.next >= update.instant {
      procedures.update = nil
      apply(update.timing, instant: update.instant, into: &output)
      switch procedures.active {
      case .connectionUpdate, .parameterRequest: finishProcedure(at: now, into: &output)
      default: break
      }
    }
  }

  mutating func apply(_ timing: LL.ConnectionTiming, instant: Int, into output: inout HostOutput) {
    let unit = ConnectionParameters.intervalUnit
    schedule.update(
      at: instant, interval: unit * Int64(timing.interval), offset: unit * Int64(timing.windowOffset),
      windowSize: unit * Int64(timing.windowSize))
    values = HCI.ConnectionValues(
      interval: timing.interval, latency: timing.latency, supervisionTimeout: timing.timeout)
    // The new timeout counts from the instant.
    supervisionDeadline = schedule.start + supervisionTimeout
    output.send(.leConnectionUpdateComplete(.success, handle, values))
  }
}

extension HCI.LEFeatures {
  /// What this link layer has.
  static let claimed: HCI.LEFeatures = [
    .connectionParametersRequestProcedure, .extendedRejectIndication, .peripheralInitiatedFeaturesExchange, .ping,
    .dataPacketLengthExtension, .channelSelectionAlgorithm2,
  ]
}
