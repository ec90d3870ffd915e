/// Decompresses DEFLATE · RFC 1951, piece by piece.
///
/// A step that lacks octets takes none, and begins again when more have arrived.
struct Inflater {
  private enum State {
    case header
    case stored(remaining: Int)
    case compressed(literals: PrefixCode, distances: PrefixCode)
    case complete
  }

  private enum Stop: Error { case needsMore, invalid }

  /// The distance that a copy can reach back.
  private static let windowLength = 1 << 15
  /// The number of octets after which a call of `next` ends.
  private static let pieceLength = 1 << 16
  /// The order in which the lengths of the code of code lengths are sent · 3.2.7.
  private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
  private static let fixedLiterals =
    PrefixCode(
      (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }) ?? .empty
  private static let fixedDistances = PrefixCode(Array(repeating: 5, count: 30)) ?? .empty

  private var state = State.header
  private var isLast = false
  /// The number of bits that have been taken of the next octet of the input.
  private var bitOffset = 0
  /// The last octets of the output.
  private var window: [UInt8] = []

  /// True after the last octet.
  private(set) var isComplete = false

  /// Returns the next octets; empty: more octets of the input are needed, or the end is reached.
  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> [UInt8] {
    if window.count > 4 * Self.windowLength { window.removeFirst(window.count - Self.windowLength) }
    let start = window.count
    do throws(Stop) {
      while !isComplete, window.count - start < Self.pieceLength {
        var bits = Bits(position: bitOffset)
        try step(&bits, input)
        input.drop(bits.position >> 3)
        bitOffset = bits.position & 7
      }
    } catch {
      // What is before the damage comes first, as it does if it has arrived alone. The step is tried again then.
      if error == .invalid, window.count == start { throw input.problem("the compressed data are damaged") }
    }
    if isComplete, bitOffset > 0 {
      // The rest of the last octet is padding.
      input.drop(1)
      bitOffset = 0
    }
    return Array(window[start...])
  }

  /// The position in the input, in bits from the next octet.
  private struct Bits {
    var position: Int

    /// Returns the number of the next bits that have arrived.
    func available(_ input: CaptureOctets) -> Int { input.count * 8 - position }

    /// Returns the next bits, with zeros for those that have not arrived; at most 16.
    func peek(_ count: Int, _ input: CaptureOctets) -> Int {
      var value = 0
      let first = position >> 3
      for index in 0..<3 where first + index < input.count { value |= Int(input[first + index]) << (8 * index) }
      return value >> (position & 7) & (1 << count - 1)
    }

    mutating func take(_ count: Int, _ input: CaptureOctets) throws(Stop) -> Int {
      guard available(input) >= count else { throw .needsMore }
      defer { position += count }
      return peek(count, input)
    }

    mutating func symbol(_ code: PrefixCode, _ input: CaptureOctets) throws(Stop) -> Int {
      let available = available(input)
      guard let (symbol, length) = code.decode(peek(PrefixCode.maximumLength, input)) else {
        throw available >= PrefixCode.maximumLength ? .invalid : .needsMore
      }
      guard length <= available else { throw .needsMore }
      position += length
      return symbol
    }
  }

  // MARK: Blocks

  private mutating func step(_ bits: inout Bits, _ input: CaptureOctets) throws(Stop) {
    switch state {
    case .complete: return
    case .header: try readHeader(&bits, input)
    case .stored(let remaining):
      guard remaining > 0 else { return endBlock() }
      guard !input.isEmpty else { throw .needsMore }
      let count = min(remaining, input.count, Self.pieceLength)
      window += input.slice(0, count)
      bits.position += 8 * count
      state = .stored(remaining: remaining - count)
    case .compressed(let literals, let distances):
      let symbol = try bits.symbol(literals, input)
      switch symbol {
      case ..<256: window.append(UInt8(symbol))
      case 256: endBlock()
      default:
        let length = try length(symbol, &bits, input)
        let distance = try distance(bits.symbol(distances, input), &bits, input)
        guard distance <= window.count else { throw .invalid }
        for _ in 0..<length { window.append(window[window.count - distance]) }
      }
    }
  }

  private mutating func endBlock() {
    isComplete = isLast
    state = isLast ? .complete : .header
  }

