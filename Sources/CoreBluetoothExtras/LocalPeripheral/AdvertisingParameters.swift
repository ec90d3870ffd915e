import BluetoothHost
import BluetoothTypes
import BluetoothWire
import CoreBluetooth

/// The parameters and the data of advertising, beyond a name and services.
///
/// ```swift
/// var parameters = AdvertisingParameters([.flags(), .name("Far"), .manufacturerData(company: 0xFFFF, [1, 2])])
/// parameters.extended = ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .leCoded)
/// try await device.advertise(parameters)
/// ```
public struct AdvertisingParameters: Hashable, Sendable {
  /// The ways in which devices may answer the advertising.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// Centrals may connect. With legacy PDUs they may also request the scan response (ADV_IND).
    case connectable
    /// Scanners may request the scan response (ADV_SCAN_IND). Extended PDUs of this kind carry no other data.
    case scannable
    /// Neither (ADV_NONCONN_IND).
    case broadcast
  }

  /// The way in which devices may answer.
  public var kind = Kind.connectable
  /// The advertising data: at most 31 octets, with extended PDUs 1,650. Discoverable devices begin with the Flags.
  public var data: [ADStructure]
  /// The scan response, with the same limits.
  public var scanResponse: [ADStructure]
  /// The advertising interval, 20 ms to 10.24 s, rounded down to steps of 0.625 ms; nil: 100 ms. Each interval is up to
  /// 10 ms longer, at random.
  public var interval: Duration?
  /// The transmit power in dBm, −127 to 20, of which the controller chooses the nearest that it has; nil: the
  /// controller chooses.
  public var txPower: Int?
  /// The parameters of extended PDUs; nil: legacy PDUs, which every device receives.
  public var extended: ExtendedAdvertising?
  /// The periodic advertising of the set; nil: none. Only extended advertising of the kind `broadcast` that is not
  /// anonymous can have it.
  public var periodic: PeriodicAdvertising?

  /// Creates connectable advertising with legacy PDUs.
  public init(_ data: [ADStructure], scanResponse: [ADStructure] = []) {
    self.data = data
    self.scanResponse = scanResponse
  }

  /// The form for the host; nil: a value is out of its range, or the values do not fit together.
  var host: HostAdvertising? {
    guard (data + scanResponse).allSatisfy({ $0.data.count < 255 }) else { return nil }
    var result = HostAdvertising(data: Self.octets(data), scanResponse: Self.octets(scanResponse))
    switch kind {
    case .connectable: result.shape.type = .connectableScannableUndirected
    case .scannable: result.shape.type = .scannableUndirected
    case .broadcast: result.shape.type = .nonConnectableUndirected
    }
    if let interval {
      guard let units = interval.steps(of: .microseconds(625), roundedUp: false), 0x20...0x4000 ~= units else {
        return nil
      }
      result.shape.interval = units
    }
    if let txPower {
      guard -127...20 ~= txPower else { return nil }
      result.shape.transmitPower = Int8(txPower)
    }
    if let extended {
      guard let pdus = extended.host, !extended.isAnonymous || kind == .broadcast else { return nil }
      result.shape.extended = pdus
    }
    if let periodic {
      guard let train = periodic.host, kind == .broadcast, let extended, !extended.isAnonymous else { return nil }
      result.train = train
    }
    return result
  }

  private static func octets(_ structures: [ADStructure]) -> ByteSlice {
    ByteSlice(structures.flatMap(\.octets))
  }
}

/// The parameters that only extended advertising has · Vol 4, Part E, 7.8.53.
public struct ExtendedAdvertising: Hashable, Sendable {
  /// The PHY on the primary channels: LE 1M or LE Coded.
  public var primaryPHY: PHY
  /// The PHY on the secondary channels, which carry the data.
  public var secondaryPHY: PHY
  /// The Advertising SID, 0 to 15.
  public var advertisingSID: Int
  /// True if the packets tell their transmit power.
  public var includesTxPower: Bool
  /// True if the packets have no address; only for `broadcast`.
  public var isAnonymous: Bool

  /// Creates parameters.
  public init(
    primaryPHY: PHY = .le1M, secondaryPHY: PHY = .le1M, advertisingSID: Int = 0, includesTxPower: Bool = false,
    isAnonymous: Bool = false
  ) {
    self.primaryPHY = primaryPHY
    self.secondaryPHY = secondaryPHY
    self.advertisingSID = advertisingSID
    self.includesTxPower = includesTxPower
    self.isAnonymous = isAnonymous
  }

  fileprivate var host: HostAdvertising.ExtendedPDUs? {
    guard primaryPHY != .le2M, 0...15 ~= advertisingSID else { return nil }
    var result = HostAdvertising.ExtendedPDUs()
    result.primaryPHY = primaryPHY.air
    result.secondaryPHY = secondaryPHY.air
    result.advertisingSID = UInt8(advertisingSID)
    result.includesTransmitPower = includesTxPower
    result.isAnonymous = isAnonymous
    return result
  }
}

extension PHY {
  fileprivate var air: RadioPHY {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .leCoded
    }
  }
}
