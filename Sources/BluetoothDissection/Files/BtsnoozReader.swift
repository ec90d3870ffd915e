import BluetoothTypes

/// Reads Android's btsnooz: the section of a bug report, or of `dumpsys bluetooth_manager`, with the last packets, as
/// base64; or the file that holds the same octets. These are a version, the time of the last packet, and zlib (RFC 1950)
/// with records whose times are differences.
struct BtsnoozReader: CaptureFileReader {
  private enum State { case search, section, file, records }

  private static let beginning = Array("--- BEGIN:BTSNOOP_LOG_SUMMARY".utf8)
  private static let newline = UInt8(ascii: "\n")
  /// The version, and the time of the last packet.
  private static let headerLength = 9
  private static let zlibHeaderLength = 2
  private static let maximumLineLength = 1 << 12

  private var state: State
  private var interfaces = CaptureInterfaces()
  private var interface: CaptureInterface?
  /// The octets of btsnooz.
  private var content = CaptureOctets()
  /// The bits of base64 digits that make no octet yet.
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var version: UInt8?
  private var inflater = Inflater()
  /// The records, decompressed.
  private var records = CaptureOctets()
  /// The time of the packet before the next record, in microseconds.
  private var time: Int64 = 0
  private var packetCount = 0

  init(isText: Bool) { state = isText ? .search : .file }

  /// True if the first four octets are text, as a bug report is.
  static func isText(_ input: CaptureOctets) -> Bool {
    (0..<4).allSatisfy { input[$0] >= 0x20 && input[$0] != 0x7F || [0x09, 0x0A, 0x0D].contains(input[$0]) }
  }

  /// True if the first octets are those of btsnooz up to the header of zlib.
  static func isFile(_ input: CaptureOctets) -> Bool {
    (1...2).contains(input[0]) && input[headerLength] & 0x0F == 8
      && input.uint16(headerLength, bigEndian: true).isMultiple(of: 31)
  }

