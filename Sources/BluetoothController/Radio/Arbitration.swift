import BluetoothRadio
import BluetoothWire

/// Who gets the radio: connection events before advertising before listening.
///
/// A connection event that comes while the radio is taken is missed; of several at once, the connection that has missed most
/// in a row is first, and others keep out of the way of one that has missed more than they have.
extension Controller {
  /// After everything that has happened: ends what has ended, and gives the radio to who is due.
  mutating func settle(at now: Instant) {
    removeEndedConnections(at: now)
    if radioUse.isInterruptible { giveRadio(at: now) }
    guard !radioUse.isInterruptible else { return }
    for index in connections.indices
    where connections[index].schedule.start <= now && !radioUse.isEvent(of: index) {
      connections[index].missEvent(at: now, into: &output)
    }
  }

  private mutating func giveRadio(at now: Instant) {
    while let index = mostUrgentEvent(at: now) {
      guard let limit = limit(ofEventOf: index, at: now) else {
        connections[index].missEvent(at: now, into: &output)
        continue
      }
      radioUse = .event(index: index)
      perform(connections[index].beginEvent(limit: limit, at: now), at: now)
      return
    }
    if let next = advertiser?.next, next <= now, beginAdvertisingEvent(at: now) { return }
    listen(at: now)
  }

  /// The connection whose event is due and that has missed most.
  private func mostUrgentEvent(at now: Instant) -> Int? {
    var result: Int?
    for index in connections.indices where connections[index].schedule.start <= now {
      if let other = result, connections[other].missed >= connections[index].missed { continue }
      result = index
    }
    return result
  }

  /// Until when the event may last; nil: it keeps out of another one's way, or comes too late.
  private func limit(ofEventOf index: Int, at now: Instant) -> Instant? {
    if connections[index].role == .peripheral && connections[index].schedule.listeningEnds <= now { return nil }
    var limit = shareEnds(ofEventOf: index, at: now)
    guard connections.count > 1 else { return limit }
    let minimumEnd = connections[index].minimumEnd
    let longestEnd = connections[index].longestEnd
    for other in connections.indices where other != index {
      let start = connections[other].schedule.start - LL.interFrameSpace
      if start < longestEnd && connections[other].missed > connections[index].missed { return nil }
      if start >= minimumEnd { limit = min(limit, start) }
    }
    return limit
  }

  /// Until when an event that has much to move may go on, so that advertising and listening get some of the radio, too: the
  /// last quarter of the interval for listening, and what an advertising event that is due needs, half of it at most.
  private func shareEnds(ofEventOf index: Int, at now: Instant) -> Instant {
    let interval = connections[index].interval
    let end = now + interval
    var result = Instant.distantFuture
    if scanner != nil || initiator != nil { result = end - interval / 4 }
    if let advertiser, advertiser.next < end { result = min(result, end - min(advertiser.eventDuration, interval / 2)) }
    return result
  }

  /// When the next connection event needs the radio.
  var nextEventStart: Instant {
    var result = Instant.distantFuture
    for index in connections.indices { result = min(result, connections[index].schedule.start) }
    return result
  }

  private mutating func beginAdvertisingEvent(at now: Instant) -> Bool {
    guard let duration = advertiser?.duration else { return false }
    let limit = nextEventStart - LL.interFrameSpace
    guard now + duration <= limit, let step = advertiser?.begin(limit: limit, at: now) else {
      advertiser?.isWaiting = true
      return false
    }
    radioUse = .advertising
    perform(step, at: now)
    return true
  }

  /// When the advertiser, the scanner or the initiator wants the radio.
  var scheduleDeadline: Instant? {
    let end = advertiser?.end
    guard radioUse.isInterruptible else { return end }
    var result = end
    if let advertiser, !advertiser.isWaiting { result = earliest(result, advertiser.next) }
    if case .free = radioUse { result = earliest(result, windowOpens) }
    return result
  }

  // MARK: The activity that has the radio

  mutating func perform(_ step: RadioStep, at now: Instant) {
    timer = nil
    switch step {
    case .command(let command): order(command)
    case .wait(let until): timer = until
    case .done: endRadioUse(at: now)
    }
  }

  private mutating func endRadioUse(at now: Instant) {
    let use = radioUse
    radioUse = .free
    switch use {
    case .event(let index): connections[index].endEvent(at: now, into: &output)
    case .advertising: advertiser?.endEvent(at: now, random: &random)
    default: break
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
    case .event(let index): perform(connections[index].transmit(), at: now)
    case .advertising:
      if let step = advertiser?.timeReached() { perform(step, at: now) }
    case .scanRequest(let exchange): sendScanRequest(exchange)
    case .connecting(let exchange): sendConnectInd(exchange)
    case .free, .listening, .finishing: break
    }
  }

  mutating func continueRadioUse(_ event: RadioEvent, at now: Instant) {
    switch radioUse {
    case .free: break
    case .finishing:
      if case .transmitted = event { radioUse = .free }
    case .event(let index): continueEvent(of: index, event, at: now)
    case .advertising: continueAdvertising(event, at: now)
    case .listening(let channel): continueListening(event, on: channel, at: now)
    case .scanRequest(let exchange): continueScanRequest(exchange, event, at: now)
    case .connecting(let exchange):
      if case .transmitted = event { connectIndSent(exchange, at: now) }
    }
  }

  private mutating func continueEvent(of index: Int, _ event: RadioEvent, at now: Instant) {
    let step: RadioStep
    switch event {
    case .transmitted: step = connections[index].transmitted(at: now)
    case .nothingReceived: step = .done
    case .received(let packet, _, let start, let level, let isIntact):
      step = connections[index].received(
        packet, start: start, level: level, isIntact: isIntact, at: now, into: &output)
    }
    perform(step, at: now)
  }

  private mutating func continueAdvertising(_ event: RadioEvent, at now: Instant) {
    guard advertiser != nil else { return }
    switch event {
    case .transmitted:
      if let step = advertiser?.transmitted(at: now) { perform(step, at: now) }
    case .nothingReceived:
      if let step = advertiser?.nothingReceived(at: now) { perform(step, at: now) }
    case .received(let packet, _, _, _, let isIntact): advertiserReceived(packet, isIntact: isIntact, at: now)
    }
  }
}
