import BluetoothRadio
import BluetoothWire

/// Who gets the radio: what has a claim, by rank, and in the gaps who listens.
extension Controller {
  /// After everything that has happened: ends what has ended, and gives the radio to who is due.
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

  /// Takes in what has changed in the connections: what they want of the radio, and whether they have ended.
  mutating func refreshConnections() {
    while let index = connections.takeTouched() {
      if connections.refresh(index, isRunning: radioUse.isActivity(.connection(index)), agenda: &agenda) { continue }
      removeEndedConnection(index)
    }
  }

  /// Until when a connection event that has much to move may go on. Until `end` it surely needs the radio.
  mutating func limit(ofEventOf index: Int, end: Instant, at now: Instant) -> Instant {
    let interval = connections[index].interval
    let next = now + interval
    let limit = agenda.limit(end: end, next: next)
    listening.pass(until: now)
    let reserve = listening.reserve(in: interval)
    return reserve > .zero && isListeningWanted(at: next - reserve) ? min(limit, next - reserve) : limit
  }

  private mutating func listeningHolder(at now: Instant) -> (claim: RadioClaim, end: Instant)? {
    if case .listening = radioUse { listening.holder(at: now) } else { nil }
  }

  private mutating func accountListening(at now: Instant) {
    if case .listening = radioUse {
      listening.enter(.listening, at: now)
    } else {
      listening.enter(isListeningWanted(at: now) ? .waiting : .closed, at: now)
    }
  }

  /// Whether what nobody could plan, because it answers a packet that was just heard, may have the radio for `length`.
  mutating func mayAnswer(for length: TimeSpan, losses: Int, at now: Instant) -> Bool {
    agenda.admits(
      RadioClaim(
        purpose: .listening, start: now, latestStart: now, shortest: length, longest: length, losses: losses))
  }

  // MARK: The activity that has the radio

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

  /// The activity that has the radio does not go on. A packet that is being sent is sent to its end.
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
