import BluetoothRadio
import BluetoothWire

/// What becomes of a packet between a host and its controller.
package enum HCIFate: Hashable, Sendable {
  /// It does not arrive.
  case lose
  /// It arrives so much later, and nothing that is sent behind it arrives before it.
  case delay(TimeSpan)
  /// It arrives twice.
  case duplicate
  /// This one arrives in its place.
  case replace(HCI.Packet)
}

/// Who decides that packets between hosts and controllers go astray. Confined to the world.
package protocol HCIFaults: AnyObject {
  /// What becomes of `packet`, and what a capture is to say of it; nil: it arrives.
  func fate(
    of packet: HCI.Packet, isFromHost: Bool, on device: RadioID, at now: Instant
  ) -> (fate: HCIFate, comment: String)?
}
