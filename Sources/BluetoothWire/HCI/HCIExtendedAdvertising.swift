extension HCI {
  /// The handle of an advertising set between host and controller, 0x00 to 0xEF · Vol 4, Part E, 7.8.53.
  package struct AdvertisingHandle: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The largest handle.
    package static let maximum = AdvertisingHandle(rawValue: 0xEF)

    init(from reader: inout ByteReader) throws(DecodingError) {
      rawValue = try reader.uint8()
      guard rawValue <= Self.maximum.rawValue else { throw .invalid(field: "Advertising_Handle") }
    }
  }

  /// The parameters of LE Set Extended Advertising Parameters, v1 and v2 · 7.8.53.
  package struct ExtendedAdvertisingParameters: Hashable, Sendable {
    /// The Advertising_Event_Properties field.
    package struct Properties: OptionSet, Hashable, Sendable {
      package let rawValue: UInt16
      package init(rawValue: UInt16) { self.rawValue = rawValue }
      package static let connectable = Properties(rawValue: 1 << 0)
      package static let scannable = Properties(rawValue: 1 << 1)
      package static let directed = Properties(rawValue: 1 << 2)
      package static let highDutyCycle = Properties(rawValue: 1 << 3)
      /// Uses legacy advertising PDUs.
      package static let legacy = Properties(rawValue: 1 << 4)
      /// Omits the advertiser's address.
      package static let anonymous = Properties(rawValue: 1 << 5)
      package static let includesTransmitPower = Properties(rawValue: 1 << 6)
    }

    /// The host's preference for the coding scheme on LE Coded: Advertising_PHY_Options.
    package enum Coding: UInt8, Hashable, Sendable {
      case noPreference = 0
      case prefersS2 = 1
      case prefersS8 = 2
      case requiresS2 = 3
      case requiresS8 = 4

      /// Reads the field.
      ///
      /// - Parameter isUsed: false if the PHY is not LE Coded and the field is ignored.
      init(from reader: inout ByteReader, isUsed: Bool) throws(DecodingError) {
        let octet = try reader.uint8()
        let value = Self(rawValue: octet)
        guard value != nil || !isUsed else { throw .unknown(code: UInt16(octet)) }
        self = value ?? .noPreference
      }
    }

    /// The value of `transmitPower` that lets the controller choose.
    package static let anyTransmitPower: Int8 = 127

    package var handle: AdvertisingHandle
    package var properties: Properties
    /// Units of 0.625 ms, 0x000020 to 0xFFFFFF.
    package var minimumInterval: UInt32
    /// Units of 0.625 ms, `minimumInterval` to 0xFFFFFF.
    package var maximumInterval: UInt32
    /// Bits 0 to 2 enable channels 37 to 39.
    package var channelMap: UInt8
    package var ownAddressType: OwnAddressType
    package var peer: PeerAddress
    /// Bit 0 restricts scan requests, bit 1 connection requests to devices on the filter accept list.
    package var filterPolicy: UInt8
    /// The maximum transmit power in dBm, -127 to 20, or `anyTransmitPower`.
    package var transmitPower: Int8
    package var primaryPHY: RadioPHY
    /// The maximum number of advertising events that may be skipped before the AUX_ADV_IND, 0 to 255.
    package var secondaryMaximumSkip: UInt8
    package var secondaryPHY: RadioPHY
    /// The Advertising SID, 0x00 to 0x0F.
    package var advertisingSID: UInt8
    package var notifiesOfScanRequests: Bool
    /// Only in v2.
    package var primaryCoding: Coding
    /// Only in v2.
    package var secondaryCoding: Coding

    package init(
      handle: AdvertisingHandle, properties: Properties, minimumInterval: UInt32, maximumInterval: UInt32,
      channelMap: UInt8 = 0b111, ownAddressType: OwnAddressType, peer: PeerAddress = PeerAddress(type: 0, value: 0),
      filterPolicy: UInt8 = 0, transmitPower: Int8 = anyTransmitPower, primaryPHY: RadioPHY = .le1M,
      secondaryMaximumSkip: UInt8 = 0, secondaryPHY: RadioPHY = .le1M, advertisingSID: UInt8 = 0,
      notifiesOfScanRequests: Bool = false, primaryCoding: Coding = .noPreference,
      secondaryCoding: Coding = .noPreference
    ) {
      self.handle = handle
      self.properties = properties
      self.minimumInterval = minimumInterval
      self.maximumInterval = maximumInterval
      self.channelMap = channelMap
      self.ownAddressType = ownAddressType
      self.peer = peer
      self.filterPolicy = filterPolicy
      self.transmitPower = transmitPower
      self.primaryPHY = primaryPHY
      self.secondaryMaximumSkip = secondaryMaximumSkip
      self.secondaryPHY = secondaryPHY
      self.advertisingSID = advertisingSID
      self.notifiesOfScanRequests = notifiesOfScanRequests
      self.primaryCoding = primaryCoding
      self.secondaryCoding = secondaryCoding
    }

    init(from reader: inout ByteReader, isV2: Bool) throws(DecodingError) {
      handle = try AdvertisingHandle(from: &reader)
      properties = Properties(rawValue: try reader.uint16())
      minimumInterval = try reader.uint24()
      maximumInterval = try reader.uint24()
      channelMap = try reader.uint8()
      ownAddressType = try OwnAddressType(from: &reader)
      peer = try PeerAddress(from: &reader)
      filterPolicy = try reader.uint8()
      transmitPower = try reader.int8()
      primaryPHY = try reader.phy()
      secondaryMaximumSkip = try reader.uint8()
      // Legacy PDUs have neither a secondary PHY nor an SID.
      if properties.contains(.legacy) {
        secondaryPHY = RadioPHY(rawValue: try reader.uint8()) ?? .le1M
        advertisingSID = try reader.uint8() & 0x0F
      } else {
        secondaryPHY = try reader.phy()
        advertisingSID = try reader.advertisingSID()
      }
      notifiesOfScanRequests = try reader.flag("Scan_Request_Notification_Enable")
      primaryCoding = isV2 ? try Coding(from: &reader, isUsed: primaryPHY == .leCoded) : .noPreference
      secondaryCoding = isV2 ? try Coding(from: &reader, isUsed: secondaryPHY == .leCoded) : .noPreference
    }

    func encode(into writer: inout ByteWriter, isV2: Bool) {
      writer.append(handle.rawValue)
      writer.append(properties.rawValue)
      writer.append24(minimumInterval)
      writer.append24(maximumInterval)
      writer.append(channelMap)
      writer.append(ownAddressType.rawValue)
      peer.encode(into: &writer)
      writer.append(filterPolicy)
      writer.append(transmitPower)
      writer.append(primaryPHY.rawValue)
      writer.append(secondaryMaximumSkip)
      writer.append(secondaryPHY.rawValue)
      writer.append(advertisingSID)
      writer.append(flag: notifiesOfScanRequests)
      guard isV2 else { return }
      writer.append(primaryCoding.rawValue)
      writer.append(secondaryCoding.rawValue)
    }
  }

  /// A fragment of the data of an advertising set · 7.8.54, 7.8.55, 7.8.62.
  package struct AdvertisingDataFragment: Hashable, Sendable {
    package enum Operation: UInt8, Hashable, Sendable {
      case intermediate = 0
      case first = 1
      case last = 2
      case complete = 3
      /// Keeps the data and updates only the Advertising DID.
      case unchanged = 4

      init(from reader: inout ByteReader) throws(DecodingError) {
        guard let value = Self(rawValue: try reader.uint8()) else { throw .invalid(field: "Operation") }
        self = value
      }
    }

    package var operation: Operation
    /// Fragment_Preference: true if the controller may fragment the data freely, false if it should minimize
    /// fragmentation. Periodic advertising does not have this field.
    package var mayFragment: Bool
    /// At most 251 octets; for periodic advertising, 252.
    package var data: ByteSlice
    package init(_ operation: Operation, _ data: ByteSlice, mayFragment: Bool = true) {
      self.operation = operation
      self.data = data
      self.mayFragment = mayFragment
    }

    private static let maximumLength = 251
    private static let maximumPeriodicLength = 252

    init(from reader: inout ByteReader, isPeriodic: Bool) throws(DecodingError) {
      operation = try Operation(from: &reader)
      mayFragment = isPeriodic ? true : !(try reader.flag("Fragment_Preference"))
      let length = Int(try reader.uint8())
      guard length <= (isPeriodic ? Self.maximumPeriodicLength : Self.maximumLength) else {
        throw .invalid(field: "Advertising_Data_Length")
      }
      data = try reader.take(length)
    }

    func encode(into writer: inout ByteWriter, isPeriodic: Bool) {
      writer.append(operation.rawValue)
      if !isPeriodic { writer.append(flag: !mayFragment) }
      let data = data.prefix(isPeriodic ? Self.maximumPeriodicLength : Self.maximumLength)
      writer.append(UInt8(truncatingIfNeeded: data.count))
      writer.append(data)
    }
  }

  /// The sets in LE Set Extended Advertising Enable, with their durations · 7.8.56. A view of the packet's octets,
  /// which have been validated. Iteration allocates nothing.
  package struct AdvertisingSetEnables: Hashable, Sendable, Sequence {
    package struct Element: Hashable, Sendable {
      package var handle: AdvertisingHandle
      /// Units of 10 ms; 0: no limit.
      package var duration: UInt16
      /// The maximum number of extended advertising events; 0: no limit.
      package var maximumEvents: UInt8
      package init(_ handle: AdvertisingHandle, duration: UInt16 = 0, maximumEvents: UInt8 = 0) {
        self.handle = handle
        self.duration = duration
        self.maximumEvents = maximumEvents
      }

      init(from reader: inout ByteReader) throws(DecodingError) {
        handle = try AdvertisingHandle(from: &reader)
        duration = try reader.uint16()
        maximumEvents = try reader.uint8()
      }
    }

    private static let elementSize = 4
    private static let maximumCount = 63
    private let elements: ByteSlice

    /// Encodes the first 63 elements of `list`, the maximum in one packet. An empty list disables all sets.
    package init(_ list: [Element], in pool: PacketPool) {
      var writer = ByteWriter(pool, capacity: Self.maximumCount * Self.elementSize, headroom: 0)
      for element in list.prefix(Self.maximumCount) {
        writer.append(element.handle.rawValue)
        writer.append(element.duration)
        writer.append(element.maximumEvents)
      }
      elements = writer.finish()
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      let count = Int(try reader.uint8())
      guard count <= Self.maximumCount else { throw .invalid(field: "Num_Sets") }
      elements = try reader.take(count * Self.elementSize)
      var check = ByteReader(elements)
      for _ in 0..<count { _ = try Element(from: &check) }
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(UInt8(truncatingIfNeeded: elements.count / Self.elementSize))
      writer.append(elements)
    }

    package var isEmpty: Bool { elements.isEmpty }

    package var underestimatedCount: Int { elements.count / Self.elementSize }

    package func makeIterator() -> Iterator { Iterator(reader: ByteReader(elements)) }

    package struct Iterator: IteratorProtocol {
      var reader: ByteReader
      package mutating func next() -> Element? { try? Element(from: &reader) }
    }
  }

  /// The changes of data that trigger a new resolvable private address: LE Set Data Related Address Changes ·
  /// 7.8.122.
  package struct AddressChangeReasons: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let advertisingData = AddressChangeReasons(rawValue: 1 << 0)
    package static let scanResponseData = AddressChangeReasons(rawValue: 1 << 1)
  }
}

extension ByteReader {
  /// Reads a PHY. Throws `unknown` for an undefined value, because a controller has a specific error code for it.
  mutating func phy() throws(DecodingError) -> RadioPHY {
    let octet = try uint8()
    guard let phy = RadioPHY(rawValue: octet) else { throw .unknown(code: UInt16(octet)) }
    return phy
  }

  /// Reads an Advertising SID, 0x00 to 0x0F.
  mutating func advertisingSID() throws(DecodingError) -> UInt8 {
    let octet = try uint8()
    guard octet <= 0x0F else { throw .invalid(field: "Advertising_SID") }
    return octet
  }
}
