import BluetoothRadio
import BluetoothWire

/// The allocation of the radio: activities get it in the order of their rank. In the gaps, the scanner and the
/// initiator listen.
extension Controller {
  /// Removes ended connections, and gives the radio to the activity that is due. Called after every event.
  mutating func settle(at now: Instant) {
    refreshConnections()
    while radioControl.owner.isInterruptible {
      switch radioControl.decide(at: now) {
      case .begin(let activityID, let activity):
        begin(activity, in: activityID, at: now)
        refreshConnections()
      case .lose(let activityID, let activity): lose(activity, in: activityID, at: now)
      case .nothing:
        radioControl.listen(at: now)
        radioControl.accountListening(at: now)
        return
      }
    }
    radioControl.accountListening(at: now)
  }

  /// Updates the timeslots of connections that have changed, and removes connections that have ended.
  private mutating func refreshConnections() {
    while let handle = connections.refresh(radio: &radioControl, into: &device.output) {
      syncs.forgetTransfer(of: handle)
    }
  }

  /// Performs the next step of the present owner of the radio.
  private mutating func perform(_ step: RadioStep, at now: Instant) {
    if let activity = radioControl.perform(step) { end(activity, at: now) }
  }

  // MARK: Activities

  /// Gives the radio to the activity, and starts the activity.
  private mutating func begin(_ activity: RadioActivity, in activityID: RadioScheduler.ActivityID, at now: Instant) {
    let timeslot = radioControl.scheduler[activityID]
    radioControl.scheduler[activityID] = nil
    let step: RadioStep
    switch activity {
    case .connection(let index):
      let end = now + (timeslot?.shortest ?? .zero)
      let limit = radioControl.limit(end: end, interval: connections[index].interval, at: now)
      step = connections[index].beginEvent(limit: limit, at: now, into: &device.output)
    case .advertising(let index): step = advertising.begin(index, device: &device, radio: &radioControl, at: now)
    case .auxiliaryAdvertising(let index):
      step = advertising.beginAuxiliary(index, device: &device, radio: &radioControl, at: now)
    case .periodicAdvertising(let index):
      step = advertising.beginTrainEvent(index, device: &device, radio: &radioControl, at: now)
    case .auxiliaryReception(let index): step = scanning.beginReception(index)
    case .periodicSync(let index): step = syncs.begin(index)
    }
    radioControl.begin(activity)
    perform(step, at: now)
  }

  /// Notifies the activity that it did not get the radio in time. The activity then requests its next timeslot.
  private mutating func lose(_ activity: RadioActivity, in activityID: RadioScheduler.ActivityID, at now: Instant) {
    switch activity {
    case .connection(let index):
      connections[index].missEvent(at: now, into: &device.output)
      refreshConnections()
    case .advertising(let index): advertising.lose(index, device: &device, radio: &radioControl, at: now)
    case .auxiliaryAdvertising(let index): advertising.loseAuxiliary(index, device: &device, radio: &radioControl)
    case .periodicAdvertising(let index): advertising.loseTrainEvent(index, radio: &radioControl)
    case .auxiliaryReception(let index):
      scanning.loseReception(index, device: &device, radio: &radioControl)
      radioControl.scheduler[activityID] = nil
    case .periodicSync(let index):
      radioControl.scheduler[activityID] = syncs.lose(index, device: &device, radio: &radioControl)
    }
  }

  /// Ends the activity. Called when the activity has released the radio.
  private mutating func end(_ activity: RadioActivity, at now: Instant) {
    switch activity {
    case .connection(let index): connections[index].endEvent(at: now, into: &device.output)
    case .advertising(let index): advertising.end(index, device: &device, radio: &radioControl, at: now)
    case .auxiliaryAdvertising(let index): advertising.endAuxiliary(index, device: &device, radio: &radioControl)
    case .periodicAdvertising(let index): advertising.endTrainEvent(index, radio: &radioControl)
    case .auxiliaryReception(let index): scanning.endReception(index, radio: &radioControl)
    case .periodicSync(let index): syncs.end(index, device: &device, radio: &radioControl)
    }
  }

  // MARK: Present user

  /// Continues the present owner of the radio, whose timer has expired.
  mutating func timerEnded(at now: Instant) {
    switch radioControl.owner {
    case .activity(let activity): perform(nextStep(of: activity, at: now), at: now)
    case .scanRequest: scanning.sendRequest(device: &device, radio: &radioControl, at: now)
    case .connecting: initiating.sendRequest(device: &device, radio: &radioControl)
    case .free, .listening, .finishing: break
    }
  }

  private mutating func nextStep(of activity: RadioActivity, at now: Instant) -> RadioStep {
    switch activity {
    case .connection(let index): connections[index].transmit(in: device.pool)
    case .advertising(let index): advertising.timeReached(index)
    case .auxiliaryAdvertising(let index):
      advertising.auxiliaryTimeReached(index, device: &device, radio: &radioControl, at: now)
    case .auxiliaryReception(let index):
      scanning.receptionTimeReached(index, initiating: &initiating, device: &device, at: now)
    // Each packet of a train has a separate timeslot, so no timer is set while a train has the radio.
    case .periodicAdvertising, .periodicSync: .done
    }
  }

