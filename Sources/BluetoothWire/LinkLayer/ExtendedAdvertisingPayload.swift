extension LL {
  /// The Common Extended Advertising Payload Format: an extended header of optional fields, then data ·
  /// Vol 6, Part B, 2.3.4. TxAdd and RxAdd of the PDU header are stored as the kinds of the addresses.
  package struct ExtendedAdvertisingPayload: Hashable, Sendable {
    /// The AdvMode field · 2.3.4.
    package enum Mode: UInt8, Hashable, Sendable {
      /// Neither connectable nor scannable; also the mode of all packets that follow an AUX_ADV_IND.
      case nonConnectable = 0b00
      case connectable = 0b01
      case scannable = 0b10
    }

    /// The maximum length of the extended header in octets.
    package static let maximumHeaderLength = 63
    /// The maximum length of AdvData in one packet, in octets.
    package static let maximumDataLength = 254
    /// The maximum length of the payload in octets.
    package static let maximumLength = 255

    package var mode: Mode
    /// AdvA
    package var advertiser: DeviceAddress?
    /// TargetA
    package var target: DeviceAddress?
    /// CTEInfo, stored without interpretation.
    package var cteInfo: UInt8?
    /// ADI
    package var dataInfo: AdvertisingDataInfo?
    /// AuxPtr
    package var auxiliary: AuxiliaryPointer?
    package var syncInfo: SyncInfo?
    /// TxPower in dBm.
    package var transmitPower: Int8?
    /// ACAD: AD structures for the link layer.
    package var additionalData: ByteSlice
    /// AdvData
    package var data: ByteSlice

    package init(
      mode: Mode = .nonConnectable, advertiser: DeviceAddress? = nil, target: DeviceAddress? = nil,
      dataInfo: AdvertisingDataInfo? = nil, auxiliary: AuxiliaryPointer? = nil, syncInfo: SyncInfo? = nil,
      transmitPower: Int8? = nil, additionalData: ByteSlice = ByteSlice(), data: ByteSlice = ByteSlice()
    ) {
      self.mode = mode
      self.advertiser = advertiser
      self.target = target
      self.dataInfo = dataInfo
      self.auxiliary = auxiliary
      self.syncInfo = syncInfo
      self.transmitPower = transmitPower
      self.additionalData = additionalData
      self.data = data
    }

    /// The length of the extended header in octets, without the octet that holds this length.
    package var headerLength: Int {
      let fields = fieldsLength + additionalData.count
      return fields == 0 ? 0 : 1 + fields
    }

    /// The length of the payload in octets.
    package var length: Int { 1 + headerLength + data.count }

    private var fieldsLength: Int {
      (advertiser == nil ? 0 : 6) + (target == nil ? 0 : 6) + (cteInfo == nil ? 0 : 1)
        + (dataInfo == nil ? 0 : AdvertisingDataInfo.size) + (auxiliary == nil ? 0 : AuxiliaryPointer.size)
        + (syncInfo == nil ? 0 : SyncInfo.size) + (transmitPower == nil ? 0 : 1)
    }
  }

  /// ADI: the advertising set of a packet and the version of its data · Vol 6, Part B, 2.3.4.4.
  package struct AdvertisingDataInfo: Hashable, Sendable {
    /// The encoded length in octets.
    package static let size = 2

    /// SID in the four high bits, DID in the low 12 bits.
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates an ADI from the low 12 bits of `did` and the low 4 bits of `sid`.
    package init(sid: UInt8, did: UInt16) { rawValue = did & 0x0FFF | UInt16(sid) << 12 }

    /// The Advertising Set ID, 0 to 15.
    package var sid: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 12) }
    /// The Advertising Data ID, 0 to 4,095.
    package var did: UInt16 { rawValue & 0x0FFF }
  }
}

extension LL.ExtendedAdvertisingPayload {
  /// The Extended Header Flags · 2.3.4.
  private struct Flags: OptionSet {
    let rawValue: UInt8
    static let advertiser = Flags(rawValue: 1 << 0)
    static let target = Flags(rawValue: 1 << 1)
    static let cteInfo = Flags(rawValue: 1 << 2)
    static let dataInfo = Flags(rawValue: 1 << 3)
    static let auxiliary = Flags(rawValue: 1 << 4)
    static let syncInfo = Flags(rawValue: 1 << 5)
    static let transmitPower = Flags(rawValue: 1 << 6)
  }

  /// Reads the payload of a packet whose header has `fields`.
  ///
  /// - Throws: `truncated` if the extended header is longer than the payload, or shorter than its flags require;
  ///   `invalid` for a reserved value; `excess` if the data is too long.
  init(from reader: inout ByteReader, _ fields: LL.AdvertisingHeader) throws(DecodingError) {
    let first = try reader.uint8()
    guard let mode = Mode(rawValue: first >> 6) else { throw .invalid(field: "AdvMode") }
    self.init(mode: mode)
    let headerLength = Int(first & 0x3F)
    if headerLength > 0 {
      // A separate reader for the header: no field may extend into the data.
      var header = ByteReader(try reader.take(headerLength))
      let flags = Flags(rawValue: try header.uint8())
      if flags.contains(.advertiser) { advertiser = try fields.first(&header) }
      if flags.contains(.target) { target = try fields.second(&header) }
      if flags.contains(.cteInfo) { cteInfo = try header.uint8() }
      if flags.contains(.dataInfo) { dataInfo = LL.AdvertisingDataInfo(rawValue: try header.uint16()) }
      if flags.contains(.auxiliary) { auxiliary = try LL.AuxiliaryPointer(from: &header) }
      if flags.contains(.syncInfo) { syncInfo = try LL.SyncInfo(from: &header) }
      if flags.contains(.transmitPower) { transmitPower = try header.int8() }
      additionalData = header.rest()
    }
    guard reader.remaining <= Self.maximumDataLength else { throw .excess }
    data = reader.rest()
  }

  /// Appends the payload. Truncates `additionalData` and `data` to the space available; callers check `headerLength`
  /// and `length` in advance.
  func encode(into writer: inout ByteWriter) {
    let additional = additionalData.prefix(Self.maximumHeaderLength - 1 - fieldsLength)
    let headerLength = fieldsLength + additional.count == 0 ? 0 : 1 + fieldsLength + additional.count
    writer.append(UInt8(truncatingIfNeeded: headerLength) | mode.rawValue << 6)
    if headerLength > 0 {
      writer.append(flags.rawValue)
      if let advertiser { writer.append(addressValue: advertiser.value) }
      if let target { writer.append(addressValue: target.value) }
      if let cteInfo { writer.append(cteInfo) }
      if let dataInfo { writer.append(dataInfo.rawValue) }
      auxiliary?.encode(into: &writer)
      syncInfo?.encode(into: &writer)
      if let transmitPower { writer.append(transmitPower) }
      writer.append(additional)
    }
    writer.append(data.prefix(Self.maximumLength - 1 - headerLength))
  }

  private var flags: Flags {
    var flags: Flags = []
    if advertiser != nil { flags.insert(.advertiser) }
    if target != nil { flags.insert(.target) }
    if cteInfo != nil { flags.insert(.cteInfo) }
    if dataInfo != nil { flags.insert(.dataInfo) }
    if auxiliary != nil { flags.insert(.auxiliary) }
    if syncInfo != nil { flags.insert(.syncInfo) }
    if transmitPower != nil { flags.insert(.transmitPower) }
    return flags
  }
}
