import BluetoothWire
import Testing

@testable import BluetoothDaemonProtocol

@Suite struct FrameParserTests {
  private let octets: [UInt8] = [2, 0, 0, 0, 1, 0] + [5, 0, 0, 0, 2, 1, 7, 8, 9] + [3, 0, 0, 0, 3, 0, 255]

  @Test("Frames are found however their octets arrive", arguments: 1...22)
  func parts(size: Int) throws {
    var parser = FrameParser(maximumLength: 5)
    var found: [String] = []
    var rest = octets[...]
    while !rest.isEmpty {
      parser.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let frame = try parser.next() { found.append("\(frame.type) \(frame.payload)") }
    }
    #expect(found == ["1 ", "258 070809", "3 ff"] || found == ["1 ", "258 070809", "3 FF"])
    #expect(parser.waitingCount == 0)
  }

  @Test("A length that no frame may have is an error before its octets arrive", arguments: [0, 1, 6, 0xFFFF_FFFF])
  func lengths(length: UInt32) {
    var parser = FrameParser(maximumLength: 5)
    parser.append((0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) })
    #expect(throws: FrameParser.InvalidLength(length: Int(length))) { try parser.next() }
  }
}
