import Foundation

/// A device that advertises and does nothing else. Nobody can connect to it unless its advertising says so.
public struct Broadcaster: Accessory {
  /// What, how often, and where.
  public var advertising: Advertising

  /// A device that advertises like this.
  public init(_ advertising: Advertising) { self.advertising = advertising }
}

/// An iBeacon: it tells where it is, and how strong it is to be heard at one metre.
public struct IBeacon: Accessory {
  /// Whose beacon it is.
  public var proximityUUID: UUID
  /// Which group of beacons it belongs to.
  public var major: UInt16
  /// Which one of them it is.
  public var minor: UInt16
  /// dBm at a distance of one metre.
  public var measuredPower: Int8
  /// How often it tells.
  public var interval: Duration

  /// A beacon that tells this ten times a second.
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

  /// The identifier of the company whose data a beacon's are.
  static let company: UInt16 = 0x004C

  /// Broadcast: Flags, and 25 octets of manufacturer data.
  public var advertising: Advertising {
    let uuid = withUnsafeBytes(of: proximityUUID.uuid) { Array($0) }
    let data =
      [0x02, 0x15] + uuid + major.octets.reversed() + minor.octets.reversed() + [UInt8(bitPattern: measuredPower)]
    var result = Advertising(
      AdvertisingPayload(fitting: [.flags(), .manufacturerData(company: Self.company, data)]))
    result.kind = .broadcast
    result.schedule = [.every(interval)]
    return result
  }
}
