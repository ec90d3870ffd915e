import NIOCore

extension TransportSpecifier {
  /// True if only programs on this machine can connect to a socket at this address. A host must be an address of
  /// `127.0.0.0/8`, `::1` or `localhost`: another name can have any address, and another one tomorrow.
  package var isLocal: Bool {
    switch self {
    case .tcp(let host, let port):
      host == "localhost" || (try? SocketAddress(ipAddress: host, port: port))?.isLoopback == true
    case .unix, .serial, .hci: true
    }
  }
}
