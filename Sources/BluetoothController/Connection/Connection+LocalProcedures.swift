import BluetoothWire

/// The procedures that this device initiates · Vol 6, Part B, 5.1.
extension Connection {
  /// Starts `procedure`, now or when earlier procedures have ended.
  mutating func begin(_ procedure: ControlProcedures.Procedure, at now: Instant, into output: inout HCIEventQueue) {
    if case .termination? = procedures.active { return }
    procedures.enqueue(procedure)
    beginNextProcedure(at: now, into: &output)
  }

  mutating func beginNextProcedure(at now: Instant, into output: inout HCIEventQueue) {
    while let procedure = procedures.begin(deadline: now + ControlProcedures.timeout) {
      start(procedure, at: now, into: &output)
      schedule.hasten(at: now)
    }
  }

  mutating func finishProcedure(at now: Instant, into output: inout HCIEventQueue) {
    procedures.finish()
    updateLengths(into: &output)
    beginNextProcedure(at: now, into: &output)
  }

  mutating func send(
    _ pdu: LL.ControlPDU, meaning: OutgoingPDU.Meaning = .none, rejecting rejected: LL.ControlOpcode? = nil,
    in pool: PacketPool
  ) {
    flow.append(control: pdu.payload(in: pool), meaning: meaning, rejecting: rejected)
  }

  private mutating func start(
    _ procedure: ControlProcedures.Procedure, at now: Instant, into output: inout HCIEventQueue
  ) {
    let pool = output.pool
    switch procedure {
    case .encryption(let request): startEncryption(request, at: now, into: &output)
    case .featureExchange:
      let features = features.featureSet
      send(role == .central ? .featureReq(features) : .peripheralFeatureReq(features), in: pool)
    case .versionExchange:
      if let version = procedures.remoteVersion {
        output.report(version, of: handle)
        procedures.finish()
      } else {
        sendVersion(in: pool)
      }
    case .termination(_, let code):
      procedures.setDeadline(now + supervisionTimeout)
      send(.terminateInd(code), meaning: .termination, in: pool)
    case .ping: send(.pingReq, in: pool)
    case .dataLengthUpdate:
      send(.lengthReq(lengths.announce(features, remote: procedures.remoteFeatures)), in: pool)
    case .connectionUpdate(let parameters, let placement): announceUpdate(parameters, placement, in: pool)
    case .channelMapUpdate:
      let map = channels.preferredMap(on: phys)
      if map == channels.map { procedures.finish() } else { announce(.channelMap(map), in: pool) }
    case .parameterRequest(let parameters, let placement):
      if !asksForParameters, decide(on: procedure, in: pool) { return }
      send(.connectionParamReq(schedule.proposal(of: parameters, placement)), in: pool)
    case .phyUpdate:
      send(.phyReq(phys.preferences), in: pool)
      updateLengths(into: &output)
    case .minimumUsedChannels(let minimum):
      send(.minUsedChannelsInd(minimum), meaning: .endOfProcedure, in: pool)
    case .syncTransfer(let transfer): send(.periodicSyncInd(transfer), meaning: .endOfProcedure, in: pool)
    case .clockAccuracyUpdate: send(.clockAccuracyReq(sleepClockAccuracy), in: pool)
    case .channelReporting(let reporting):
      send(.channelReportingInd(reporting), meaning: .endOfProcedure, in: pool)
    case .channelStatus(let status): send(.channelStatusInd(status), meaning: .endOfProcedure, in: pool)
    }
  }

  /// Starts a data length update, once, if the host prefers longer PDUs. A peripheral does so after the first event
  /// in which the central has not.
  mutating func exchangeLengths(at now: Instant, into output: inout HCIEventQueue) {
    guard features.contains(.dataPacketLengthExtension), lengths.shouldAsk() else { return }
    begin(.dataLengthUpdate, at: now, into: &output)
  }

  /// Sends LL_VERSION_IND, once in a connection · 5.1.5.
  mutating func sendVersion(in pool: PacketPool) {
    guard !procedures.hasSentVersion else { return }
    procedures.hasSentVersion = true
    send(.versionInd(version), in: pool)
  }
}
