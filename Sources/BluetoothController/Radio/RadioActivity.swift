import BluetoothRadio
import BluetoothWire

/// An activity that claims the radio for a time known in advance. The number is the activity's index in its table.
enum RadioActivity: Hashable {
  /// A connection event of `connections`.
  case connection(Int)
  /// The packet of an advertising set on a primary advertising channel.
  case advertising(Int)
  /// A packet that the set has announced, on a secondary advertising channel.
  case auxiliaryAdvertising(Int)
  /// A packet of the set's periodic advertising train.
  case periodicAdvertising(Int)
  /// An auxiliary packet that was announced to the scanner or the initiator.
  case auxiliaryReception(Int)
  /// An event of a periodic advertising train that this device is synchronized to, or is synchronizing to.
  case periodicSync(Int)
}

/// The actions of activities when they get the radio, while they have it, and when they don't get it.
extension Controller {
  /// Starts the activity, which gets the radio.
  mutating func begin(_ activity: RadioActivity, in place: RadioScheduler.Place, at now: Instant) {
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

  /// Tells the activity that it did not get the radio in time; it makes its next claim.
  mutating func lose(_ activity: RadioActivity, in place: RadioScheduler.Place, at now: Instant) {
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

  /// Ends the activity, which does not need the radio any more.
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

  /// Continues the activity at the time for which it set the timer while it has the radio.
  mutating func timeReached(for activity: RadioActivity, at now: Instant) {
    switch activity {
    case .connection(let index): perform(connections[index].transmit(in: pool), at: now)
    case .advertising(let index): advertisingTimeReached(index, at: now)
    case .auxiliaryAdvertising(let index): auxiliaryAdvertisingTimeReached(index, at: now)
    // Its packets are sent at claimed times, so it sets no timer.
    case .periodicAdvertising: perform(.done, at: now)
    case .auxiliaryReception(let index): auxiliaryReceptionTimeReached(index, at: now)
    case .periodicSync(let index): periodicSyncTimeReached(index, at: now)
    }
  }

  /// Passes a radio event to the activity that has the radio.
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
