extension HCI {
  /// The Peer_Address_Type and Peer_Address parameters of commands and events.
  package struct PeerAddress: Hashable, Sendable {
    /// 0: public, 1: random, 2: public identity, 3: random identity, 0xFE: random and unresolved, 0xFF: no address.
    package var type: UInt8
    /// The address, 48 bits.
    package var value: UInt64

    package init(type: UInt8, value: UInt64) {
      self.type = type
      self.value = value & 0xFFFF_FFFF_FFFF
    }

    package init(_ address: DeviceAddress) { self.init(type: address.kind.rawValue, value: address.value) }

    /// The device address, regardless of whether it was resolved; nil if there is none or the type is reserved.
    package var deviceAddress: DeviceAddress? {
      switch type {
      case 0, 2: DeviceAddress(value, .public)
      case 1, 3, 0xFE: DeviceAddress(value, .random)
      default: nil
      }
    }

    /// True if this is the identity address of a device whose private address the controller has resolved.
    package var isResolvedIdentity: Bool { type == 2 || type == 3 }

    init(from reader: inout ByteReader) throws(DecodingError) {
      self.init(type: try reader.uint8(), value: try reader.addressValue())
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(type)
      writer.append(addressValue: value)
    }
  }

  /// The Own_Address_Type parameter.
  package enum OwnAddressType: UInt8, Hashable, Sendable {
    case `public` = 0
    case random = 1
    /// A resolvable private address that the controller generates; the public address if the resolving list has no
    /// matching entry.
    case resolvableOrPublic = 2
    /// A resolvable private address that the controller generates; the random address if the resolving list has no
    /// matching entry.
    case resolvableOrRandom = 3

    init(from reader: inout ByteReader) throws(DecodingError) {
      guard let value = Self(rawValue: try reader.uint8()) else { throw .invalid(field: "Own_Address_Type") }
      self = value
    }
  }

  /// The Flow_Control_Enable parameter · 7.3.38.
  package enum FlowControl: UInt8, Hashable, Sendable {
    case off = 0
    case acl = 1
    case synchronous = 2
    case aclAndSynchronous = 3
  }

  /// The buffers of a controller · 7.4.5, or of a host · 7.3.39. The synchronous buffers do not exist in LE.
  package struct BufferSize: Hashable, Sendable {
    /// The length of an ACL buffer in octets.
    package var aclLength: UInt16
    package var aclCount: UInt16
    package var synchronousLength: UInt8
    package var synchronousCount: UInt16
    package init(aclLength: UInt16, aclCount: UInt16, synchronousLength: UInt8 = 0, synchronousCount: UInt16 = 0) {
      self.aclLength = aclLength
      self.aclCount = aclCount
      self.synchronousLength = synchronousLength
      self.synchronousCount = synchronousCount
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      aclLength = try reader.uint16()
      synchronousLength = try reader.uint8()
      aclCount = try reader.uint16()
      synchronousCount = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(aclLength)
      writer.append(synchronousLength)
      writer.append(aclCount)
      writer.append(synchronousCount)
    }
  }

  /// The Advertising_Type parameter · 7.8.5.
  package enum AdvertisingType: UInt8, Hashable, Sendable {
    /// ADV_IND
    case connectableScannableUndirected = 0
    /// ADV_DIRECT_IND, high duty cycle
    case connectableDirectedHighDutyCycle = 1
    /// ADV_SCAN_IND
    case scannableUndirected = 2
    /// ADV_NONCONN_IND
    case nonConnectableUndirected = 3
    /// ADV_DIRECT_IND, low duty cycle
    case connectableDirectedLowDutyCycle = 4
  }

