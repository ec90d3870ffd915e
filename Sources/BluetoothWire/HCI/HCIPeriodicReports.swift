extension HCI {
  /// An established synchronization: the common parameters of LE Periodic Advertising Sync Established [v1] ·
  /// Vol 4, Part E, 7.7.65.14, and of LE Periodic Advertising Sync Transfer Received [v1] · 7.7.65.24.
  package struct PeriodicSync: Hashable, Sendable {
    package var handle: SyncHandle
    package var advertiser: PeriodicAdvertiser
    /// 1: LE 1M, 2: LE 2M, 3: LE Coded.
    package var advertiserPHY: UInt8
    /// Units of 1.25 ms.
    package var interval: UInt16
    /// The advertiser's sleep clock accuracy, 0 (500 ppm) to 7 (20 ppm).
    package var clockAccuracy: UInt8
    package init(
      handle: SyncHandle, advertiser: PeriodicAdvertiser, advertiserPHY: UInt8, interval: UInt16, clockAccuracy: UInt8
    ) {
      self.handle = handle
      self.advertiser = advertiser
      self.advertiserPHY = advertiserPHY
      self.interval = interval
      self.clockAccuracy = clockAccuracy
    }

    /// The parameters for an error status: all zero.
    package static let none = PeriodicSync(
      handle: SyncHandle(rawValue: 0),
      advertiser: PeriodicAdvertiser(PeerAddress(type: 0, value: 0), advertisingSID: 0), advertiserPHY: 0, interval: 0,
      clockAccuracy: 0)

    init(from reader: inout ByteReader) throws(DecodingError) {
      handle = try SyncHandle(from: &reader)
      let sid = try reader.uint8()
      advertiser = PeriodicAdvertiser(try PeerAddress(from: &reader), advertisingSID: sid)
      advertiserPHY = try reader.uint8()
      interval = try reader.uint16()
      clockAccuracy = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(handle.rawValue)
      writer.append(advertiser.advertisingSID)
      advertiser.address.encode(into: &writer)
      writer.append(advertiserPHY)
      writer.append(interval)
      writer.append(clockAccuracy)
    }
  }

  /// The parameters of LE Periodic Advertising Report [v1] · 7.7.65.15.
  package struct PeriodicAdvertisingReport: Hashable, Sendable {
    package enum DataStatus: UInt8, Hashable, Sendable {
      case complete = 0
      /// The data continues in the next report of this advertiser.
      case moreToCome = 1
      /// The data is truncated: the remainder was lost.
      case truncated = 2
    }

    /// The CTE_Type of a packet without Constant Tone Extension.
    package static let noCTE: UInt8 = 0xFF
    /// The maximum length of data in one event, in octets.
    package static let maximumDataLength = 247

    package var handle: SyncHandle
    /// The TxPower in dBm; 127: not available.
    package var transmitPower: Int8
    /// The RSSI in dBm; 127: not available.
    package var rssi: Int8
    package var cteType: UInt8
    package var status: DataStatus
    /// At most 247 octets.
    package var data: ByteSlice
    package init(
      handle: SyncHandle, transmitPower: Int8, rssi: Int8, cteType: UInt8 = noCTE, status: DataStatus, data: ByteSlice
    ) {
      self.handle = handle
      self.transmitPower = transmitPower
      self.rssi = rssi
      self.cteType = cteType
      self.status = status
      self.data = data
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      handle = try SyncHandle(from: &reader)
      transmitPower = try reader.int8()
      rssi = try reader.int8()
      cteType = try reader.uint8()
      guard let status = DataStatus(rawValue: try reader.uint8()) else { throw .invalid(field: "Data_Status") }
      self.status = status
      let length = Int(try reader.uint8())
      guard length <= Self.maximumDataLength else { throw .invalid(field: "Data_Length") }
      data = try reader.take(length)
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(handle.rawValue)
      writer.append(transmitPower)
      writer.append(rssi)
      writer.append(cteType)
      writer.append(status.rawValue)
      let data = data.prefix(Self.maximumDataLength)
      writer.append(UInt8(truncatingIfNeeded: data.count))
      writer.append(data)
    }
  }
}
