import Foundation
import TestSupport
import Testing

/// Connections to the metrics of a server that send no request.
@Suite("Strangers at the metrics of a server", .timeLimit(.minutes(10)))
struct MetricsStrangerTests {
  /// A connection to a port of this machine.
  private final class Connection {
    private let descriptor: Int32

    init(port: UInt16) throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      let descriptor = descriptor
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// Sends a text, and returns what arrives up to the end of the connection.
    func answer(to text: String) -> String {
      let request = Array(text.utf8)
      _ = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
      var (octets, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
      while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { octets += buffer[..<count] }
      return String(decoding: octets, as: UTF8.self)
    }
  }

  @Test("Silent connections keep nobody from the metrics: the seventeenth one closes the first one")
  func silence() throws {
    try withTemporaryFolder { folder in
      let server = Process()
      let output = Pipe()
      server.executableURL = try Program.url("btserver")
      server.arguments = [
        "--no-desktop", "--socket", folder.file("s.sock"), "--bonds", folder.file("bonds"), "--metrics", "127.0.0.1:0",
      ]
      (server.standardOutput, server.standardError) = (output, FileHandle.nullDevice)
      try server.run()
      defer { server.terminate() }
      // The endpoint has values once the server serves.
      var lines = ""
      while !lines.contains("serves ") {
        let octets = output.fileHandleForReading.availableData
        try #require(!octets.isEmpty, "the server has ended")
        lines += String(decoding: octets, as: UTF8.self)
      }
      let match = try #require(try /metrics at http:\/\/127\.0\.0\.1:(\d+)\//.firstMatch(in: lines))
      let port = try #require(UInt16(match.1))
      let silent = try (0..<16).map { _ in try Connection(port: port) }
      let answer = try Connection(port: port).answer(to: "GET /metrics HTTP/1.1\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("btserver_clients"), "\(answer)")
      #expect(silent[0].answer(to: "").isEmpty)
    }
  }
}
