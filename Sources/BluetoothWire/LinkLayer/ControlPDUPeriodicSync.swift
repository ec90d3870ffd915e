extension LL {
  /// The fields of LL_PERIODIC_SYNC_IND, with which the peer can synchronize to a periodic advertising train ·
  /// Vol 6, Part B, 2.4.2.27.
  package struct PeriodicSyncTransfer: Hashable, Sendable {
    /// The Service_Data that the sender's host has supplied.
    package var serviceData: UInt16
    package var syncInfo: SyncInfo
    /// connEventCount: the connection event from whose anchor point the offset in `syncInfo` counts.
    package var connectionEventCount: UInt16
    /// lastPaEventCounter: the event of the train's last packet that the sender has received or transmitted.
    package var lastPeriodicEventCounter: UInt16
    /// The Advertising SID, 0 to 15.
    package var advertisingSID: UInt8
    package var advertiser: DeviceAddress
    /// The sender's sleep clock accuracy, which matters until the peer has received the train.
    package var sleepClockAccuracy: SleepClockAccuracy
    /// The PHY of the train: exactly one.
    package var phy: HCI.PHYs
    /// syncConnEventCount: the connection event at which the sender last received or transmitted the train.
    package var syncConnectionEventCount: UInt16

    package init(
      serviceData: UInt16, syncInfo: SyncInfo, connectionEventCount: UInt16, lastPeriodicEventCounter: UInt16,
      advertisingSID: UInt8, advertiser: DeviceAddress, sleepClockAccuracy: SleepClockAccuracy, phy: HCI.PHYs,
      syncConnectionEventCount: UInt16
    ) {
      self.serviceData = serviceData
      self.syncInfo = syncInfo
      self.connectionEventCount = connectionEventCount
      self.lastPeriodicEventCounter = lastPeriodicEventCounter
      self.advertisingSID = advertisingSID & 0xF
      self.advertiser = advertiser
      self.sleepClockAccuracy = sleepClockAccuracy
      self.phy = phy
      self.syncConnectionEventCount = syncConnectionEventCount
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      serviceData = try reader.uint16()
      syncInfo = try SyncInfo(from: &reader)
      connectionEventCount = try reader.uint16()
      lastPeriodicEventCounter = try reader.uint16()
      let octet = try reader.uint8()
      advertisingSID = octet & 0xF
      sleepClockAccuracy = SleepClockAccuracy(octet: octet >> 5)
      phy = HCI.PHYs(rawValue: try reader.uint8())
      advertiser = DeviceAddress(try reader.addressValue(), octet >> 4 & 1 == 1 ? .random : .public)
      syncConnectionEventCount = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(serviceData)
      syncInfo.encode(into: &writer)
      writer.append(connectionEventCount)
      writer.append(lastPeriodicEventCounter)
      writer.append(
        advertisingSID & 0xF | (advertiser.kind == .random ? 1 << 4 : 0) | sleepClockAccuracy.rawValue << 5)
      writer.append(phy.rawValue)
      writer.append(addressValue: advertiser.value)
      writer.append(syncConnectionEventCount)
    }
  }
}
