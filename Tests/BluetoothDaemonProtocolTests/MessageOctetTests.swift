import BluetoothDaemon
import BluetoothWire
import Foundation
import Testing

@testable import BluetoothDaemonProtocol

/// The octets of an example of every message: a program of another version of this package sends and expects them.
///
/// A line of the file has the sender, the number of the message, the payload and the decoded message. A line is added for
/// a new message, and the octets of a line never change. `COREBLUETOOTH_WRITE_GOLDEN=1` adds the lines that are missing,
/// and writes the last column again.
@Suite("Octets of the messages")
struct MessageOctetTests {
  private static let rewrites = ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_GOLDEN"] == "1"
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("TestVectors/Vectors/messages.txt")

  private struct Example {
    let isFromClient: Bool
    let frame: Frame

    init(isFromClient: Bool, frame: Frame) {
      self.isFromClient = isFromClient
      self.frame = frame
    }

    init(isFromClient: Bool, octets: [UInt8]?) throws {
      var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
      parser.append(try #require(octets))
      self.init(isFromClient: isFromClient, frame: try #require(try parser.next()))
    }

    init(line: Substring) throws {
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
      try #require(columns.count == 4)
      let octets = stride(from: 0, to: columns[2].utf8.count, by: 2).compactMap { offset in
        UInt8(columns[2].dropFirst(offset).prefix(2), radix: 16)
      }
      let type = try #require(UInt16(columns[1], radix: 16))
      self.init(isFromClient: columns[0] == "client", frame: Frame(type: type, payload: ByteSlice(octets)))
    }

    /// The message in words, and its octets when it is encoded again.
    func decoded() throws -> (words: String, octets: [UInt8]?) {
      let numbering = MessageSamples.numbering
      if isFromClient {
        let message = try ClientMessage(frame, numbering)
        return ("\(message)", message.encode(numbering).frame())
      }
      let message = try ServerMessage(frame, numbering)
      return ("\(message)", message.encode(numbering).frame())
    }

    func line() throws -> String {
      let payload = frame.payload.bytes.map { Self.digits($0, 2) }.joined()
      // The modules of types are no part of the protocol.
      let words = try decoded().words.replacing(/\bBluetooth\w+\./, with: "").replacing("\n", with: "\\n")
      return "\(sender)\t\(Self.digits(frame.type, 4))\t\(payload)\t\(words)"
    }

    var sender: String { isFromClient ? "client" : "server" }

    private static func digits(_ number: some FixedWidthInteger, _ count: Int) -> String {
      let digits = String(number, radix: 16, uppercase: true)
      return String(repeating: "0", count: count - digits.count) + digits
    }
  }

  private func samples() throws -> [Example] {
    var samples = MessageSamples(seed: 1, isFull: true)
    let numbering = MessageSamples.numbering
    return try samples.clientMessages().map {
      try Example(isFromClient: true, octets: $0.encode(numbering).frame())
    }
      + samples.serverMessages().map { try Example(isFromClient: false, octets: $0.encode(numbering).frame()) }
  }

  @Test("Every message has an example, whose octets mean what they meant when it was published")
  func examples() throws {
    var lines = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n")
    if Self.rewrites {
      var examples = try lines.map { try Example(line: $0) }
      let published = Set(examples.map { "\($0.sender) \($0.frame.type)" })
      examples += try samples().filter { !published.contains("\($0.sender) \($0.frame.type)") }
      let text = try examples.map { try $0.line() + "\n" }.joined()
      try text.write(to: Self.file, atomically: true, encoding: .utf8)
      lines = text.split(separator: "\n")
    }
    let examples = try lines.map { try Example(line: $0) }
    for (line, example) in zip(lines, examples) {
      #expect(try example.line() == line)
      let again = try Example(isFromClient: example.isFromClient, octets: example.decoded().octets)
      #expect(again.frame.type == example.frame.type && again.frame.payload == example.frame.payload, "\(line)")
    }
    let published = Set(examples.map { "\($0.sender) \($0.frame.type)" })
    for sample in try samples() {
      let line = try sample.line()
      #expect(published.contains("\(sample.sender) \(sample.frame.type)"), "no example: \(line)")
    }
  }
}
