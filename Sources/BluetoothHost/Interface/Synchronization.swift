import BluetoothWire

/// The identifier of a synchronization to a periodic train, assigned by the upper layer.
package struct SyncID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A request to synchronize with a periodic train · Vol 4, Part E, 7.8.67.
package struct SyncRequest: Hashable, Sendable {
  /// The advertiser: its identity address if the controller resolves its private addresses, else the address in its
  /// packets.
  package var advertiser: DeviceAddress
  /// The Advertising SID of the set, 0x00 to 0x0F.
  package var advertisingSID: UInt8
  /// The maximum number of events that the controller may skip after a received one, 0 to 0x01F3.
  package var skip: UInt16
  /// The time without a packet after which the train is lost, in units of 10 ms: 0x000A to 0x4000.
  package var timeout: UInt16
  /// True if the set is announced on LE Coded.
  package var includesLECoded: Bool
  package init(
    advertiser: DeviceAddress, advertisingSID: UInt8, skip: UInt16 = 0, timeout: UInt16, includesLECoded: Bool = false
  ) {
    self.advertiser = advertiser
    self.advertisingSID = advertisingSID
    self.skip = skip
    self.timeout = timeout
    self.includesLECoded = includesLECoded
  }

  /// True if both requests are for the same set of the same advertiser.
  package func isSameTrain(as other: SyncRequest) -> Bool {
    advertiser == other.advertiser && advertisingSID == other.advertisingSID
  }
}

/// The properties of a train to which the controller is synchronized · Vol 4, Part E, 7.7.65.14.
package struct SyncProperties: Hashable, Sendable {
  /// The interval in units of 1.25 ms.
  package var interval: UInt16
  /// 1: LE 1M, 2: LE 2M, 3: LE Coded.
  package var phy: UInt8

  package init(interval: UInt16, phy: UInt8) {
    self.interval = interval
    self.phy = phy
  }

  init(_ sync: HCI.PeriodicSync) { (interval, phy) = (sync.interval, sync.advertiserPHY) }
}

/// The data of one event of a periodic train · Vol 4, Part E, 7.7.65.15.
package struct PeriodicReport: Sendable {
  /// At most 1,650 octets.
  package var data: ByteSlice
  /// The RSSI in dBm; 127: not available.
  package var rssi: Int8
  /// The TxPower field in dBm; 127: not available.
  package var transmitPower: Int8
  /// True if the end of the data was lost or is beyond 1,650 octets.
  package var isTruncated: Bool

  package init(data: ByteSlice, rssi: Int8, transmitPower: Int8, isTruncated: Bool) {
    self.data = data
    self.rssi = rssi
    self.transmitPower = transmitPower
    self.isTruncated = isTruncated
  }

  init(_ report: HCI.PeriodicAdvertisingReport, _ data: ByteSlice, isTruncated: Bool) {
    (rssi, transmitPower) = (report.rssi, report.transmitPower)
    self.data = data
    self.isTruncated = isTruncated
  }
}

/// The reason for the end of a synchronization.
package enum SyncEnd: Hashable, Sendable {
  /// No packet of the train has been received for the timeout · Vol 4, Part E, 7.7.65.16.
  case lost
  /// The controller does not look for the train.
  case refused(HostError)
}

/// An event of a synchronization.
package enum SyncEvent: Sendable {
  /// The controller has received a packet of the train.
  case established(SyncProperties)
  case report(PeriodicReport)
  /// The synchronization has ended without a request of the upper layer.
  case ended(SyncEnd)
}