  /// Passes a radio event to the owner of the radio.
  mutating func passToRadioOwner(_ event: RadioEvent, at now: Instant) {
    switch radioControl.owner {
    case .free, .finishing: break
    case .activity(let activity): continueActivity(activity, event, at: now)
    case .listening(let channel): continueListening(event, on: channel, at: now)
    case .scanRequest: scanning.continueRequest(event, device: &device, radio: &radioControl, at: now)
    case .connecting:
      guard case .transmitted = event, let exchange = initiating.takeSentRequest() else { return }
      radioControl.release()
      connected(exchange, at: now)
    }
  }

  /// Passes a radio event to the activity that has the radio.
  private mutating func continueActivity(_ activity: RadioActivity, _ event: RadioEvent, at now: Instant) {
    let step: RadioStep?
    switch activity {
    case .connection(let index): step = continueConnection(index, event, at: now)
    case .advertising(let index):
      step = advertising.take(
        event, for: index, connections: &connections, device: &device, radio: &radioControl, at: now)
    case .auxiliaryAdvertising(let index):
      step = advertising.takeAuxiliary(
        event, for: index, connections: &connections, device: &device, radio: &radioControl, at: now)
    case .periodicAdvertising: step = .done
    case .auxiliaryReception(let index): step = continueReception(index, event, at: now)
    case .periodicSync(let index):
      syncs.take(event, for: index, device: &device, at: now)
      step = .done
    }
    if let step { perform(step, at: now) }
  }

  private mutating func continueConnection(_ index: Int, _ event: RadioEvent, at now: Instant) -> RadioStep {
    switch event {
    case .transmitted: return connections[index].transmitted(at: now)
    case .nothingReceived: return connections[index].nothingReceived()
    case .received(let packet, let modulation, let start, let level, let isIntact):
      let step = connections[index].received(
        packet, modulation, start: start, level: level, isIntact: isIntact, at: now, into: &device.output)
      syncs.takeTransfers(from: index, of: &connections, device: &device, radio: &radioControl, at: now)
      return step
    }
  }

  // MARK: Scanning and initiating

  private mutating func continueListening(_ event: RadioEvent, on channel: RadioChannel, at now: Instant) {
    radioControl.release()
    guard case .received(let packet, let modulation, let start, let level, isIntact: true) = event,
      let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    else { return }
    device.learnAddresses(of: pdu)
    if case .extended(let payload) = pdu {
      scanning.heard(
        payload, modulation, from: start, level: level, initiating: &initiating, syncs: &syncs, device: &device,
        radio: &radioControl, at: now)
    } else if modulation == .le1M {
      scanning.report(pdu, level: level, device: &device)
      if initiating.beginRequest(
        for: pdu, on: channel, connections: &connections, device: &device, radio: &radioControl, at: now)
      {
        return
      }
      scanning.beginRequest(for: pdu, on: channel, device: &device, radio: &radioControl, at: now)
    }
  }

  private mutating func continueReception(_ index: Int, _ event: RadioEvent, at now: Instant) -> RadioStep {
    switch scanning.takeReception(
      event, for: index, initiating: &initiating, syncs: &syncs, device: &device, radio: &radioControl, at: now)
    {
    case .step(let step): return step
    case .connect(let peer, let channel, let phy):
      guard
        let exchange = initiating.makeExchange(
          with: peer, on: channel, phy, usesAlgorithm2: true, isAuxiliary: true, connections: &connections,
          device: &device, radio: &radioControl, at: now)
      else { return .done }
      return scanning.connect(exchange, in: index, at: now)
    case .connected(let exchange): connected(exchange, at: now)
    case .refused: if initiating.isCancelled { endInitiating() }
    }
    return .done
  }

  /// Creates the connection after the request, and after the advertiser's response if one is required.
  private mutating func connected(_ exchange: ConnectExchange, at now: Instant) {
    initiating.end()
    scanning.listeningChanged(initiating: &initiating, radio: &radioControl)
    connections.add(
      .central, own: exchange.own, peer: exchange.peer, data: exchange.data,
      usesAlgorithm2: exchange.usesAlgorithm2, auxiliaryPHY: exchange.isAuxiliary ? exchange.phy : nil,
      delay: exchange.delay, device: &device, radio: &radioControl, at: exchange.requestEnd)
  }

  /// Cancels the connection attempt, after Command Complete has been sent · Vol 4, Part E, 7.8.13.
  mutating func cancelInitiating() {
    // If CONNECT_IND is being sent, the connection is already created. With AUX_CONNECT_REQ the connection depends on
    // the response.
    if case .connecting = radioControl.owner, radioControl.isTransmitting { return }
    if scanning.receptions.isConnecting { return initiating.cancelLater() }
    endInitiating()
  }

  /// Ends the connection attempt that the host has cancelled, and reports its end to the host.
  private mutating func endInitiating() {
    initiating.end()
    scanning.listeningChanged(initiating: &initiating, radio: &radioControl)
    device.output.send(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier))
  }
}