  /// The parameters of LE Set Advertising Parameters · 7.8.5.
  package struct AdvertisingParameters: Hashable, Sendable {
    /// The unit of advertising intervals, scan intervals and scan windows.
    package static let intervalUnit = TimeSpan.microseconds(625)

    /// Units of 0.625 ms, 0x0020 to 0x4000.
    package var minimumInterval: UInt16
    /// Units of 0.625 ms, `minimumInterval` to 0x4000.
    package var maximumInterval: UInt16
    package var type: AdvertisingType
    package var ownAddressType: OwnAddressType
    package var peer: PeerAddress
    /// Bits 0 to 2 enable channels 37 to 39.
    package var channelMap: UInt8
    /// Bit 0 restricts scan requests, bit 1 connection requests to devices on the filter accept list.
    package var filterPolicy: UInt8
    package init(
      minimumInterval: UInt16, maximumInterval: UInt16, type: AdvertisingType, ownAddressType: OwnAddressType,
      peer: PeerAddress = PeerAddress(type: 0, value: 0), channelMap: UInt8 = 0b111, filterPolicy: UInt8 = 0
    ) {
      self.minimumInterval = minimumInterval
      self.maximumInterval = maximumInterval
      self.type = type
      self.ownAddressType = ownAddressType
      self.peer = peer
      self.channelMap = channelMap
      self.filterPolicy = filterPolicy
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      minimumInterval = try reader.uint16()
      maximumInterval = try reader.uint16()
      guard let type = AdvertisingType(rawValue: try reader.uint8()) else {
        throw .invalid(field: "Advertising_Type")
      }
      self.type = type
      ownAddressType = try OwnAddressType(from: &reader)
      peer = try PeerAddress(from: &reader)
      channelMap = try reader.uint8()
      filterPolicy = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(minimumInterval)
      writer.append(maximumInterval)
      writer.append(type.rawValue)
      writer.append(ownAddressType.rawValue)
      peer.encode(into: &writer)
      writer.append(channelMap)
      writer.append(filterPolicy)
    }
  }

  /// The parameters of LE Set Scan Parameters · 7.8.10.
  package struct ScanParameters: Hashable, Sendable {
    package var isActive: Bool
    /// Units of 0.625 ms, 0x0004 to 0x4000.
    package var interval: UInt16
    /// Units of 0.625 ms, 0x0004 to `interval`.
    package var window: UInt16
    package var ownAddressType: OwnAddressType
    /// Scanning_Filter_Policy, 0 to 3. Bit 0 restricts reports to devices on the filter accept list.
    package var filterPolicy: UInt8
    package init(
      isActive: Bool, interval: UInt16, window: UInt16, ownAddressType: OwnAddressType, filterPolicy: UInt8 = 0
    ) {
      self.isActive = isActive
      self.interval = interval
      self.window = window
      self.ownAddressType = ownAddressType
      self.filterPolicy = filterPolicy
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      isActive = try reader.flag("LE_Scan_Type")
      interval = try reader.uint16()
      window = try reader.uint16()
      ownAddressType = try OwnAddressType(from: &reader)
      filterPolicy = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(flag: isActive)
      writer.append(interval)
      writer.append(window)
      writer.append(ownAddressType.rawValue)
      writer.append(filterPolicy)
    }
  }

  /// Min_CE_Length and Max_CE_Length in units of 0.625 ms, which are hints to the controller.
  package struct ConnectionEventLength: Hashable, Sendable {
    package var minimum: UInt16
    package var maximum: UInt16
    package init(minimum: UInt16 = 0, maximum: UInt16 = 0) {
      self.minimum = minimum
      self.maximum = maximum
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      minimum = try reader.uint16()
      maximum = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(minimum)
      writer.append(maximum)
    }
  }

