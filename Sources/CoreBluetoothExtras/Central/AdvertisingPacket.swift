import BluetoothHost
import BluetoothTypes
import CoreBluetooth

/// An advertising packet or a scan response that this device has received.
public struct AdvertisingPacket: Sendable {
  /// The type of an advertising PDU · Vol 6, Part B, 2.3.
  public enum PDUType: String, Hashable, Sendable, CaseIterable {
    /// Connectable and scannable.
    case advInd = "ADV_IND"
    /// Connectable, for one device.
    case advDirectInd = "ADV_DIRECT_IND"
    /// Neither connectable nor scannable.
    case advNonconnInd = "ADV_NONCONN_IND"
    /// Scannable.
    case advScanInd = "ADV_SCAN_IND"
    /// The response to a scan request.
    case scanRsp = "SCAN_RSP"
    /// Extended advertising, with the packets on the secondary channels that it announces.
    case advExtInd = "ADV_EXT_IND"
    /// The response to a scan request in extended advertising.
    case auxScanRsp = "AUX_SCAN_RSP"
  }

  /// The advertiser.
  public let peripheral: Peripheral
  /// The address of the advertiser: its identity address if this device has a bond with it, else the address in the
  /// packet.
  public let address: DeviceAddress
  /// The type of the PDU.
  public let pduType: PDUType
  /// The advertising data as on the air: a sequence of AD structures.
  public let data: Data
  /// True if the end of the data was lost.
  public let isTruncated: Bool
  /// True if the advertiser is connectable.
  public let isConnectable: Bool
  /// True if the advertiser answers scan requests.
  public let isScannable: Bool
  /// The signal strength in dBm; nil: not available.
  public let rssi: Int?
  /// The transmit power in the header of an extended packet, in dBm; nil: not available.
  public let txPower: Int?
  /// The PHY of the packet on a primary channel: LE 1M or LE Coded.
  public let primaryPHY: PHY
  /// The PHY of the packets on secondary channels; nil: there were none.
  public let secondaryPHY: PHY?
  /// The Advertising SID of an extended packet, 0 to 15; nil: none.
  public let advertisingSID: Int?
  /// The interval of the set's periodic advertising; nil: there is none.
  public let periodicInterval: Duration?
  /// The time at which the controller reported the packet, on the adapter's clock: in a world, `World.now`.
  public let time: Duration
  /// The same as time of day.
  public let date: Date

  init(_ packet: SightedPacket, from peripheral: Peripheral) {
    let report = packet.report
    self.peripheral = peripheral
    address = packet.address
    pduType = PDUType(report)
    data = packet.octets
    isTruncated = report.isTruncated
    isConnectable = report.isConnectable
    isScannable = report.isScannable
    rssi = report.rssi == 127 ? nil : Int(report.rssi)
    txPower = report.transmitPower == 127 ? nil : Int(report.transmitPower)
    primaryPHY = PHY(number: report.primaryPHY) ?? .le1M
    secondaryPHY = PHY(number: report.secondaryPHY)
    advertisingSID = report.advertisingSet.flatMap { $0 <= 0x0F ? Int($0) : nil }
    periodicInterval = report.periodicInterval == 0 ? nil : .microseconds(1_250 * Int(report.periodicInterval))
    time = packet.time
    date = Date(timeIntervalSinceReferenceDate: packet.absoluteTime)
  }
}

extension AdvertisingPacket.PDUType: CustomStringConvertible {
  /// The specification's name, such as "ADV_IND".
  public var description: String { rawValue }

  init(_ report: AdvertisingReport) {
    if report.advertisingSet != nil {
      self = report.isScanResponse ? .auxScanRsp : .advExtInd
    } else if report.isScanResponse {
      self = .scanRsp
    } else if report.isDirected {
      self = .advDirectInd
    } else if report.isConnectable {
      self = .advInd
    } else {
      self = report.isScannable ? .advScanInd : .advNonconnInd
    }
  }
}

extension PHY {
  /// Creates the PHY from its number in a report · Vol 4, Part E, 7.7.65.13; nil: none.
  init?(number: UInt8) {
    switch number {
    case 1: self = .le1M
    case 2: self = .le2M
    case 3, 4: self = .leCoded
    default: return nil
    }
  }
}
