import Foundation

/// A device that only advertises. Centrals can connect only if its advertising is connectable.
public struct Broadcaster: Accessory {
  /// The PDU type, schedule, channels and payload of the advertising.
  public var advertising: Advertising

  /// Creates a device with this advertising.
  public init(_ advertising: Advertising) { self.advertising = advertising }
}

/// An iBeacon: it broadcasts its identity and its signal strength at one metre.
public struct IBeacon: Accessory {
  /// The UUID of the beacon's owner or application.
  public var proximityUUID: UUID
  /// The group of beacons that this beacon belongs to.
  public var major: UInt16
  /// The number of this beacon within its group.
  public var minor: UInt16
  /// The received signal strength at a distance of one metre, in dBm. The default, −59, is that of usual products with
  /// small antennas. In a world, the level at one metre is `DeviceOptions.transmitPower` minus
  /// `Environment.reference` and `Environment.margin`: −40 dBm by default.
  public var measuredPower: Int8
  /// The advertising interval.
  public var interval: Duration

  /// Creates a beacon, by default with 10 packets per second on each channel.
  public init(
    proximityUUID: UUID, major: UInt16 = 0, minor: UInt16 = 0, measuredPower: Int8 = -59,
    interval: Duration = .milliseconds(100)
  ) {
    self.proximityUUID = proximityUUID
    self.major = major
    self.minor = minor
    self.measuredPower = measuredPower
    self.interval = interval
  }

  /// The company identifier in the beacon's manufacturer data (Apple).
  static let company: UInt16 = 0x004C

  /// Non-connectable advertising with Flags and 25 octets of manufacturer data.
  public var advertising: Advertising {
    let uuid = withUnsafeBytes(of: proximityUUID.uuid) { Array($0) }
    let data =
      [0x02, 0x15] + uuid + major.octets(2).reversed() + minor.octets(2).reversed() + [UInt8(bitPattern: measuredPower)]
    var result = Advertising(
      AdvertisingPayload(fitting: [.flags(), .manufacturerData(company: Self.company, data)]))
    result.kind = .broadcast
    result.schedule = [.every(interval)]
    return result
  }
}
