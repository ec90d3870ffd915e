import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothServer
import BluetoothTransport
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// Sockets that another program has opened for a server, such as systemd.
@Suite(.timeLimit(.minutes(10)))
struct PassedSocketTests {
  /// Opens a socket on a free port of this machine.
  private func boundSocket() throws -> (descriptor: CInt, port: Int) {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    try #require(isBound)
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  @Test("A TCP socket of the service manager has clients with the token only")
  func token() async throws {
    let bench = try ServerBench()
    let secret = Array("0123456789abcdef".utf8)
    let (descriptor, port) = try boundSocket()
    try bench.server.listen(on: descriptor, token: secret)
    let place = ServerSpecifier.Place.tcp(host: "127.0.0.1", port: port)
    for (token, state) in [(secret, AdapterState.poweredOn), ([], .unauthorized)] {
      let adapter = ServerAdapter(
        ServerSpecifier(place), program: "app", token: token, greetingTime: .hours(1),
        on: MultiThreadedEventLoopGroup.singleton.next())
      let app = RemoteCentral(adapter)
      let session = adapter.openCentralSession(for: app)
      try await app.state(state)
      session.close()
    }
  }

  @Test("A TCP socket of the service manager is refused without a token, and a Unix socket needs none")
  func noToken() async throws {
    let bench = try ServerBench()
    let (descriptor, _) = try boundSocket()
    defer { close(descriptor) }
    let error = #expect(throws: ServerError.self) { try bench.server.listen(on: descriptor, token: nil) }
    #expect(error?.description.contains("--token-file") == true)

    let path = bench.folder.file("passed.sock")
    let file = try UnixSocketFile(path: path)
    try bench.server.listen(on: file.descriptor, token: Array("0123456789abcdef".utf8))
    let adapter = ServerAdapter(
      ServerSpecifier(.unix(path: path)), program: "app", greetingTime: .hours(1),
      on: MultiThreadedEventLoopGroup.singleton.next())
    let app = RemoteCentral(adapter)
    let session = adapter.openCentralSession(for: app)
    try await app.state(.poweredOn)
    session.close()
  }
}
