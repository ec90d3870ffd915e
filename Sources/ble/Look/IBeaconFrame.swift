import BluetoothAir
import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import Foundation

/// The content of an iBeacon: an identifier, a group and a number.
struct IBeaconFrame: Hashable, Sendable {
  let uuid: BluetoothUUID
  let major: UInt16
  let minor: UInt16
  /// The level at one metre in dBm.
  let measuredPower: Int8

  /// Reads the beacon in AD structures; nil: they have none.
  init?(_ data: Data) {
    guard
      case .iBeacon(let uuid, let major, let minor, let power) =
        BluetoothWire.Beacon(AdvertisingData(ByteSlice([UInt8](data))))
    else { return nil }
    (self.uuid, self.major, self.minor, measuredPower) = (uuid, major, minor, power)
  }

  /// The beacon as a field of a record: `Documentation/Ble-reference.md` describes it.
  var json: JSONText {
    .object([
      ("uuid", .text("\(uuid)")), ("major", .integer(Int(major))), ("minor", .integer(Int(minor))),
      ("measuredPower", .integer(Int(measuredPower))),
    ])
  }
}
