import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras

/// The identity that an iBeacon advertises.
struct BeaconIdentity: Hashable, Sendable {
  let uuid: UUID
  let major: UInt16
  let minor: UInt16
}

/// A received packet of an iBeacon.
struct BeaconSighting: Sendable {
  let identity: BeaconIdentity
  /// The level at a distance of one metre in dBm.
  let levelAtOneMetre: Int8
  /// The level of this packet in dBm; nil: not available.
  let rssi: Int?

  init(identity: BeaconIdentity, levelAtOneMetre: Int8, rssi: Int?) {
    (self.identity, self.levelAtOneMetre, self.rssi) = (identity, levelAtOneMetre, rssi)
  }

  /// Reads the advertising data of a packet; nil for anything but an iBeacon.
  init?(_ packet: AdvertisingPacket) {
    let content = AdvertisingData(ByteSlice([UInt8](packet.data)))
    guard case .iBeacon(let uuid, let major, let minor, let power)? = BluetoothWire.Beacon(content) else { return nil }
    self.init(
      identity: BeaconIdentity(uuid: UUID(uuid), major: major, minor: minor),
      levelAtOneMetre: power, rssi: packet.rssi)
  }
}

extension UUID {
  /// Creates the UUID with these octets, most significant first.
  fileprivate init(_ uuid: BluetoothUUID) {
    let octets = (uuid.high.bigEndian, uuid.low.bigEndian)
    self = withUnsafeBytes(of: octets) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

/// The beacons that a region or a ranging selects: those with a UUID, or also with a group, or also with a number.
struct BeaconConstraint: Hashable, Sendable {
  let uuid: UUID
  let major: UInt16?
  let minor: UInt16?

  func matches(_ beacon: BeaconIdentity) -> Bool {
    beacon.uuid == uuid && (major ?? beacon.major) == beacon.major && (minor ?? beacon.minor) == beacon.minor
  }
}
