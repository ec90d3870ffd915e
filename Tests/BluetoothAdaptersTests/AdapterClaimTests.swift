import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothAdapters

/// Adapters that keep their bonds in one folder.
@Suite(.timeLimit(.minutes(10)))
final class AdapterClaimTests {
  private static let adapter = "tcp:127.0.0.1:6402"
  private let folder: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("claims-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    folder = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Claims the adapter's folder for the duration of the call and returns its number.
  private func claimedNumber() throws -> Int {
    try FileBondStore.claimed(folder: folder, adapter: Self.adapter).number
  }

  @Test("An adapter claims its folder for as long as the adapter is in use")
  func adapters() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let state = RemoteController.SharedState()
    let listener = try await H4Listener.bind(.tcp(host: "127.0.0.1", port: 0), on: group) { state.makeLink() }.get()
    var endings = state.closed.makeAsyncIterator()
    let loop = group.next()
    func app() -> (app: DistantApp, store: String) {
      var configuration = DaemonConfiguration(name: Self.adapter, host: HostConfiguration(deviceName: "Claimed"))
      configuration.claimBonds(in: folder, of: .local)
      let store = (configuration.bonds as? FileBondStore)?.path ?? ""
      return (DistantApp(TransportAdapter(configuration, to: listener.specifier, on: loop)), store)
    }
    do {
      var (first, second) = (app(), app())
      #expect(second.store == first.store + "+2")
      #expect(await first.app.nextState() == .poweredOn)
      #expect(await second.app.nextState() == .poweredOn)
      #expect(try claimedNumber() == 3)
    }
    for _ in 0..<2 { #expect(await endings.next() == 0) }
    // The folders are released once the event loop has finished its pending work. A process that another test has just
    // started holds them, too, until it runs its own program.
    while !Task.isCancelled, try claimedNumber() != 1 { try await loop.submit {}.get() }
    try await listener.close().get()
  }

  @Test(
    "The log tells that another program uses the adapter, and on the socket of an air only developers",
    arguments: [
      (TransportSpecifier.tcp(host: "127.0.0.1", port: 6402), "debug"), (.unix(path: "/tmp/air"), "debug"),
      (.hci(7), "notice"), (.serial(device: "/dev/ttyS0", baud: 9_600), "notice"),
    ])
  func notices(adapter: TransportSpecifier, level: String) throws {
    let log = LogRecorder()
    func configuration() -> DaemonConfiguration {
      var configuration = DaemonConfiguration(name: "\(adapter)", host: HostConfiguration(deviceName: "Claimed"))
      configuration.claimBonds(in: folder, of: adapter.kind)
      return configuration
    }
    let (first, second) = (configuration(), configuration())
    let path = try #require((second.bonds as? FileBondStore)?.path)
    #expect(log.levels(ofLinesContaining: "different device, with separate bonds in \(path)") == [level])
    // The first one uses its folder until here.
    withExtendedLifetime(first) {}
  }
}
