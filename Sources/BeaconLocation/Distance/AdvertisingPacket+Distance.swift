import CoreBluetoothExtras

extension AdvertisingPacket {
  /// Estimates the distance of the advertiser from this packet alone; nil if the level is not available, or if the packet
  /// tells neither the level at one metre nor the transmit power.
  ///
  /// iBeacons and AltBeacons advertise the level at one metre, Eddystone beacons the level at 0 m, which is 41 dB above
  /// it, and other devices the transmit power: in the AD structure TX Power Level, or in the header of an extended packet.
  public func distance(_ model: DistanceModel = DistanceModel()) -> DistanceEstimate? {
    guard let rssi, let reference = PowerReference(self) else { return nil }
    return model.estimate(level: Double(rssi), reference)
  }
}