  /// The parameters of LE Create Connection · 7.8.12.
  package struct CreateConnection: Hashable, Sendable {
    /// Units of 0.625 ms, 0x0004 to 0x4000.
    package var scanInterval: UInt16
    /// Units of 0.625 ms, 0x0004 to `scanInterval`.
    package var scanWindow: UInt16
    /// True to connect to the first device found that is on the filter accept list; `peer` is then ignored.
    package var usesAcceptList: Bool
    package var peer: PeerAddress
    package var ownAddressType: OwnAddressType
    package var parameters: LinkParameters
    package var eventLength: ConnectionEventLength
    package init(
      scanInterval: UInt16, scanWindow: UInt16, usesAcceptList: Bool, peer: PeerAddress,
      ownAddressType: OwnAddressType, parameters: LinkParameters,
      eventLength: ConnectionEventLength = ConnectionEventLength()
    ) {
      self.scanInterval = scanInterval
      self.scanWindow = scanWindow
      self.usesAcceptList = usesAcceptList
      self.peer = peer
      self.ownAddressType = ownAddressType
      self.parameters = parameters
      self.eventLength = eventLength
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      scanInterval = try reader.uint16()
      scanWindow = try reader.uint16()
      usesAcceptList = try reader.flag("Initiator_Filter_Policy")
      peer = try PeerAddress(from: &reader)
      ownAddressType = try OwnAddressType(from: &reader)
      parameters = try LinkParameters(from: &reader)
      eventLength = try ConnectionEventLength(from: &reader)
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(scanInterval)
      writer.append(scanWindow)
      writer.append(flag: usesAcceptList)
      peer.encode(into: &writer)
      writer.append(ownAddressType.rawValue)
      parameters.encode(into: &writer)
      eventLength.encode(into: &writer)
    }
  }

  /// The maximum length of a data channel PDU: octets of payload (27 to 251) and duration on the air in µs (328 to
  /// 17040) · 7.8.33.
  package struct DataLength: Hashable, Sendable {
    package var octets: UInt16
    package var time: UInt16
    package init(octets: UInt16, time: UInt16) {
      self.octets = octets
      self.time = time
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      octets = try reader.uint16()
      time = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(octets)
      writer.append(time)
    }
  }

  /// The PHYs that a host prefers · 7.8.48; nil: no preference.
  package struct PHYPreference: Hashable, Sendable {
    package var transmit: PHYs?
    package var receive: PHYs?
    package init(transmit: PHYs?, receive: PHYs?) {
      self.transmit = transmit
      self.receive = receive
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      let all = try reader.uint8()
      let transmit = PHYs(rawValue: try reader.uint8())
      let receive = PHYs(rawValue: try reader.uint8())
      self.transmit = all & 0b01 == 0 ? transmit : nil
      self.receive = all & 0b10 == 0 ? receive : nil
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(UInt8(transmit == nil ? 0b01 : 0) | UInt8(receive == nil ? 0b10 : 0))
      writer.append(transmit?.rawValue ?? 0)
      writer.append(receive?.rawValue ?? 0)
    }
  }
}

extension HCI.ConnectionHandle {
  /// Reads the lower 12 bits. The reserved bits are ignored.
  init(from reader: inout ByteReader) throws(DecodingError) {
    self.init(rawValue: try reader.uint16() & 0x0FFF)
  }
}

extension ByteReader {
  /// Reads an octet that must be 0 or 1. Throws `invalid` for any other value.
  mutating func flag(_ field: DecodingError.StaticName) throws(DecodingError) -> Bool {
    switch try uint8() {
    case 0: return false
    case 1: return true
    default: throw .invalid(field: field)
    }
  }

  /// Reads an unsigned integer of five octets.
  mutating func uint40() throws(DecodingError) -> UInt64 {
    let low = try uint32()
    return UInt64(low) | UInt64(try uint8()) << 32
  }

  mutating func errorCode() throws(DecodingError) -> HCI.ErrorCode { HCI.ErrorCode(rawValue: try uint8()) }
}

extension ByteWriter {
  mutating func append(flag: Bool) { append(UInt8(flag ? 1 : 0)) }
  mutating func append(_ handle: HCI.ConnectionHandle) { append(handle.rawValue) }
  mutating func append(_ code: HCI.ErrorCode) { append(code.rawValue) }

  /// Appends the low five octets of `value`.
  mutating func append40(_ value: UInt64) {
    append(UInt32(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 32))
  }
}
