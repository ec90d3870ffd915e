/// Reads the capture in a gzip file · RFC 1952: one member, or several in succession.
struct GzipReader: CaptureFileReader {
  private enum State {
    case header, data, trailer
    /// The content has more octets than the limit.
    case tooLong
    /// Behind a member.
    case rest
    /// Behind the last member.
    case padding
  }

  private enum Flag {
    static let headerCRC: UInt8 = 1 << 1
    static let extra: UInt8 = 1 << 2
    static let name: UInt8 = 1 << 3
    static let comment: UInt8 = 1 << 4
  }

  private static let magic: [UInt8] = [0x1F, 0x8B, 8]
  private static let headerLength = 10
  private static let trailerLength = 8
  /// The longest header that is read.
  private static let maximumHeaderLength = 1 << 18

  private let limit: Int
  private var state = State.header
  private var inflater = Inflater()
  private var crc = CRC32()
  private var total = 0
  /// The decoder of the content: one element, because a structure can't hold one of its own type.
  private var content: [CaptureDecoder]

  init(limit: Int, depth: Int) {
    self.limit = limit
    content = [CaptureDecoder(inflatedLimit: limit, depth: depth + 1)]
  }

  var format: CaptureDecoder.Format? { content[0].format }

  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement? {
    while true {
      if let element = try content[0].next() { return element }
      switch state {
      case .header:
        guard let length = try headerLength(input) else { return nil }
        input.drop(length)
        (state, inflater, crc) = (.data, Inflater(), CRC32())
      case .data:
        let octets = try inflater.next(&input)
        crc.update(octets)
        content[0].append(octets.prefix(limit - total))
        total = min(total + octets.count, limit + 1)
        // The packets before the limit come first.
        if total > limit {
          state = .tooLong
        } else if inflater.isComplete {
          state = .trailer
        } else if octets.isEmpty {
          return nil
        }
      case .tooLong: throw input.problem(Self.tooLong(limit))
      case .trailer:
        guard input.count >= Self.trailerLength else { return nil }
        guard input.uint32(0, bigEndian: false) == crc.value else {
          throw input.problem("the compressed data are damaged: wrong CRC")
        }
        input.drop(Self.trailerLength)
        state = .rest
      case .rest:
        guard input.count >= Self.magic.count else { return nil }
        state = input.starts(with: Self.magic) ? .header : .padding
      case .padding:
        // As gzip itself takes it.
        input.drop(input.count)
        return nil
      }
    }
  }

  static func tooLong(_ limit: Int) -> String {
    "the compressed file has more than \(limit >> 20) MiB of content: decompress it, and read the result"
  }

  func finish(_ input: CaptureOctets) throws(CaptureProblem) {
    guard state == .rest || state == .padding else { throw input.problem("the compressed file ends too early") }
    try content[0].finish()
  }

  /// Returns the length of a member's header; nil: more octets are needed.
  private func headerLength(_ input: CaptureOctets) throws(CaptureProblem) -> Int? {
    guard input.count >= Self.headerLength else { return nil }
    let flags = input[3]
    var length = Self.headerLength
    if flags & Flag.extra != 0 {
      guard input.count >= length + 2 else { return nil }
      length += 2 + Int(input.uint16(length, bigEndian: false))
    }
    for flag in [Flag.name, Flag.comment] where flags & flag != 0 {
      while length < input.count, input[length] != 0 { length += 1 }
      guard length < Self.maximumHeaderLength else { throw input.problem("a gzip header that is too long") }
      guard length < input.count else { return nil }
      length += 1
    }
    if flags & Flag.headerCRC != 0 { length += 2 }
    return input.count >= length ? length : nil
  }
}
