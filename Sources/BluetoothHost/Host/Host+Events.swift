import BluetoothWire

/// The distribution of the controller's events.
extension Host {
  mutating func receive(_ event: HCI.Event, at now: Instant) {
    switch event {
    case .commandComplete(let credits, let opcode, let parameters):
      commandAnswered(
        CommandQueue.Answer(
          opcode: opcode, status: parameters.status ?? .success, parameters: parameters, credits: credits), at: now)
    case .commandStatus(let status, let credits, let opcode):
      commandAnswered(
        CommandQueue.Answer(opcode: opcode, status: status, parameters: nil, credits: credits), at: now)
    case .numberOfCompletedPackets(let completed):
      for element in completed { table.packetsCompleted(element.handle, Int(element.count), &context) }
    case .leAdvertisingReport(let reports): for report in reports { gap.receive(report, &context, at: now) }
    case .leExtendedAdvertisingReport(let reports): for report in reports { gap.receive(report, &context, at: now) }
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      table.connectionCompleted(complete, &gap, &context, at: now)
    case .disconnectionComplete(let status, let handle, let reason):
      if status == .success { table.disconnected(handle, reason, &gap, &context, at: now) }
    case .leConnectionUpdateComplete(let status, let handle, let values):
      table.updateCompleted(handle, status, values, &context, at: now)
    case .leDataLengthChange(let handle, let transmit, let receive):
      table.dataLengthChanged(handle, transmit: transmit, receive: receive, &context, at: now)
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      table.remoteFeaturesRead(handle, status == .success ? features : nil, &context, at: now)
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      table.phyUpdated(handle, status, transmit: transmit, receive: receive, &context, at: now)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      table.answerParameterRequest(handle, parameters, &context, at: now)
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      table.longTermKeyRequested(handle, random: random, diversifier: diversifier, &context, at: now)
    case .encryptionChange(let status, let handle, let isEnabled),
      .encryptionChangeV2(let status, let handle, let isEnabled, _):
      table.encryptionChanged(handle, status, isEncrypted: isEnabled != 0, &context, at: now)
    case .encryptionKeyRefreshComplete(let status, let handle):
      table.encryptionChanged(handle, status, isEncrypted: true, &context, at: now)
    case .leAdvertisingSetTerminated(let status, let set, let handle, _):
      if status == .success { table.linkExists(handle, &context, at: now) }
      gap.advertisingSetTerminated(set, status, &context)
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      gap.synchronizationEstablished(status, sync, &context)
    case .lePeriodicAdvertisingReport(let report): gap.receive(report, &context)
    case .lePeriodicAdvertisingSyncLost(let sync): gap.synchronizationLost(sync, &context)
    case .leChannelSelectionAlgorithm(let handle, _): table.linkExists(handle, &context, at: now)
    case .hardwareError(let code): fail(.hardwareError(code), at: now)
    case .dataBufferOverflow: if context.controller.isOn { context.output.tell(.trouble(.dataBufferOverflow)) }
    case .readRemoteVersionInformationComplete, .authenticatedPayloadTimeoutExpired,
      .leReadLocalP256PublicKeyComplete, .leGenerateDHKeyComplete,
      .leScanTimeout, .leScanRequestReceived,
      .leDirectedAdvertisingReport, .lePeriodicAdvertisingSyncTransferReceived, .leRequestPeerSCAComplete,
      .unknownLE, .unknown:
      break
    }
  }
}