  private mutating func readHeader(_ bits: inout Bits, _ input: CaptureOctets) throws(Stop) {
    let isLast = try bits.take(1, input) == 1
    switch try bits.take(2, input) {
    case 0:
      bits.position = (bits.position + 7) & ~7
      let count = try bits.take(16, input)
      guard try bits.take(16, input) == count ^ 0xFFFF else { throw .invalid }
      state = .stored(remaining: count)
    case 1: state = .compressed(literals: Self.fixedLiterals, distances: Self.fixedDistances)
    case 2: state = try dynamicCodes(&bits, input)
    default: throw .invalid
    }
    self.isLast = isLast
  }

  private func dynamicCodes(_ bits: inout Bits, _ input: CaptureOctets) throws(Stop) -> State {
    let literalCount = 257 + (try bits.take(5, input))
    let distanceCount = 1 + (try bits.take(5, input))
    let lengthCount = 4 + (try bits.take(4, input))
    var lengths = [Int](repeating: 0, count: Self.lengthOrder.count)
    for index in 0..<lengthCount { lengths[Self.lengthOrder[index]] = try bits.take(3, input) }
    guard literalCount <= 286, let code = PrefixCode(lengths) else { throw .invalid }
    lengths = []
    while lengths.count < literalCount + distanceCount {
      switch try bits.symbol(code, input) {
      case 16:
        guard let last = lengths.last else { throw .invalid }
        lengths += repeatElement(last, count: 3 + (try bits.take(2, input)))
      case 17: lengths += repeatElement(0, count: 3 + (try bits.take(3, input)))
      case 18: lengths += repeatElement(0, count: 11 + (try bits.take(7, input)))
      case let length: lengths.append(length)
      }
    }
    guard lengths.count == literalCount + distanceCount, lengths[256] > 0,
      let literals = PrefixCode(Array(lengths[..<literalCount])),
      let distances = PrefixCode(Array(lengths[literalCount...]))
    else { throw .invalid }
    return .compressed(literals: literals, distances: distances)
  }

  /// Returns the length of a copy · 3.2.5.
  private func length(_ symbol: Int, _ bits: inout Bits, _ input: CaptureOctets) throws(Stop) -> Int {
    let number = symbol - 257
    switch number {
    case ..<8: return 3 + number
    case ..<28:
      let extra = number / 4 - 1
      return 3 + (4 + number % 4) << extra + (try bits.take(extra, input))
    case 28: return 258
    default: throw .invalid
    }
  }

  private func distance(_ symbol: Int, _ bits: inout Bits, _ input: CaptureOctets) throws(Stop) -> Int {
    switch symbol {
    case ..<4: return 1 + symbol
    case ..<30:
      let extra = symbol / 2 - 1
      return 1 + (2 + symbol % 2) << extra + (try bits.take(extra, input))
    default: throw .invalid
    }
  }
}

/// A prefix code of DEFLATE · RFC 1951, 3.2.2: shorter codes are less than longer ones, and those of one length have the
/// order of their symbols.
struct PrefixCode {
  static let maximumLength = 15
  static let empty = PrefixCode(entries: [0], bits: 0)

  /// For the next bits, the symbol and, in the four low bits, the length of its code; 0: no code begins with them.
  private let entries: [UInt16]
  private let bits: Int

  private init(entries: [UInt16], bits: Int) { (self.entries, self.bits) = (entries, bits) }

  /// Creates the code whose symbols have codes of these lengths; nil: there is no such code. Not all bits have to be
  /// the beginning of a code.
  init?(_ lengths: [Int]) {
    var counts = [Int](repeating: 0, count: Self.maximumLength + 1)
    for length in lengths { counts[length] += 1 }
    counts[0] = 0
    var starts = counts
    var code = 0
    for length in 1...Self.maximumLength {
      code = (code + counts[length - 1]) << 1
      guard code + counts[length] <= 1 << length else { return nil }
      starts[length] = code
    }
    let bits = lengths.max() ?? 0
    var entries = [UInt16](repeating: 0, count: 1 << bits)
    for (symbol, length) in lengths.enumerated() where length > 0 {
      // A code is sent with its most significant bit first, other numbers with their least significant one.
      var reversed = 0
      for bit in 0..<length { reversed |= (starts[length] >> bit & 1) << (length - 1 - bit) }
      starts[length] += 1
      for index in stride(from: reversed, to: entries.count, by: 1 << length) {
        entries[index] = UInt16(symbol) << 4 | UInt16(length)
      }
    }
    (self.entries, self.bits) = (entries, bits)
  }

  /// Returns the symbol with which the bits begin, and the length of its code; nil: there is none.
  func decode(_ next: Int) -> (symbol: Int, length: Int)? {
    let entry = entries[next & (1 << bits - 1)]
    return entry == 0 ? nil : (Int(entry >> 4), Int(entry & 15))
  }
}
