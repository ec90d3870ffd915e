extension HCI {
  /// The parameters of LE Set Extended Scan Parameters · Vol 4, Part E, 7.8.64.
  package struct ExtendedScanParameters: Hashable, Sendable {
    /// The scan parameters for one PHY.
    package struct Scan: Hashable, Sendable {
      package var isActive: Bool
      /// Units of 0.625 ms, 0x0004 to 0xFFFF.
      package var interval: UInt16
      /// Units of 0.625 ms, 0x0004 to `interval`.
      package var window: UInt16
      package init(isActive: Bool, interval: UInt16, window: UInt16) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
      }

      init(from reader: inout ByteReader) throws(DecodingError) {
        isActive = try reader.flag("Scan_Type")
        interval = try reader.uint16()
        window = try reader.uint16()
      }

      func encode(into writer: inout ByteWriter) {
        writer.append(flag: isActive)
        writer.append(interval)
        writer.append(window)
      }
    }

    package var ownAddressType: OwnAddressType
    /// Scanning_Filter_Policy, 0 to 3. Bit 0 restricts reports to devices on the filter accept list. Bit 1 adds
    /// directed advertising to addresses that could not be resolved.
    package var filterPolicy: UInt8
    /// The parameters for LE 1M; nil if LE 1M is not scanned.
    package var le1M: Scan?
    /// The parameters for LE Coded; nil if LE Coded is not scanned.
    package var leCoded: Scan?
    package init(ownAddressType: OwnAddressType, filterPolicy: UInt8 = 0, le1M: Scan?, leCoded: Scan? = nil) {
      self.ownAddressType = ownAddressType
      self.filterPolicy = filterPolicy
      self.le1M = le1M
      self.leCoded = leCoded
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      ownAddressType = try OwnAddressType(from: &reader)
      filterPolicy = try reader.uint8()
      let phys = try reader.phys(of: [.le1M, .leCoded])
      le1M = phys.contains(.le1M) ? try Scan(from: &reader) : nil
      leCoded = phys.contains(.leCoded) ? try Scan(from: &reader) : nil
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(ownAddressType.rawValue)
      writer.append(filterPolicy)
      let phys: PHYs = [le1M == nil ? [] : .le1M, leCoded == nil ? [] : .leCoded]
      writer.append(phys.rawValue)
      le1M?.encode(into: &writer)
      leCoded?.encode(into: &writer)
    }
  }

  /// The parameters of LE Set Extended Scan Enable · 7.8.65.
  package struct ExtendedScanEnable: Hashable, Sendable {
    package enum DuplicateFilter: UInt8, Hashable, Sendable {
      case off = 0
      case on = 1
      /// The duplicate filter is reset at the start of each scan period.
      case resetEachPeriod = 2
    }

    package var isEnabled: Bool
    package var duplicates: DuplicateFilter
    /// Units of 10 ms; 0: no limit.
    package var duration: UInt16
    /// Units of 1.28 s; 0: scanning is continuous.
    package var period: UInt16
    package init(_ isEnabled: Bool, duplicates: DuplicateFilter = .off, duration: UInt16 = 0, period: UInt16 = 0) {
      self.isEnabled = isEnabled
      self.duplicates = duplicates
      self.duration = duration
      self.period = period
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      isEnabled = try reader.flag("Enable")
      let duplicates = DuplicateFilter(rawValue: try reader.uint8())
      // Ignored when scanning is disabled.
      guard duplicates != nil || !isEnabled else { throw .invalid(field: "Filter_Duplicates") }
      self.duplicates = duplicates ?? .off
      duration = try reader.uint16()
      period = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(flag: isEnabled)
      writer.append(duplicates.rawValue)
      writer.append(duration)
      writer.append(period)
    }
  }

  /// The parameters of LE Extended Create Connection [v1] · 7.8.66.
  package struct ExtendedCreateConnection: Hashable, Sendable {
    /// The parameters for initiating on one PHY. LE 2M is never scanned, so its scan interval and window are ignored.
    package struct Initiating: Hashable, Sendable {
      /// Units of 0.625 ms, 0x0004 to 0xFFFF.
      package var scanInterval: UInt16
      /// Units of 0.625 ms, 0x0004 to `scanInterval`.
      package var scanWindow: UInt16
      package var parameters: LinkParameters
      package var eventLength: ConnectionEventLength
      package init(
        scanInterval: UInt16, scanWindow: UInt16, parameters: LinkParameters,
        eventLength: ConnectionEventLength = ConnectionEventLength()
      ) {
        self.scanInterval = scanInterval
        self.scanWindow = scanWindow
        self.parameters = parameters
        self.eventLength = eventLength
      }

      init(from reader: inout ByteReader) throws(DecodingError) {
        scanInterval = try reader.uint16()
        scanWindow = try reader.uint16()
        parameters = try LinkParameters(from: &reader)
        eventLength = try ConnectionEventLength(from: &reader)
      }

      func encode(into writer: inout ByteWriter) {
        writer.append(scanInterval)
        writer.append(scanWindow)
        parameters.encode(into: &writer)
        eventLength.encode(into: &writer)
      }
    }

    /// True to connect to the first device found that is on the filter accept list; `peer` is then ignored.
    package var usesAcceptList: Bool
    package var ownAddressType: OwnAddressType
    package var peer: PeerAddress
    /// The parameters for LE 1M; nil if LE 1M is not used.
    package var le1M: Initiating?
    /// The parameters for LE 2M; nil if LE 2M is not used.
    package var le2M: Initiating?
    /// The parameters for LE Coded; nil if LE Coded is not used.
    package var leCoded: Initiating?
    package init(
      usesAcceptList: Bool, ownAddressType: OwnAddressType, peer: PeerAddress, le1M: Initiating?,
      le2M: Initiating? = nil, leCoded: Initiating? = nil
    ) {
      self.usesAcceptList = usesAcceptList
      self.ownAddressType = ownAddressType
      self.peer = peer
      self.le1M = le1M
      self.le2M = le2M
      self.leCoded = leCoded
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      usesAcceptList = try reader.flag("Initiator_Filter_Policy")
      ownAddressType = try OwnAddressType(from: &reader)
      peer = try PeerAddress(from: &reader)
      let phys = try reader.phys(of: [.le1M, .le2M, .leCoded])
      le1M = phys.contains(.le1M) ? try Initiating(from: &reader) : nil
      le2M = phys.contains(.le2M) ? try Initiating(from: &reader) : nil
      leCoded = phys.contains(.leCoded) ? try Initiating(from: &reader) : nil
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(flag: usesAcceptList)
      writer.append(ownAddressType.rawValue)
      peer.encode(into: &writer)
      let phys: PHYs = [le1M == nil ? [] : .le1M, le2M == nil ? [] : .le2M, leCoded == nil ? [] : .leCoded]
      writer.append(phys.rawValue)
      le1M?.encode(into: &writer)
      le2M?.encode(into: &writer)
      leCoded?.encode(into: &writer)
    }
  }

  /// The report of an LE Directed Advertising Report event · 7.7.65.11: directed advertising to an address that could
  /// not be resolved.
  package struct DirectedAdvertisingReport: Hashable, Sendable {
    package var address: PeerAddress
    /// The TargetA field of the packet.
    package var directAddress: PeerAddress
    /// The RSSI in dBm; 127: not available.
    package var rssi: Int8
    package init(address: PeerAddress, directAddress: PeerAddress, rssi: Int8) {
      self.address = address
      self.directAddress = directAddress
      self.rssi = rssi
    }

    /// The Event_Type of ADV_DIRECT_IND.
    private static let eventType: UInt8 = 1

    init(from reader: inout ByteReader) throws(DecodingError) {
      // Several reports in one event are not supported; no controller sends more than one.
      guard try reader.uint8() == 1 else { throw .invalid(field: "Num_Reports") }
      guard try reader.uint8() == Self.eventType else { throw .invalid(field: "Event_Type") }
      address = try PeerAddress(from: &reader)
      directAddress = try PeerAddress(from: &reader)
      rssi = try reader.int8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(UInt8(1))
      writer.append(Self.eventType)
      address.encode(into: &writer)
      directAddress.encode(into: &writer)
      writer.append(rssi)
    }
  }
}

extension ByteReader {
  /// Reads a set of PHYs, each of which has an element in the arrays that follow. Throws `unknown` for a PHY that is
  /// not in `possible`, because a controller has a specific error code for it; `invalid` for an empty set.
  fileprivate mutating func phys(of possible: HCI.PHYs) throws(DecodingError) -> HCI.PHYs {
    let phys = HCI.PHYs(rawValue: try uint8())
    guard phys.isSubset(of: possible) else { throw .unknown(code: UInt16(phys.rawValue)) }
    guard !phys.isEmpty else { throw .invalid(field: "PHYs") }
    return phys
  }
}
