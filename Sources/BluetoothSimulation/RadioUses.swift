import BluetoothController
import BluetoothRadio
import BluetoothWire

/// How long a device's radio was used for what.
package struct RadioUses: Sendable {
  package struct Use: Sendable {
    package var receiving = TimeSpan.zero
    package var transmitting: [RadioStatistics.Transmitting] = []
  }

  package var advertising = Use()
  package var scanning = Use()
  package var connections = Use()
  private var purpose = Controller.RadioPurpose.advertising
  private var activity = Activity.idle
  private var since = Instant.zero

  fileprivate enum Activity {
    case idle, receiving
    case transmitting(power: Int)
  }

  package init() {}

  /// The radio was told what to do from now on.
  /// - Parameter purpose: nil: that of before.
  package mutating func note(_ command: RadioCommand, for purpose: Controller.RadioPurpose?, at now: Instant) {
    count(until: now)
    if let purpose { self.purpose = purpose }
    switch command {
    case .transmit(_, on: _, modulation: _, let power): activity = .transmitting(power: power.rounded)
    case .receive: activity = .receiving
    case .stop: activity = .idle
    }
  }

  /// The radio has done what it was told to, and does nothing.
  package mutating func noteEnd(at now: Instant) {
    count(until: now)
    activity = .idle
  }

  /// Counts packets that were sent to advertise, one after the other, by a radio that has been idle.
  package mutating func skip(_ packets: SkippedPackets) {
    purpose = .advertising
    since = packets.end
    advertising.add(packets.airTime, .transmitting(power: packets.power.rounded))
  }

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

extension RadioUses.Use {
  fileprivate mutating func add(_ span: TimeSpan, _ activity: RadioUses.Activity) {
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
