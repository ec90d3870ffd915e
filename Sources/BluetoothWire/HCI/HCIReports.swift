extension HCI {
  /// The number of completed data packets of each connection: the arrays of Number Of Completed Packets ·
  /// Vol 4, Part E, 7.7.19, and of Host Number Of Completed Packets · 7.3.40. A view of the packet's octets. Iteration
  /// allocates nothing.
  package struct CompletedPackets: Hashable, Sendable, Sequence {
    package struct Element: Hashable, Sendable {
      package var handle: ConnectionHandle
      package var count: UInt16
      package init(handle: ConnectionHandle, count: UInt16) {
        self.handle = handle
        self.count = count
      }
    }

    private static let elementSize = 4
    private let elements: ByteSlice

    package init(_ handle: ConnectionHandle, count: UInt16, in pool: PacketPool) {
      var writer = ByteWriter(pool, capacity: Self.elementSize, headroom: 0)
      writer.append(handle)
      writer.append(count)
      elements = writer.finish()
    }

    /// Encodes the first 63 elements of `list`, the maximum in one packet.
    package init(_ list: [Element], in pool: PacketPool) {
      var writer = ByteWriter(pool, capacity: 63 * Self.elementSize, headroom: 0)
      for element in list.prefix(63) {
        writer.append(element.handle)
        writer.append(element.count)
      }
      elements = writer.finish()
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      elements = try reader.take(Int(try reader.uint8()) * Self.elementSize)
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(UInt8(truncatingIfNeeded: elements.count / Self.elementSize))
      writer.append(elements)
    }

    package var underestimatedCount: Int { elements.count / Self.elementSize }

    package func makeIterator() -> Iterator { Iterator(reader: ByteReader(elements)) }

    package struct Iterator: IteratorProtocol {
      var reader: ByteReader
      package mutating func next() -> Element? {
        guard let handle = try? ConnectionHandle(from: &reader), let count = try? reader.uint16() else { return nil }
        return Element(handle: handle, count: count)
      }
    }
  }

  /// One report of an LE Advertising Report event · 7.7.65.2.
  package struct AdvertisingReport: Hashable, Sendable {
    package enum EventType: UInt8, Hashable, Sendable {
      /// ADV_IND
      case connectableScannable = 0
      /// ADV_DIRECT_IND
      case connectableDirected = 1
      /// ADV_SCAN_IND
      case scannable = 2
      /// ADV_NONCONN_IND
      case nonConnectable = 3
      /// SCAN_RSP
      case scanResponse = 4
    }

    /// The offset of Data_Length, which follows the event type and the address with its type.
    static let lengthOffset = 8
    /// The length of a report without data, in octets.
    static let minimumLength = 10

    package var type: EventType
    package var address: PeerAddress
    /// At most 31 octets.
    package var data: ByteSlice
    /// The RSSI in dBm; 127: not available.
    package var rssi: Int8
    package init(type: EventType, address: PeerAddress, data: ByteSlice, rssi: Int8) {
      self.type = type
      self.address = address
      self.data = data
      self.rssi = rssi
    }

    /// Decodes the report that begins at `start` of `octets`, which `AdvertisingReports` has validated.
    fileprivate init?(checked octets: ByteSlice, at start: Int) {
      // Reads Event_Type, Address_Type and Address at once.
      let head: UInt64 = octets.integer(at: start)
      guard let type = EventType(rawValue: UInt8(truncatingIfNeeded: head)) else { return nil }
      self.type = type
      address = PeerAddress(type: UInt8(truncatingIfNeeded: head >> 8), value: head >> 16)
      let end = start + Self.lengthOffset + 1 + Int(octets[start + Self.lengthOffset])
      data = octets[start + Self.lengthOffset + 1..<end]
      rssi = octets.integer(at: end)
    }

    /// The encoded length in octets.
    fileprivate var length: Int { Self.minimumLength + data.count }

    func encode(into writer: inout ByteWriter) {
      writer.append(type.rawValue)
      address.encode(into: &writer)
      let data = data.prefix(HCI.maximumAdvertisingDataLength)
      writer.append(UInt8(truncatingIfNeeded: data.count))
      writer.append(data)
      writer.append(rssi)
    }
  }

  /// The reports of one LE Advertising Report event. A view of the packet's octets, which have been validated.
  /// Iteration allocates nothing.
  package struct AdvertisingReports: Hashable, Sendable, Sequence {
    private let number: UInt8
    private let reports: ByteSlice

    package init(_ report: AdvertisingReport, in pool: PacketPool) {
      var writer = ByteWriter(pool, capacity: 64, headroom: 0)
      report.encode(into: &writer)
      number = 1
      reports = writer.finish()
    }

    // Inlined like its caller: this is the most frequent event.
    @inline(__always)
    init(from reader: inout ByteReader) throws(DecodingError) {
      number = try reader.uint8()
      // Num_Reports is 1 to 25 · 7.7.65.2.
      guard 1...25 ~= number else { throw .invalid(field: "Num_Reports") }
      let reports = reader.rest()
      try Self.check(reports, number)
      self.reports = reports
    }

    /// Validates the reports in place. Throws the first error found.
    @inline(__always)
    private static func check(_ reports: ByteSlice, _ number: UInt8) throws(DecodingError) {
      var start = 0
      for _ in 0..<number {
        guard reports.count - start >= AdvertisingReport.minimumLength else { throw .truncated }
        guard reports[start] <= AdvertisingReport.EventType.scanResponse.rawValue else {
          throw .invalid(field: "Event_Type")
        }
        let length = Int(reports[start + AdvertisingReport.lengthOffset])
        guard length <= HCI.maximumAdvertisingDataLength else { throw .invalid(field: "Data_Length") }
        start += AdvertisingReport.minimumLength + length
        guard start <= reports.count else { throw .truncated }
      }
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(number)
      writer.append(reports)
    }

    package var underestimatedCount: Int { Int(number) }

    package consuming func makeIterator() -> Iterator { Iterator(left: number, reports: reports) }

    package struct Iterator: IteratorProtocol {
      var left: UInt8
      let reports: ByteSlice
      var start = 0
      package mutating func next() -> AdvertisingReport? {
        guard left > 0, let report = AdvertisingReport(checked: reports, at: start) else { return nil }
        left -= 1
        start += report.length
        return report
      }
    }
  }
}
