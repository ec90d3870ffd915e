import BluetoothRadio
import BluetoothWire

/// Something that claims the radio for a time that it knows before. The number is that of the activity in its table.
enum RadioActivity: Hashable {
  /// A connection event of `connections`.
  case connection(Int)
  /// The packet of an advertising set on a primary advertising channel.
  case advertising(Int)
  /// An auxiliary packet that a scanner or an initiator was told of.
  case auxiliaryReception(Int)
  /// An event of a periodic advertising train that this device is synchronized to, or is about to be.
  case periodicSync(Int)
}

/// What activities do when they get the radio, while they have it, and when they don't get it.
extension Controller {
  /// The activity has the radio.
  mutating func begin(_ activity: RadioActivity, in place: RadioAgenda.Place, at now: Instant) {
    let step: RadioStep
    switch activity {
    case .connection(let index):
      let limit = limit(ofEventOf: index, in: place, at: now)
      step = connections[index].beginEvent(limit: limit, at: now)
    case .advertising: step = advertiser?.begin(at: now) ?? .done
    case .auxiliaryReception(let index): step = beginAuxiliaryReception(index, at: now)
    case .periodicSync(let index): step = beginPeriodicSyncEvent(index, at: now)
    }
    agenda[place] = nil
    radioUse = .activity(activity)
    perform(step, at: now)
  }

  /// The activity did not get the radio while it was of use; it says what it wants next.
  mutating func lose(_ activity: RadioActivity, in place: RadioAgenda.Place, at now: Instant) {
    switch activity {
    case .connection(let index):
      connections[index].missEvent(at: now, into: &output)
      refreshConnections()
    case .advertising:
      advertiser?.loseEvent(at: now, random: &random)
      agenda[place] = advertiser?.claim
    case .auxiliaryReception(let index): agenda[place] = loseAuxiliaryReception(index, at: now)
    case .periodicSync(let index): agenda[place] = losePeriodicSyncEvent(index, at: now)
    }
  }

  /// The activity does not need the radio any more.
  mutating func end(_ activity: RadioActivity, at now: Instant) {
    switch activity {
    case .connection(let index): connections[index].endEvent(at: now, into: &output)
    case .advertising:
      advertiser?.endEvent(at: now, random: &random)
      if let place = advertiserPlace { agenda[place] = advertiser?.claim }
    case .auxiliaryReception(let index): endAuxiliaryReception(index, at: now)
    case .periodicSync(let index): endPeriodicSyncEvent(index, at: now)
    }
  }

  /// The time has come that the activity asked for while it has the radio.
  mutating func timeReached(for activity: RadioActivity, at now: Instant) {
    switch activity {
    case .connection(let index): perform(connections[index].transmit(), at: now)
    case .advertising: perform(advertiser?.timeReached() ?? .done, at: now)
    case .auxiliaryReception(let index): auxiliaryReceptionTimeReached(index, at: now)
    case .periodicSync(let index): periodicSyncTimeReached(index, at: now)
    }
  }

  /// The radio tells something to the activity that has it.
  mutating func continueActivity(_ activity: RadioActivity, _ event: RadioEvent, at now: Instant) {
    switch activity {
    case .connection(let index): continueEvent(of: index, event, at: now)
    case .advertising: continueAdvertising(event, at: now)
    case .auxiliaryReception(let index): continueAuxiliaryReception(index, event, at: now)
    case .periodicSync(let index): continuePeriodicSyncEvent(index, event, at: now)
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
    switch event {
    case .transmitted: perform(advertiser?.transmitted(at: now) ?? .done, at: now)
    case .nothingReceived: perform(.done, at: now)
    case .received(let packet, _, _, _, let isIntact): advertiserReceived(packet, isIntact: isIntact, at: now)
    }
  }
}
