extension HCI {
  /// Names an advertising set between host and controller: 0x00 to 0xEF · Vol 4, Part E, 7.8.53.
  package struct AdvertisingHandle: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The largest.
    package static let maximum = AdvertisingHandle(rawValue: 0xEF)

    init(from reader: inout ByteReader) throws(DecodingError) {
      rawValue = try reader.uint8()
      guard rawValue <= Self.maximum.rawValue else { throw .invalid(field: "Advertising_Handle") }
    }
  }

  /// LE Set Extended Advertising Parameters, v1 and v2 · 7.8.53.
  package struct ExtendedAdvertisingParameters: Hashable, Sendable {
    /// Advertising_Event_Properties.
    package struct Properties: OptionSet, Hashable, Sendable {
      package let rawValue: UInt16
      package init(rawValue: UInt16) { self.rawValue = rawValue }
      package static let connectable = Properties(rawValue: 1 << 0)
      package static let scannable = Properties(rawValue: 1 << 1)
      package static let directed = Properties(rawValue: 1 << 2)
      package static let highDutyCycle = Properties(rawValue: 1 << 3)
      /// PDUs of legacy advertising are used.
      package static let legacy = Properties(rawValue: 1 << 4)
      /// The advertiser's address is left out.
      package static let anonymous = Properties(rawValue: 1 << 5)
      package static let includesTransmitPower = Properties(rawValue: 1 << 6)
    }

    /// Which coding a host would like where LE Coded is used: Advertising_PHY_Options.
    package enum Coding: UInt8, Hashable, Sendable {
      case noPreference = 0
      case prefersS2 = 1
      case prefersS8 = 2
      case requiresS2 = 3
      case requiresS8 = 4

      /// - Parameter isUsed: false where the PHY is not LE Coded, and the field is ignored.
      init(from reader: inout ByteReader, isUsed: Bool) throws(DecodingError) {
        let octet = try reader.uint8()
        let value = Self(rawValue: octet)
        guard value != nil || !isUsed else { throw .unknown(code: UInt16(octet)) }
        self = value ?? .noPreference
      }
    }

    /// The transmit power that leaves the choice to the controller.
    package static let anyTransmitPower: Int8 = 127

    package var handle: AdvertisingHandle
    package var properties: Properties
    /// Units of 0.625 ms, 0x000020 to 0xFFFFFF.
    package var minimumInterval: UInt32
    /// Units of 0.625 ms, `minimumInterval` to 0xFFFFFF.
    package var maximumInterval: UInt32
    /// Bits 0 to 2: channels 37 to 39.
    package var channelMap: UInt8
    package var ownAddressType: OwnAddressType
    package var peer: PeerAddress
    /// Bit 0: scan requests, bit 1: connection requests, only of devices on the accept list.
    package var filterPolicy: UInt8
    /// dBm, -127 to 20, or `anyTransmitPower`.
    package var transmitPower: Int8
    package var primaryPHY: PHY
    /// Events that the secondary packet may be left out, 0 to 255.
    package var secondaryMaximumSkip: UInt8
    package var secondaryPHY: PHY
    /// 0x00 to 0x0F.
    package var advertisingSID: UInt8
    package var notifiesOfScanRequests: Bool
    /// Only in v2.
    package var primaryCoding: Coding
    /// Only in v2.
    package var secondaryCoding: Coding

    package init(
      handle: AdvertisingHandle, properties: Properties, minimumInterval: UInt32, maximumInterval: UInt32,
      channelMap: UInt8 = 0b111, ownAddressType: OwnAddressType, peer: PeerAddress = PeerAddress(type: 0, value: 0),
      filterPolicy: UInt8 = 0, transmitPower: Int8 = anyTransmitPower, primaryPHY: PHY = .le1M,
      secondaryMaximumSkip: UInt8 = 0, secondaryPHY: PHY = .le1M, advertisingSID: UInt8 = 0,
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
      // Legacy PDUs have neither.
      if properties.contains(.legacy) {
        secondaryPHY = PHY(rawValue: try reader.uint8()) ?? .le1M
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

  /// A part of the data of an advertising set · 7.8.54, 7.8.55, 7.8.62.
  package struct AdvertisingDataFragment: Hashable, Sendable {
    package enum Operation: UInt8, Hashable, Sendable {
      case intermediate = 0
      case first = 1
      case last = 2
      case complete = 3
      /// The data stay, but for a new Advertising DID.
      case unchanged = 4

      init(from reader: inout ByteReader) throws(DecodingError) {
        guard let value = Self(rawValue: try reader.uint8()) else { throw .invalid(field: "Operation") }
        self = value
      }
    }

    package var operation: Operation
    /// Fragment_Preference: the controller need not keep the number of packets small. Periodic advertising has no such
    /// field.
    package var mayFragment: Bool
    /// At most 251 octets; of periodic advertising, 252.
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

  /// Which sets LE Set Extended Advertising Enable is about, and for how long · 7.8.56: a view of the octets, all of
  /// which were found right. Iterating allocates nothing.
  package struct AdvertisingSetEnables: Hashable, Sendable, Sequence {
    package struct Element: Hashable, Sendable {
      package var handle: AdvertisingHandle
      /// Units of 10 ms; 0: without end.
      package var duration: UInt16
      /// 0: without end.
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

    /// The first 63 elements of `list`, which is what fits into a packet; none: all sets are to be disabled.
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

  /// Which data LE Set Data Related Address Changes is about · 7.8.122: a new resolvable private address when they
  /// change.
  package struct AddressChangeReasons: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let advertisingData = AddressChangeReasons(rawValue: 1 << 0)
    package static let scanResponseData = AddressChangeReasons(rawValue: 1 << 1)
  }
}

extension ByteReader {
  /// A physical layer by its number; one that is not known is `unknown`, for which a controller has an error of its own.
  mutating func phy() throws(DecodingError) -> PHY {
    let octet = try uint8()
    guard let phy = PHY(rawValue: octet) else { throw .unknown(code: UInt16(octet)) }
    return phy
  }

  /// 0x00 to 0x0F.
  mutating func advertisingSID() throws(DecodingError) -> UInt8 {
    let octet = try uint8()
    guard octet <= 0x0F else { throw .invalid(field: "Advertising_SID") }
    return octet
  }
}
