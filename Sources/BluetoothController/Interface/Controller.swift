import BluetoothRadio
import BluetoothWire
import DequeModule

/// A Bluetooth LE controller: the device side of HCI and a link layer over one radio · Vol 4, Part E; Vol 6, Part B.
package struct Controller {
  private let configuration: ControllerConfiguration
  private var packets: Deque<HCI.Packet> = []
  private var radioCommand: RadioCommand?

  package init(configuration: ControllerConfiguration, random: SplitGenerator, pool: PacketPool) {
    self.configuration = configuration
  }

  /// Takes a packet from the host.
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) {}

  /// Takes what the radio tells.
  package mutating func radio(_ event: RadioEvent, at now: Instant) {}

  /// To be called when `deadline` has come.
  package mutating func timeReached(_ now: Instant) {}

  /// When `timeReached` is to be called; nil: not before something else has happened.
  package var deadline: Instant? { nil }

  /// The next packet for the host, in order; nil: there is none.
  package mutating func takePacket() -> HCI.Packet? { packets.popFirst() }

  /// What the radio is to do from now on; nil: go on.
  package mutating func takeRadioCommand() -> RadioCommand? {
    defer { radioCommand = nil }
    return radioCommand
  }
}
