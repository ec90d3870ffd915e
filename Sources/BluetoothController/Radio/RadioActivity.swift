import BluetoothRadio
import BluetoothWire

/// Something that claims the radio for a time that it knows before. The number is that of the activity in its table.
enum RadioActivity: Hashable {
  /// A connection event of `connections`.
  case connection(Int)
  /// The packet of an advertising set on a primary advertising channel.
  case advertising(Int)
  /// A packet that the set has announced, on a secondary advertising channel.
  case auxiliaryAdvertising(Int)
  /// A packet of the set's periodic advertising train.
  case periodicAdvertising(Int)
  /// An auxiliary packet that a scanner or an initiator was told of.
  case auxiliaryReception(Int)
  /// An event of a periodic advertising train that this device is synchronized to, or is about to be.
  case periodicSync(Int)
}

/// What activities do when they get the radio, while they have it, and when they don't get it.
extension Controller {
  /// The activity has the radio.
  mutating func begin(_ activity: RadioActivity, in place: RadioAgenda.Place, at now: Instant) {
    let claim = agenda[place]
    agenda[place] = nil
    let step: RadioStep
    switch activity {
    case .connection(let index):
      let end = now + (claim?.shortest ?? .zero)
      step = connections[index].beginEvent(limit: limit(ofEventOf: index, end: end, at: now), at: now, into: &output)
    case .advertising(let index): step = beginAdvertising(index, at: now)
    case .auxiliaryAdvertising(let index): step = beginAuxiliaryAdvertising(index, at: now)
    case .periodicAdvertising(let index): step = beginPeriodicAdvertising(index, at: now)
    case .auxiliaryReception(let index): step = beginAuxiliaryReception(index, at: now)
    case .periodicSync(let index): step = beginPeriodicSyncEvent(index, at: now)
    }
    radioUse = .activity(activity)
    perform(step, at: now)
  }

  /// The activity did not get the radio while it was of use; it says what it wants next.
  mutating func lose(_ activity: RadioActivity, in place: RadioAgenda.Place, at now: Instant) {
    switch activity {
    case .connection(let index):
      connections[index].missEvent(at: now, into: &output)
      refreshConnections()
    case .advertising(let index): loseAdvertising(index, at: now)
    case .auxiliaryAdvertising(let index): loseAuxiliaryAdvertising(index, at: now)
    case .periodicAdvertising(let index): losePeriodicAdvertising(index)
    case .auxiliaryReception(let index): agenda[place] = loseAuxiliaryReception(index, at: now)
    case .periodicSync(let index): agenda[place] = losePeriodicSyncEvent(index, at: now)
    }
  }

  /// The activity does not need the radio any more.
  mutating func end(_ activity: RadioActivity, at now: Instant) {
    switch activity {
    case .connection(let index): connections[index].endEvent(at: now, into: &output)
    case .advertising(let index): endAdvertising(index, at: now)
    case .auxiliaryAdvertising(let index): endAuxiliaryAdvertising(index, at: now)
    case .periodicAdvertising(let index): endPeriodicAdvertising(index)
    case .auxiliaryReception(let index): endAuxiliaryReception(index, at: now)
    case .periodicSync(let index): endPeriodicSyncEvent(index, at: now)
    }
  }

  /// The time has come that the activity asked for while it has the radio.
  mutating func timeReached(for activity: RadioActivity, at now: Instant) {
    switch activity {
    case .connection(let index): perform(connections[index].transmit(in: pool), at: now)
    case .advertising(let index): advertisingTimeReached(index, at: now)
    case .auxiliaryAdvertising(let index): auxiliaryAdvertisingTimeReached(index, at: now)
    // Its packets are at times that are claimed.
    case .periodicAdvertising: perform(.done, at: now)
    case .auxiliaryReception(let index): auxiliaryReceptionTimeReached(index, at: now)
    case .periodicSync(let index): periodicSyncTimeReached(index, at: now)
    }
  }

  /// The radio tells something to the activity that has it.
  mutating func continueActivity(_ activity: RadioActivity, _ event: RadioEvent, at now: Instant) {
    switch activity {
    case .connection(let index): continueEvent(of: index, event, at: now)
    case .advertising(let index): continueAdvertising(index, event, at: now)
    case .auxiliaryAdvertising(let index): continueAuxiliaryAdvertising(index, event, at: now)
    case .periodicAdvertising: perform(.done, at: now)
    case .auxiliaryReception(let index): continueAuxiliaryReception(index, event, at: now)
    case .periodicSync(let index): continuePeriodicSyncEvent(index, event, at: now)
    }
  }

  private mutating func continueEvent(of index: Int, _ event: RadioEvent, at now: Instant) {
    let step: RadioStep
    switch event {
    case .transmitted: step = connections[index].transmitted(at: now)
    case .nothingReceived: step = connections[index].nothingReceived()
    case .received(let packet, let modulation, let start, let level, let isIntact):
      step = connections[index].received(
        packet, modulation, start: start, level: level, isIntact: isIntact, at: now, into: &output)
      takeSyncTransfers(from: index, at: now)
    }
    perform(step, at: now)
  }
}
