extension HCI {
  /// The handle of a periodic advertising synchronization between host and controller: 12 bits, 0x0000 to 0x0EFF ·
  /// Vol 4, Part E, 7.7.65.14.
  package struct SyncHandle: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The largest handle.
    package static let maximum = SyncHandle(rawValue: 0x0EFF)

    /// Reads the lower 12 bits. The reserved bits are ignored.
    init(from reader: inout ByteReader) throws(DecodingError) {
      rawValue = try reader.uint16() & 0x0FFF
    }
  }

  /// The parameters of LE Set Periodic Advertising Parameters [v1] · 7.8.61.
  package struct PeriodicAdvertisingParameters: Hashable, Sendable {
    /// The Periodic_Advertising_Properties parameter.
    package struct Properties: OptionSet, Hashable, Sendable {
      package let rawValue: UInt16
      package init(rawValue: UInt16) { self.rawValue = rawValue }
      package static let includesTransmitPower = Properties(rawValue: 1 << 6)
    }

    /// The unit of the periodic advertising interval.
    package static let intervalUnit = TimeSpan.microseconds(1_250)

    package var handle: AdvertisingHandle
    /// Units of 1.25 ms, 0x0006 to 0xFFFF.
    package var minimumInterval: UInt16
    /// Units of 1.25 ms, `minimumInterval` to 0xFFFF.
    package var maximumInterval: UInt16
    package var properties: Properties
    package init(
      handle: AdvertisingHandle, minimumInterval: UInt16, maximumInterval: UInt16, properties: Properties = []
    ) {
      self.handle = handle
      self.minimumInterval = minimumInterval
      self.maximumInterval = maximumInterval
      self.properties = properties
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      handle = try AdvertisingHandle(from: &reader)
      minimumInterval = try reader.uint16()
      maximumInterval = try reader.uint16()
      properties = Properties(rawValue: try reader.uint16())
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(handle.rawValue)
      writer.append(minimumInterval)
      writer.append(maximumInterval)
      writer.append(properties.rawValue)
    }
  }

  /// The Enable parameter of LE Set Periodic Advertising Enable · 7.8.63.
  package struct PeriodicAdvertisingEnable: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let enabled = PeriodicAdvertisingEnable(rawValue: 1 << 0)
    /// Includes the ADI field in AUX_SYNC_IND.
    package static let includesADI = PeriodicAdvertisingEnable(rawValue: 1 << 1)
  }

  /// An advertiser and one of its advertising sets: an entry of the Periodic Advertiser List · 7.8.70.
  package struct PeriodicAdvertiser: Hashable, Sendable {
    package var address: PeerAddress
    /// The Advertising SID, 0x00 to 0x0F.
    package var advertisingSID: UInt8
    package init(_ address: PeerAddress, advertisingSID: UInt8) {
      self.address = address
      self.advertisingSID = advertisingSID
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      address = try PeerAddress(from: &reader)
      advertisingSID = try reader.advertisingSID()
    }

    func encode(into writer: inout ByteWriter) {
      address.encode(into: &writer)
      writer.append(advertisingSID)
    }
  }

  /// The parameters for maintaining a synchronization · 7.8.67, 7.8.91.
  package struct SyncKeeping: Hashable, Sendable {
    /// The unit of the synchronization timeout.
    package static let timeoutUnit = TimeSpan.milliseconds(10)

    /// The maximum number of periodic advertising events that may be skipped after a successful receive, 0 to 0x01F3.
    package var skip: UInt16
    /// Units of 10 ms, 0x000A to 0x4000.
    package var timeout: UInt16
    /// Sync_CTE_Type: the packets, by their Constant Tone Extension, with which the controller must not synchronize.
    package var cteType: UInt8
    package init(skip: UInt16 = 0, timeout: UInt16, cteType: UInt8 = 0) {
      self.skip = skip
      self.timeout = timeout
      self.cteType = cteType
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      skip = try reader.uint16()
      timeout = try reader.uint16()
      cteType = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(skip)
      writer.append(timeout)
      writer.append(cteType)
    }
  }

  /// The parameters of LE Periodic Advertising Create Sync · 7.8.67.
  package struct PeriodicAdvertisingCreateSync: Hashable, Sendable {
    package struct Options: OptionSet, Hashable, Sendable {
      package let rawValue: UInt8
      package init(rawValue: UInt8) { self.rawValue = rawValue }
      /// Synchronizes with the first advertiser found that is on the Periodic Advertiser List; `advertiser` is then
      /// ignored.
      package static let usesAdvertiserList = Options(rawValue: 1 << 0)
      package static let reportingDisabled = Options(rawValue: 1 << 1)
      package static let filtersDuplicates = Options(rawValue: 1 << 2)
    }

    package var options: Options
    package var advertiser: PeriodicAdvertiser
    package var keeping: SyncKeeping
    package init(options: Options = [], advertiser: PeriodicAdvertiser, keeping: SyncKeeping) {
      self.options = options
      self.advertiser = advertiser
      self.keeping = keeping
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      options = Options(rawValue: try reader.uint8())
      // If the list is used, the advertiser's fields are ignored.
      let usesList = options.contains(.usesAdvertiserList)
      let sid = usesList ? try reader.uint8() : try reader.advertisingSID()
      advertiser = PeriodicAdvertiser(try PeerAddress(from: &reader), advertisingSID: sid & 0x0F)
      keeping = try SyncKeeping(from: &reader)
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(options.rawValue)
      writer.append(advertiser.advertisingSID)
      advertiser.address.encode(into: &writer)
      keeping.encode(into: &writer)
    }
  }

  /// The Enable parameter of LE Set Periodic Advertising Receive Enable · 7.8.88.
  package struct PeriodicAdvertisingReceiveEnable: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let reporting = PeriodicAdvertisingReceiveEnable(rawValue: 1 << 0)
    package static let filtersDuplicates = PeriodicAdvertisingReceiveEnable(rawValue: 1 << 1)
  }

  /// The handling of a synchronization that a peer transfers · 7.8.91, 7.8.92.
  package struct SyncTransferParameters: Hashable, Sendable {
    package enum Mode: UInt8, Hashable, Sendable {
      /// The transfer is ignored.
      case ignored = 0
      /// The host receives the event of the transfer, but no advertising reports.
      case reportingDisabled = 1
      case reporting = 2
      case reportingWithoutDuplicates = 3
    }

    package var mode: Mode
    package var keeping: SyncKeeping
    package init(mode: Mode, keeping: SyncKeeping) {
      self.mode = mode
      self.keeping = keeping
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      guard let mode = Mode(rawValue: try reader.uint8()) else { throw .invalid(field: "Mode") }
      self.mode = mode
      keeping = try SyncKeeping(from: &reader)
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(mode.rawValue)
      keeping.encode(into: &writer)
    }
  }
}