  var format: CaptureDecoder.Format? { state == .search ? nil : .btsnooz }

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    if state == .search {
      guard skipToSection(&input) else { return nil }
      state = .section
    }
    if state == .section {
      guard try readDigits(&input) else { return nil }
      try decompress()
    }
    if state == .file {
      content.append(input.slice(0, input.count))
      input.drop(input.count)
      guard content.count <= CaptureDecoder.maximumLength else { throw input.problem("the log is too large") }
      try decompress(isWhole: false)
    }
    guard state == .records else { return nil }
    // The rest of the report.
    input.drop(input.count)
    guard let interface else {
      interface = interfaces.add(nil, .btsnoopH4)
      return interface.map { .interface($0) }
    }
    return try nextRecord(interface)
  }

  func finish(_ input: CaptureOctets) throws(CaptureProblem) {
    switch state {
    case .search: throw CaptureDecoder.notACapture(CaptureOctets())
    case .section, .file: throw input.problem("the section with packets ends too early")
    case .records: break
    }
  }

  // MARK: Text

  /// Consumes the octets up to the line that begins the section. Returns false if more octets are needed.
  private func skipToSection(_ input: inout CaptureOctets) -> Bool {
    var start = 0
    while start + Self.beginning.count <= input.count {
      if input[start] == Self.beginning[0], input.starts(with: Self.beginning, at: start) {
        var end = start
        while end < input.count, end - start <= Self.maximumLineLength, input[end] != Self.newline { end += 1 }
        // A longer line is none of a bug report.
        if end - start <= Self.maximumLineLength {
          let isWhole = end < input.count
          input.drop(isWhole ? end + 1 : start)
          return isWhole
        }
      }
      start += 1
    }
    input.drop(start)
    return false
  }

  /// Consumes base64 digits. Returns true at the end of the section.
  private mutating func readDigits(_ input: inout CaptureOctets) throws(CaptureProblem) -> Bool {
    var octets: [UInt8] = []
    var count = 0
    defer {
      input.drop(count)
      content.append(octets)
    }
    while count < input.count {
      let character = input[count]
      let digit: UInt32
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = UInt32(character - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = UInt32(character - UInt8(ascii: "a")) + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt32(character - UInt8(ascii: "0")) + 52
      case UInt8(ascii: "+"): digit = 62
      case UInt8(ascii: "/"): digit = 63
      case UInt8(ascii: "-"): return true
      case UInt8(ascii: "="), 0x09, 0x0A, 0x0D, 0x20:
        count += 1
        continue
      default: throw input.problem("the section with packets is no base64")
      }
      count += 1
      bits = bits << 6 | digit
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
      guard content.count + octets.count <= CaptureDecoder.maximumLength else {
        throw input.problem("the section with packets is too large")
      }
    }
    return false
  }

  // MARK: Records

  /// Decompresses the records that have arrived. After the last one, it computes the time before the first one.
  ///
  /// - Parameter isWhole: true if no octets follow.
  private mutating func decompress(isWhole: Bool = true) throws(CaptureProblem) {
    if version == nil {
      guard content.count >= Self.headerLength + Self.zlibHeaderLength else {
        if isWhole { throw content.problem("the section with packets ends too early") }
        return
      }
      guard (1...2).contains(content[0]) else { throw content.problem("unknown version \(content[0]) of btsnooz") }
      version = content[0]
      time = Int64(bitPattern: content.number(1, 8, bigEndian: false))
      content.drop(Self.headerLength + Self.zlibHeaderLength)
    }
    while !inflater.isComplete {
      let octets = try inflater.next(&content)
      if octets.isEmpty, !inflater.isComplete {
        if isWhole { throw content.problem("the section with packets ends too early") }
        return
      }
      records.append(octets)
      guard records.count <= CaptureDecoder.maximumLength else {
        throw content.problem("the section with packets is too large")
      }
    }
    (content, state) = (CaptureOctets(), .records)
    // The times count back from that of the last packet.
    var records = records
    while let length = try recordLength(records) {
      time &-= Int64(records.uint32(deltaOffset, bigEndian: false))
      records.drop(length)
    }
  }

  private var deltaOffset: Int { version == 1 ? 2 : 4 }
  private var recordHeaderLength: Int { deltaOffset + 5 }

  /// Returns the length of the first record; nil: there is none.
  private func recordLength(_ records: CaptureOctets) throws(CaptureProblem) -> Int? {
    guard !records.isEmpty else { return nil }
    guard records.count >= recordHeaderLength else { throw records.problem("the file ends within a packet") }
    // The length counts the type.
    let count = Int(records.uint16(0, bigEndian: false))
    guard count >= 1, records.count >= recordHeaderLength + count - 1 else {
      throw records.problem("the file ends within a packet")
    }
    return recordHeaderLength + count - 1
  }

  private mutating func nextRecord(_ interface: CaptureInterface) throws(CaptureProblem) -> CaptureElement? {
    guard let length = try recordLength(records) else { return nil }
    let type = records[recordHeaderLength - 1]
    let original = version == 1 ? records.uint16(0, bigEndian: false) : records.uint16(2, bigEndian: false)
    time &+= Int64(records.uint32(deltaOffset, bigEndian: false))
    let data = records.slice(recordHeaderLength, length - recordHeaderLength)
    records.drop(length)
    packetCount += 1
    // The packet indicator of H4, and true if the controller has sent the packet.
    let (indicator, isReceived): (UInt8, Bool)
    switch type {
    case 0x10: (indicator, isReceived) = (4, true)
    case 0x11: (indicator, isReceived) = (2, true)
    case 0x12: (indicator, isReceived) = (3, true)
    case 0x17: (indicator, isReceived) = (5, true)
    case 0x20: (indicator, isReceived) = (1, false)
    case 0x21: (indicator, isReceived) = (2, false)
    case 0x22: (indicator, isReceived) = (3, false)
    case 0x2D: (indicator, isReceived) = (5, false)
    default: return .unread("a btsnooz record of type 0x\(type.hexadecimal)")
    }
    return .packet(
      CapturedPacket(
        number: packetCount, time: CaptureTime.time(microseconds: time), interface: interface,
        octets: [indicator] + data,
        originalLength: Int(original),
        flags: (isReceived ? 1 : 0) | (indicator == 1 || indicator == 4 ? 2 : 0)))
  }
}
