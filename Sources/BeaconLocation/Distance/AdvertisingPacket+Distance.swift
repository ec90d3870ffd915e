import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras

extension AdvertisingPacket {
  /// Estimates the distance of the advertiser from this packet alone; nil if the level is not available, or if the packet
  /// tells neither the level at one metre nor the transmit power.
  ///
  /// iBeacons and AltBeacons advertise the level at one metre, Eddystone beacons the level at 0 m, and other devices
  /// the transmit power: in the AD structure TX Power Level, or in the header of an extended packet.
  public func distance(_ model: DistanceModel = DistanceModel()) -> DistanceEstimate? {
    guard let rssi else { return nil }
    let level = Double(rssi)
    let content = AdvertisingData(ByteSlice([UInt8](data)))
    switch BluetoothWire.Beacon(content) {
    case .iBeacon(_, _, _, let power), .altBeacon(_, _, let power, _):
      return model.estimate(level: level, levelAtOneMetre: Double(power))
    case .eddystoneUID(let power, _, _), .eddystoneURL(let power, _), .eddystoneEID(let power, _):
      return model.estimate(level: level, transmitPower: Double(power))
    case .eddystoneTelemetry, nil: break
    }
    let advertised = content.lazy.compactMap { structure -> Int? in
      if case .txPowerLevel(let power)? = structure.field { Int(power) } else { nil }
    }.first
    return (advertised ?? txPower).flatMap { model.estimate(level: level, transmitPower: Double($0)) }
  }
}
