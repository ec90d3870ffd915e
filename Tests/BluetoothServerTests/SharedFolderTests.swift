import BluetoothDaemon
import BluetoothLab
import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothServer

/// A client of sessions that ignores all events.
private final class IgnoringCentral: CentralClient {
  func receive(_ event: CentralEvent) {}
}

/// Two servers whose adapters have one folder for bonds and sessions.
@Suite("Servers that share a folder", .timeLimit(.minutes(10)))
struct SharedFolderTests {
  /// Runs a second server for a moment, in which an app has a session that a server preserves.
  private func runServer(bondsIn folder: String) {
    let world = World(seed: 2, time: .real(speed: 1))
    var options = DeviceOptions()
    options.policy = .open
    let serving = ServingOptions(.allow, shares: AppShares(), adapter: "phone", questions: UserQuestions())
    let device = world.makeDevice(named: "phone", options, bondFolder: folder, serving: serving)
    let server = DaemonServer([ServedAdapter(name: "phone", adapter: device.adapter)], limits: .patient)
    let client = IgnoringCentral()
    let session = device.adapter.openCentralSession(
      for: client, owner: SessionOwner(app: "remote", restoreIdentifier: "remote"))
    server.stop()
    withExtendedLifetime((world, client, session)) {}
  }

  @Test("The second server leaves the sessions of the first one as they are, and a later one goes on with them")
  func sessions() async throws {
    let bench = try AppBench(.open)
    let folder = bench.bench.folder.file("bonds")
    let torch = bench.start("torch", restoring: "light")
    try await torch.subscribe(to: try await torch.find())
    try await bench.stored(wasRunning: true)
    let file = folder + "/phone/sessions.json"
    runServer(bondsIn: folder)
    let stored = try String(contentsOfFile: file, encoding: .utf8)
    #expect(stored.contains("\"torch\"") && !stored.contains("\"remote\""))
    // The first server's place is free after its end.
    bench.bench.server.stop()
    runServer(bondsIn: folder)
    let last = try String(contentsOfFile: file, encoding: .utf8)
    #expect(last.contains("\"torch\"") && last.contains("\"remote\""))
  }
}
