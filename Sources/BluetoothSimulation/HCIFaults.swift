import BluetoothRadio
import BluetoothWire

/// The decision about a packet between a host and its controller.
package enum HCIFaultDecision: Hashable, Sendable {
  /// The packet is lost.
  case lose
  /// The packet arrives late by this span. Later packets of the same direction arrive after it.
  case delay(TimeSpan)
  /// The packet arrives twice.
  case duplicate
  /// The associated packet arrives instead.
  case replace(HCI.Packet)
}

/// A fault injector for packets between hosts and controllers. Confined to the world.
package protocol HCIFaults: AnyObject {
  /// Returns the decision about `packet` and a comment for the capture; nil: the packet arrives unchanged.
  func decision(
    for packet: HCI.Packet, isFromHost: Bool, on device: RadioID, at now: Instant
  ) -> (decision: HCIFaultDecision, comment: String)?
}
