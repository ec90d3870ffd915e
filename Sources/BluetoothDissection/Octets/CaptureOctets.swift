/// The octets of a file that have arrived, and that no reader has consumed.
struct CaptureOctets {
  private var octets: [UInt8] = []
  /// The position of the next octet in `octets`.
  private var position = 0
  /// The number of octets of the file before `octets`.
  private var passed = 0

  var count: Int { octets.count - position }
  var isEmpty: Bool { count == 0 }
  /// The offset of the next octet in the file.
  var offset: Int { passed + position }

  mutating func append(_ more: some Collection<UInt8>) {
    if position > 1 << 16 {
      octets.removeFirst(position)
      passed += position
      position = 0
    }
    octets.append(contentsOf: more)
  }

  mutating func drop(_ count: Int) { position += count }

  subscript(offset: Int) -> UInt8 { octets[position + offset] }

  func slice(_ offset: Int, _ count: Int) -> [UInt8] { Array(octets[position + offset..<position + offset + count]) }

  /// True if these octets are at an offset from the next octet.
  func starts(with prefix: some Collection<UInt8>, at offset: Int = 0) -> Bool {
    octets[(position + offset)...].starts(with: prefix)
  }

  /// Returns the number of `count` octets at an offset from the next octet.
  func number(_ offset: Int, _ count: Int, bigEndian: Bool) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<count {
      result = result << 8 | UInt64(octets[position + offset + (bigEndian ? index : count - 1 - index)])
    }
    return result
  }

  func uint16(_ offset: Int, bigEndian: Bool) -> UInt16 {
    UInt16(truncatingIfNeeded: number(offset, 2, bigEndian: bigEndian))
  }

  func uint32(_ offset: Int, bigEndian: Bool) -> UInt32 {
    UInt32(truncatingIfNeeded: number(offset, 4, bigEndian: bigEndian))
  }

  /// Returns the problem at the next octet.
  func problem(_ reason: String) -> CaptureProblem { CaptureProblem(offset: offset, reason: reason) }
}
