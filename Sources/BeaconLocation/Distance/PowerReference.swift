import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras
import Foundation

/// The level that a device tells about its transmissions, in dBm.
package enum PowerReference: Hashable, Sendable {
  /// The level at a distance of one metre, as the manufacturer has measured it.
  case levelAtOneMetre(Double)
  /// The power at the antenna.
  case transmitPower(Double)

  /// The difference between the levels at 0 m and at one metre in the terms of Eddystone.
  private static let eddystoneLoss = 41.0

  /// Reads the level in a packet; nil: the packet tells none. A measured level precedes a transmit power.
  package init?(_ packet: AdvertisingPacket) { self.init(packet.data, txPower: packet.txPower) }

  /// Reads the level in advertising data.
  ///
  /// - Parameter txPower: the transmit power in the header of the packet; nil: none.
  package init?(_ data: Data, txPower: Int?) {
    let content = AdvertisingData(ByteSlice([UInt8](data)))
    switch BluetoothWire.Beacon(content) {
    case .iBeacon(_, _, _, let level), .altBeacon(_, _, let level, _):
      self = .levelAtOneMetre(Double(level))
    case .eddystoneUID(let level, _, _), .eddystoneURL(let level, _), .eddystoneEID(let level, _):
      self = .levelAtOneMetre(Double(level) - Self.eddystoneLoss)
    case .eddystoneTelemetry, nil:
      let advertised = content.lazy.compactMap { structure -> Int? in
        if case .txPowerLevel(let power)? = structure.field { Int(power) } else { nil }
      }.first
      guard let power = advertised ?? txPower else { return nil }
      self = .transmitPower(Double(power))
    }
  }
}
