import BluetoothWire

/// Reads the first capture in a zip archive · APPNOTE.TXT of PKWARE. It reads from the beginning, without the
/// directory at the end, so the archive can come from a pipe.
struct ZipReader: CaptureFileReader {
  private enum State {
    case header
    /// A file without compression: the octets to come.
    case stored(UInt64)
    case deflated
    /// The content of the files has more octets than the limit.
    case tooLong
    /// The octets of a file that can't be read.
    case skipped(UInt64)
    /// The sizes after a file whose header does not have them.
    case descriptor
    case directory
  }

  private enum Signature {
    static let file: UInt32 = 0x0403_4B50
    static let descriptor: UInt32 = 0x0807_4B50
    /// The directory, its end, and further parts after the last file.
    static let directory: [UInt32] = [0x0201_4B50, 0x0605_4B50, 0x0606_4B50, 0x0806_4B50]
  }

  private static let headerLength = 30
  private static let isEncrypted: UInt16 = 1 << 0
  private static let hasDescriptor: UInt16 = 1 << 3

  private let limit: Int
  private let depth: Int
  private var state = State.header
  private var total = 0
  private var name = ""
  private var hasFileDescriptor = false
  private var expectedCRC: UInt32 = 0
  private var inflater = Inflater()
  private var crc = CRC32()
  /// The decoder of the current file; empty: the file is no capture.
  private var file: [CaptureDecoder] = []
  /// True while the elements of the current file are those of the archive.
  private var isChosen = false
  private(set) var format: CaptureDecoder.Format?
  /// True if the decoder has all octets of the current file.
  private var isOver = false
  /// True if files are left that were not looked at.
  private var hasRest = false
  /// The problem at the end of the capture.
  private var problem: CaptureProblem?

