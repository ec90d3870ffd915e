import BluetoothTransport
import Foundation
import Testing

/// Sockets in the file system.
@Suite(.timeLimit(.minutes(10)))
struct UnixSocketTests {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("h4-\(UUID().uuidString).sock").path
  var specifier: TransportSpecifier { .unix(path: path) }

  private func mode() throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test("A path that no socket can have is refused", arguments: ["", String(repeating: "a", count: 108), "/tmp/a\0b"])
  func impossiblePaths(path: String) {
    #expect(throws: TransportError.self) { _ = try UnixSocketFile(path: path) }
  }

  @Test("Only its owner can use a socket, which carries packets and is removed with its listener")
  func wholeLife() async throws {
    var listener = try await TransportListener(specifier)
    #expect(try mode() == 0o600)
    let link = try await TransportLink.connect(to: specifier)
    var other = try await listener.next()
    try await link.send([Sample.reset])
    #expect(await other.next() == .opened)
    #expect(await other.next() == .packet(Sample.reset))
    try await link.close()
    try await listener.close()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A socket left behind by a process is replaced")
  func stale() async throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound)
    close(descriptor)
    let listener = try await TransportListener(specifier)
    let link = try await TransportLink.connect(to: specifier)
    try await link.close()
    try await listener.close()
  }

  @Test("A socket that has a listener is not replaced")
  func inUse() async throws {
    let listener = try await TransportListener(specifier)
    await #expect(throws: TransportError("another program is already listening on this socket")) {
      _ = try await TransportListener(specifier)
    }
    let link = try await TransportLink.connect(to: specifier)
    try await link.close()
    try await listener.close()
  }

  @Test("A file that is not a socket is left unchanged")
  func otherFile() async throws {
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    await #expect(throws: TransportError("the file exists and is not a socket")) {
      _ = try await TransportListener(specifier)
    }
    #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
  }

  @Test("A listener does not remove the socket that has replaced its own")
  func replaced() async throws {
    let first = try await TransportListener(specifier)
    try FileManager.default.removeItem(atPath: path)
    let second = try await TransportListener(specifier)
    try await first.close()
    #expect(FileManager.default.fileExists(atPath: path))
    let link = try await TransportLink.connect(to: specifier)
    try await link.close()
    try await second.close()
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
