import BluetoothTransport
import Foundation
import Testing

#if os(Linux) && canImport(Glibc)
  import Glibc

  /// TCP options by which a connection notices a peer that vanishes.
  @Suite(.timeLimit(.minutes(10)))
  struct TCPKeepAliveTests {
    /// The open descriptors of this process.
    private var descriptors: [CInt] {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { CInt($0) }
    }

    /// Returns the TCP options of this process's connected sockets with the given local or remote port.
    private func values(of options: [CInt], ownPort: Int? = nil, peersPort: Int? = nil) -> [[CInt]] {
      descriptors.compactMap { descriptor in
        let own = port(descriptor) { getsockname($0, $1, $2) }
        let peers = port(descriptor) { getpeername($0, $1, $2) }
        guard let own, let peers, ownPort == nil || ownPort == own, peersPort == nil || peersPort == peers else {
          return nil
        }
        return [value(descriptor, SOL_SOCKET, SO_KEEPALIVE)] + options.map { value(descriptor, CInt(IPPROTO_TCP), $0) }
      }
    }

    /// Returns the names of the congestion control algorithms of the same sockets.
    private func congestionControls(ownPort: Int? = nil, peersPort: Int? = nil) -> [String] {
      descriptors.compactMap { descriptor in
        let own = port(descriptor) { getsockname($0, $1, $2) }
        let peers = port(descriptor) { getpeername($0, $1, $2) }
        guard let own, let peers, ownPort == nil || ownPort == own, peersPort == nil || peersPort == peers else {
          return nil
        }
        var name = [UInt8](repeating: 0, count: 16)
        var length = socklen_t(name.count)
        guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_CONGESTION, &name, &length) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
    }

    private func value(_ descriptor: CInt, _ level: CInt, _ option: CInt) -> CInt {
      var value = CInt(-1)
      var length = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(descriptor, level, option, &value, &length) == 0 ? value : -1
    }

    private func port(
      _ descriptor: CInt, _ ask: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> Int? {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isKnown = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(descriptor, $0, &length) == 0 }
      }
      guard isKnown, address.sin_family == sa_family_t(AF_INET) else { return nil }
      return Int(UInt16(bigEndian: address.sin_port))
    }

    @Test(
      "Both sides of TCP use keep-alive, hosts limit the wait for acknowledgements, and both use Reno on one machine"
    )
    func options() async throws {
      var listener = try await TransportListener(LinkTests.loopback)
      guard case .tcp(_, let port) = listener.specifier else {
        Issue.record("\(listener.specifier) is no TCP address")
        return
      }
      var link = try await TransportLink.connect(to: listener.specifier)
      var other = try await listener.next()
      #expect(await other.next() == .opened)
      let options = [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT]
      #expect(values(of: options, peersPort: port) == [[1, 10, 5, 3, 25_000]])
      #expect(values(of: options, ownPort: port) == [[1, 30, 10, 3, 0]])
      #expect(congestionControls(ownPort: port) == ["reno"])
      #expect(congestionControls(peersPort: port) == ["reno"])
      try await link.close()
      #expect(await link.next() == .closed(reason: nil, cut: 0))
      try await listener.close()
    }
  }
#endif
