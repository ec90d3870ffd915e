import BluetoothController
import BluetoothRadio
import BluetoothWire

/// The time that a device's radio spent on advertising, scanning and connections.
package struct RadioTimeAccount: Sendable {
  package struct Use: Sendable {
    package var receiving = TimeSpan.zero
    package var transmitting: [RadioStatistics.Transmitting] = []
  }

  package var advertising = Use()
  package var scanning = Use()
  package var connections = Use()
  private var purpose = Controller.RadioPurpose.advertising
  private var activity = Activity.idle
  /// The time until which `activity` is counted.
  private var since = Instant.zero

  fileprivate enum Activity {
    case idle, receiving
    case transmitting(power: Int)
  }

  package init() {}

  /// Records a new command to the radio.
  ///
  /// - Parameter purpose: the purpose of the command; nil: the former one.
  package mutating func note(_ command: RadioCommand, for purpose: Controller.RadioPurpose?, at now: Instant) {
    count(until: now)
    if let purpose { self.purpose = purpose }
    switch command {
    case .transmit(_, on: _, modulation: _, let power): activity = .transmitting(power: power.rounded)
    case .receive: activity = .receiving
    case .stop: activity = .idle
    }
  }

  /// Records that the radio has finished its command and is idle.
  package mutating func noteEnd(at now: Instant) {
    count(until: now)
    activity = .idle
  }

  /// Counts advertising packets that an idle radio sent one after the other, and the request windows after them.
  package mutating func skip(_ packets: SkippedPackets) {
    purpose = .advertising
    since = packets.end
    advertising.add(packets.airTime, .transmitting(power: packets.power.rounded))
    advertising.receiving += packets.listeningTime
  }

  /// Adds the times of another account.
  package mutating func add(_ other: RadioTimeAccount) {
    advertising.add(other.advertising)
    scanning.add(other.scanning)
    connections.add(other.connections)
  }

  /// Adds the time since the last change to the current purpose.
  package mutating func count(until now: Instant) {
    let span = now - since
    since = now
    if case .idle = activity { return }
    switch purpose {
    case .advertising: advertising.add(span, activity)
    case .scanning: scanning.add(span, activity)
    case .connections: connections.add(span, activity)
    }
  }
}

extension RadioTimeAccount.Use {
  fileprivate mutating func add(_ other: Self) {
    receiving += other.receiving
    for sending in other.transmitting { add(sending.time, .transmitting(power: sending.power)) }
  }

  fileprivate mutating func add(_ span: TimeSpan, _ activity: RadioTimeAccount.Activity) {
    switch activity {
    case .idle: break
    case .receiving: receiving += span
    case .transmitting(let power):
      for index in transmitting.indices where transmitting[index].power == power {
        transmitting[index].time += span
        return
      }
      transmitting.append(RadioStatistics.Transmitting(power: power, time: span))
    }
  }
}
