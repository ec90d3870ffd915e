import BluetoothRadio
import BluetoothWire

/// Radio arbitration: claims get the radio by rank, and listening fills the gaps.
extension Controller {
  /// Finishes what has ended and grants the radio to the activity that is due. Called after every event.
  mutating func settle(at now: Instant) {
    refreshConnections()
    while radioUse.isInterruptible {
      switch agenda.decide(at: now, holder: listeningHolder(at: now)) {
      case .begin(let place, let activity):
        begin(activity, in: place, at: now)
        refreshConnections()
      case .lose(let place, let activity): lose(activity, in: place, at: now)
      case .nothing:
        listen(at: now)
        accountListening(at: now)
        return
      }
    }
    accountListening(at: now)
  }

  /// Updates the claims of connections that have changed, and removes connections that have ended.
  mutating func refreshConnections() {
    while let index = connections.takeTouched() {
      if connections.refresh(index, isRunning: radioUse.isActivity(.connection(index)), agenda: &agenda) { continue }
      removeEndedConnection(index)
    }
  }

  /// Returns the time until which a connection event with much data may continue. It certainly needs the radio until
  /// `end`.
  mutating func limit(ofEventOf index: Int, end: Instant, at now: Instant) -> Instant {
    let interval = connections[index].interval
    let next = now + interval
    let limit = agenda.limit(end: end, next: next)
    listening.pass(until: now)
    let reserve = listening.reserve(in: interval)
    return reserve > .zero && isListeningWanted(at: next - reserve) ? min(limit, next - reserve) : limit
  }

  private mutating func listeningHolder(at now: Instant) -> (claim: TimeslotRequest, end: Instant)? {
    if case .listening = radioUse { listening.holder(at: now) } else { nil }
  }

  private mutating func accountListening(at now: Instant) {
    if case .listening = radioUse {
      listening.enter(.listening, at: now)
    } else {
      listening.enter(isListeningWanted(at: now) ? .waiting : .closed, at: now)
    }
  }

  /// True if an unplanned exchange, which answers a packet that was just received, may have the radio for `length`.
  mutating func mayAnswer(for length: TimeSpan, losses: Int, at now: Instant) -> Bool {
    agenda.admits(
      TimeslotRequest(
        purpose: .listening, start: now, latestStart: now, shortest: length, longest: length, losses: losses))
  }

  // MARK: Present activity

  mutating func perform(_ step: RadioStep, at now: Instant) {
    timer = nil
    switch step {
    case .command(let command): order(command)
    case .wait(let until): timer = until
    case .done:
      guard case .activity(let activity) = radioUse else {
        radioUse = .free
        return
      }
      radioUse = .free
      end(activity, at: now)
    }
  }

  /// Takes the radio from the present activity. A packet that is being sent is completed.
  mutating func abandonRadio() {
    timer = nil
    if isTransmitting {
      radioUse = .finishing
    } else {
      radioUse = .free
      order(.stop)
    }
  }

  mutating func timerEnded(at now: Instant) {
    switch radioUse {
    case .activity(let activity): timeReached(for: activity, at: now)
    case .scanRequest(let exchange): sendScanRequest(exchange, at: now)
    case .connecting(let exchange): sendConnectInd(exchange)
    case .free, .listening, .finishing: break
    }
  }

  mutating func continueRadioUse(_ event: RadioEvent, at now: Instant) {
    switch radioUse {
    case .free: break
    case .finishing:
      if case .transmitted = event { radioUse = .free }
    case .activity(let activity): continueActivity(activity, event, at: now)
    case .listening(let channel): continueListening(event, on: channel, at: now)
    case .scanRequest(let exchange): continueScanRequest(exchange, event, at: now)
    case .connecting(let exchange):
      if case .transmitted = event { connectIndSent(exchange) }
    }
  }
}
