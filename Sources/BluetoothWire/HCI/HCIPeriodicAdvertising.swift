extension HCI {
  /// Names the synchronization with a periodic advertiser between host and controller: 12 bits, 0x0000 to 0x0EFF ·
  /// Vol 4, Part E, 7.7.65.14.
  package struct SyncHandle: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The largest.
    package static let maximum = SyncHandle(rawValue: 0x0EFF)

    /// The lower 12 bits; the reserved ones are not looked at.
    init(from reader: inout ByteReader) throws(DecodingError) {
      rawValue = try reader.uint16() & 0x0FFF
    }
  }

  /// LE Set Periodic Advertising Parameters [v1] · 7.8.61.
  package struct PeriodicAdvertisingParameters: Hashable, Sendable {
    /// Periodic_Advertising_Properties.
    package struct Properties: OptionSet, Hashable, Sendable {
      package let rawValue: UInt16
      package init(rawValue: UInt16) { self.rawValue = rawValue }
      package static let includesTransmitPower = Properties(rawValue: 1 << 6)
    }

    /// The unit of the interval.
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

  /// The Enable octet of LE Set Periodic Advertising Enable · 7.8.63.
  package struct PeriodicAdvertisingEnable: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let enabled = PeriodicAdvertisingEnable(rawValue: 1 << 0)
    /// AUX_SYNC_IND has the ADI field.
    package static let includesADI = PeriodicAdvertisingEnable(rawValue: 1 << 1)
  }

  /// An advertiser and one of its sets: an entry of the Periodic Advertiser List · 7.8.70.
  package struct PeriodicAdvertiser: Hashable, Sendable {
    package var address: PeerAddress
    /// 0x00 to 0x0F.
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

  /// How a synchronization is kept · 7.8.67, 7.8.91.
  package struct SyncKeeping: Hashable, Sendable {
    /// The unit of the timeout.
    package static let timeoutUnit = TimeSpan.milliseconds(10)

    /// Periodic advertising events that may be left out after one that was received, 0 to 0x01F3.
    package var skip: UInt16
    /// Units of 10 ms, 0x000A to 0x4000.
    package var timeout: UInt16
    /// Sync_CTE_Type: which advertisers are not to be synchronized with.
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

  /// LE Periodic Advertising Create Sync · 7.8.67.
  package struct PeriodicAdvertisingCreateSync: Hashable, Sendable {
    package struct Options: OptionSet, Hashable, Sendable {
      package let rawValue: UInt8
      package init(rawValue: UInt8) { self.rawValue = rawValue }
      /// Whichever entry of the Periodic Advertiser List comes first; `advertiser` is not looked at.
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
      // The list replaces the advertiser, whose fields are ignored then.
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

  /// What the host wants of a synchronization: the Enable octet of LE Set Periodic Advertising Receive Enable · 7.8.88.
  package struct PeriodicAdvertisingReceiveEnable: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let reporting = PeriodicAdvertisingReceiveEnable(rawValue: 1 << 0)
    package static let filtersDuplicates = PeriodicAdvertisingReceiveEnable(rawValue: 1 << 1)
  }

  /// What becomes of a synchronization that a peer transfers · 7.8.91, 7.8.92.
  package struct SyncTransferParameters: Hashable, Sendable {
    package enum Mode: UInt8, Hashable, Sendable {
      /// Nothing: the transfer is ignored.
      case ignored = 0
      /// The host is told of it, but gets no reports.
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
