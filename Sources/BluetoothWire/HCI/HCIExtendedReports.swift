extension HCI {
  /// One report of an LE Extended Advertising Report event · Vol 4, Part E, 7.7.65.13.
  package struct ExtendedAdvertisingReport: Hashable, Sendable {
    /// The Event_Type field.
    package struct EventType: OptionSet, Hashable, Sendable {
      package let rawValue: UInt16
      package init(rawValue: UInt16) { self.rawValue = rawValue }
      package static let connectable = EventType(rawValue: 1 << 0)
      package static let scannable = EventType(rawValue: 1 << 1)
      package static let directed = EventType(rawValue: 1 << 2)
      package static let scanResponse = EventType(rawValue: 1 << 3)
      package static let legacy = EventType(rawValue: 1 << 4)
      /// The data continues in the next report of this advertiser.
      package static let moreToCome = EventType(rawValue: 1 << 5)
      /// The data is truncated: the remainder was lost.
      package static let truncated = EventType(rawValue: 1 << 6)
    }

    package var type: EventType
    package var address: PeerAddress
    /// 1: LE 1M, 3: LE Coded. For a host that supports coding selection, 3 is LE Coded with S=8 and 4 with S=2.
    package var primaryPHY: UInt8
    /// 0: no packets were received on the secondary channels; 2: LE 2M; 1, 3 and 4: as in `primaryPHY`.
    package var secondaryPHY: UInt8
    /// The Advertising SID; 0xFF: none.
    package var advertisingSID: UInt8
    /// The TxPower in dBm; 127: not available.
    package var transmitPower: Int8
    /// The RSSI in dBm; 127: not available.
    package var rssi: Int8
    /// Units of 1.25 ms; 0: no periodic advertising.
    package var periodicAdvertisingInterval: UInt16
    package var directAddress: PeerAddress
    /// At most 229 octets.
    package var data: ByteSlice
    package init(
      type: EventType, address: PeerAddress, primaryPHY: UInt8, secondaryPHY: UInt8, advertisingSID: UInt8,
      transmitPower: Int8, rssi: Int8, periodicAdvertisingInterval: UInt16, directAddress: PeerAddress,
      data: ByteSlice
    ) {
      self.type = type
      self.address = address
      self.primaryPHY = primaryPHY
      self.secondaryPHY = secondaryPHY
      self.advertisingSID = advertisingSID
      self.transmitPower = transmitPower
      self.rssi = rssi
      self.periodicAdvertisingInterval = periodicAdvertisingInterval
      self.directAddress = directAddress
      self.data = data
    }

    /// The maximum length of data in one event that holds a single report, in octets.
    package static let maximumDataLength = 229

    init(from reader: inout ByteReader) throws(DecodingError) {
      type = EventType(rawValue: try reader.uint16())
      address = try PeerAddress(from: &reader)
      primaryPHY = try reader.uint8()
      secondaryPHY = try reader.uint8()
      advertisingSID = try reader.uint8()
      transmitPower = try reader.int8()
      rssi = try reader.int8()
      periodicAdvertisingInterval = try reader.uint16()
      directAddress = try PeerAddress(from: &reader)
      let length = Int(try reader.uint8())
      guard length <= Self.maximumDataLength else { throw .invalid(field: "Data_Length") }
      data = try reader.take(length)
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(type.rawValue)
      address.encode(into: &writer)
      writer.append(primaryPHY)
      writer.append(secondaryPHY)
      writer.append(advertisingSID)
      writer.append(transmitPower)
      writer.append(rssi)
      writer.append(periodicAdvertisingInterval)
      directAddress.encode(into: &writer)
      let data = data.prefix(Self.maximumDataLength)
      writer.append(UInt8(truncatingIfNeeded: data.count))
      writer.append(data)
    }
  }

  /// The reports of one LE Extended Advertising Report event. A view of the packet's octets, which have been
  /// validated. Iteration allocates nothing.
  package struct ExtendedAdvertisingReports: Hashable, Sendable, Sequence {
    private let number: UInt8
    private let reports: ByteSlice

    package init(_ report: ExtendedAdvertisingReport, in pool: PacketPool) {
      var writer = ByteWriter(pool, capacity: 255, headroom: 0)
      report.encode(into: &writer)
      number = 1
      reports = writer.finish()
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      number = try reader.uint8()
      // Num_Reports is 1 to 10 · 7.7.65.13.
      guard 1...10 ~= number else { throw .invalid(field: "Num_Reports") }
      reports = reader.rest()
      var check = ByteReader(reports)
      for _ in 0..<number { _ = try ExtendedAdvertisingReport(from: &check) }
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(number)
      writer.append(reports)
    }

    package var underestimatedCount: Int { Int(number) }

    package func makeIterator() -> Iterator { Iterator(left: number, reader: ByteReader(reports)) }

    package struct Iterator: IteratorProtocol {
      var left: UInt8
      var reader: ByteReader
      package mutating func next() -> ExtendedAdvertisingReport? {
        guard left > 0 else { return nil }
        left -= 1
        return try? ExtendedAdvertisingReport(from: &reader)
      }
    }
  }
}
