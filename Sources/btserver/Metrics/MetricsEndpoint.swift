import BluetoothAir
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP server whose answer to every request is the text of a registry.
final class MetricsEndpoint: Sendable {
  private let group: MultiThreadedEventLoopGroup
  private let listener: HTTPListener
  /// The port, chosen by the system if 0 was requested.
  var port: Int { listener.port }

  /// Starts to listen.
  init(_ registry: MetricsRegistry, host: String, port: Int) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    do {
      listener = try HTTPListener(host: host, port: port, on: loop) { head in
        loop.makeSucceededFuture(Self.answer(to: head, registry))
      }
    } catch {
      try? group.syncShutdownGracefully()
      throw error
    }
  }

  private static func answer(to head: HTTPRequestHead, _ registry: MetricsRegistry) -> HTTPAnswer {
    guard head.method == .GET || head.method == .HEAD else { return .line(.methodNotAllowed, "method not allowed") }
    guard ["/metrics", "/"].contains(head.uri.prefix { $0 != "?" }) else { return .line(.notFound, "not found") }
    return HTTPAnswer(.ok, type: "text/plain; version=0.0.4", ByteBuffer(string: registry.text))
  }

  func stop() { try? group.syncShutdownGracefully() }
}