  init(limit: Int, depth: Int) { (self.limit, self.depth) = (limit, depth) }

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    while true {
      if let element = try decode() { return element }
      if isOver {
        isOver = false
        try endFile(input)
      }
      switch state {
      case .header:
        guard try readHeader(&input) else { return nil }
      case .stored(let remaining):
        guard remaining > 0 else {
          isOver = true
          continue
        }
        guard !input.isEmpty else { return nil }
        let count = Int(min(remaining, UInt64(min(input.count, 1 << 16))))
        let octets = input.slice(0, count)
        input.drop(count)
        state = .stored(remaining - UInt64(count))
        take(octets)
      case .deflated:
        let octets = try inflater.next(&input)
        isOver = inflater.isComplete
        take(octets)
        if octets.isEmpty, !isOver { return nil }
      case .skipped(let remaining):
        if remaining == 0 {
          state = .header
          return .unread("the file \(name) of the archive, which is encrypted or has another compression")
        }
        guard !input.isEmpty else { return nil }
        let count = Int(min(remaining, UInt64(input.count)))
        input.drop(count)
        state = .skipped(remaining - UInt64(count))
      case .descriptor:
        guard try skipDescriptor(&input) else { return nil }
      case .tooLong:
        guard format != nil, !isChosen else { throw input.problem(GzipReader.tooLong(limit)) }
        (file, state, hasRest) = ([], .directory, true)
      case .directory:
        input.drop(input.count)
        guard hasRest else { return nil }
        hasRest = false
        return .unread("the rest of the archive, which is too large")
      }
    }
  }

  func finish(_ input: CaptureOctets) throws(CaptureProblem) {
    if let problem { throw problem }
    guard case .directory = state else { throw input.problem("the archive ends too early") }
    guard format != nil else { throw input.problem("the archive has no capture") }
  }

  // MARK: Files

  /// Returns the next element of the current file; nil: there is none yet.
  private mutating func decode() throws(CaptureProblem) -> CaptureElement? {
    guard !file.isEmpty else { return nil }
    let result: Result<CaptureElement?, CaptureProblem>
    do throws(CaptureProblem) { result = .success(try file[0].next()) } catch { result = .failure(error) }
    guard let found = file[0].format else {
      // It is no capture, or has not told its format yet.
      if case .failure = result { file = [] }
      return nil
    }
    if !isChosen {
      guard format == nil else {
        file = []
        return .unread("the file \(name) of the archive, which is a capture, too")
      }
      (isChosen, format) = (true, found)
    }
    return try result.get()
  }

  private mutating func take(_ octets: [UInt8]) {
    if !file.isEmpty {
      crc.update(octets)
      file[0].append(octets.prefix(limit - total))
    }
    total = min(total + octets.count, limit + 1)
    // The packets before the limit come first.
    if total > limit { (state, isOver) = (.tooLong, false) }
  }

  private mutating func endFile(_ input: CaptureOctets) throws(CaptureProblem) {
    if isChosen {
      do throws(CaptureProblem) { try file[0].finish() } catch { problem = error }
      if problem == nil, !hasFileDescriptor, crc.value != expectedCRC {
        problem = input.problem("the compressed data are damaged: wrong CRC")
      }
    }
    (file, isChosen) = ([], false)
    state = hasFileDescriptor ? .descriptor : .header
  }

  // MARK: Headers

  /// Reads the header of the next file. Returns false if more octets are needed.
  private mutating func readHeader(_ input: inout CaptureOctets) throws(CaptureProblem) -> Bool {
    guard input.count >= 4 else { return false }
    let signature = input.uint32(0, bigEndian: false)
    // An archive that was made for several disks begins with this signature.
    if signature == Signature.descriptor, total == 0, name.isEmpty {
      input.drop(4)
      return true
    }
    if Signature.directory.contains(signature) {
      state = .directory
      return true
    }
    guard signature == Signature.file else { throw input.problem("the archive is damaged") }
    guard input.count >= Self.headerLength else { return false }
    let nameLength = Int(input.uint16(26, bigEndian: false))
    let extraLength = Int(input.uint16(28, bigEndian: false))
    let length = Self.headerLength + nameLength + extraLength
    guard input.count >= length else { return false }
    let flags = input.uint16(6, bigEndian: false)
    let method = input.uint16(8, bigEndian: false)
    hasFileDescriptor = flags & Self.hasDescriptor != 0
    expectedCRC = input.uint32(14, bigEndian: false)
    let size = compressedSize(input, extra: Self.headerLength + nameLength, until: length)
    name = String(decoding: input.slice(Self.headerLength, nameLength), as: UTF8.self).printable
    let isReadable = flags & Self.isEncrypted == 0
    (inflater, crc) = (Inflater(), CRC32())
    file = isReadable ? [CaptureDecoder(inflatedLimit: limit, depth: depth + 1)] : []
    if isReadable, method == 8 {
      state = .deflated
    } else if hasFileDescriptor, size == 0 {
      throw input.problem("the archive does not tell the length of \(name)")
    } else if isReadable, method == 0 {
      state = .stored(size)
    } else {
      (state, file) = (.skipped(size), [])
    }
    input.drop(length)
    return true
  }

  /// Returns the number of octets of a file in the archive.
  ///
  /// - Parameters:
  ///   - start: the offset of the extra fields in the header. One of them has numbers that are too large for the header.
  ///   - end: the offset after them.
  private func compressedSize(_ input: CaptureOctets, extra start: Int, until end: Int) -> UInt64 {
    let size = input.uint32(18, bigEndian: false)
    guard size == .max else { return UInt64(size) }
    var offset = start
    while offset + 4 <= end {
      let count = Int(input.uint16(offset + 2, bigEndian: false))
      if input.uint16(offset, bigEndian: false) == 1 {
        // The size without compression is before it, if it is too large, too.
        let position = offset + 4 + (input.uint32(22, bigEndian: false) == .max ? 8 : 0)
        if position + 8 <= min(end, offset + 4 + count) { return input.number(position, 8, bigEndian: false) }
      }
      offset += 4 + count
    }
    return UInt64(size)
  }

  /// Skips the descriptor after a file: CRC and two sizes of 4 or 8 octets, after a signature or not. Returns false if
  /// more octets are needed.
  private mutating func skipDescriptor(_ input: inout CaptureOctets) throws(CaptureProblem) -> Bool {
    // The directory follows at least, with more octets than these.
    guard input.count >= 28 else { return false }
    let hasSignature = input.uint32(0, bigEndian: false) == Signature.descriptor
    for length in hasSignature ? [16, 24] : [12, 20] {
      let next = input.uint32(length, bigEndian: false)
      if next == Signature.file || Signature.directory.contains(next) {
        input.drop(length)
        state = .header
        return true
      }
    }
    throw input.problem("the archive is damaged")
  }
}
