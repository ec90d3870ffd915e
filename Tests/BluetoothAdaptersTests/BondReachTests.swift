import BluetoothBonds
import BluetoothCrypto
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// Bonds that one program changes while another one uses the adapter.
@Suite(.timeLimit(.minutes(10)))
struct BondReachTests {
  private static let identifier = PeerIdentifier(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)
  private static let device = "C0:11:22:33:44:55"

  /// The thread of the programs with an adapter. It has no other work: `ble bonds` waits only 4 s for such a program.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private let record: BondRecord = {
    var bond = HostBond(identity: DeviceAddress(0xC0_11_22_33_44_55, .random))
    bond.key = LongTermKey(Block(high: 1, low: 2), isAuthenticated: false, isSecureConnections: true)
    return BondRecord(bond, identifier: Self.identifier)
  }()

  private func store(_ folder: TemporaryFolder) -> FileBondStore {
    FileBondStore(folder: folder.file("bonds"), adapter: "hci")
  }

  /// Claims the folder as a program does that uses the adapter.
  private func claim(_ folder: TemporaryFolder) throws -> FileBondStore {
    try FileBondStore.claimed(folder: folder.file("bonds"), adapter: "hci")
  }

  /// Runs `ble bonds` with these arguments on the folder.
  private func ble(_ arguments: [String], _ folder: TemporaryFolder) async throws -> Program.Ending {
    try await Program.run("ble", ["bonds"] + arguments + ["--folder", folder.file("bonds")])
  }

  @Test("An app's program takes in what `ble bonds` changes while it runs, and `ble bonds` says so")
  func runningProgram() async throws {
    let (folder, origin) = (try TemporaryFolder(), try TemporaryFolder())
    defer {
      folder.remove()
      origin.remove()
    }
    try store(origin).save(record)
    let file = folder.file("bond.json")
    #expect(try await ble(["export", Self.device, "--output", file], origin).status == 0)

    let state = RemoteController.SharedState()
    let listener = try await H4Listener.bind(
      .tcp(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton
    ) { state.makeLink() }.get()
    var configuration = DaemonConfiguration(name: "shared", host: HostConfiguration(deviceName: "Shared"))
    configuration.bonds = try claim(folder)
    var app = DistantApp(
      TransportAdapter(configuration, to: listener.specifier, on: Self.group.next()))
    #expect(await app.nextState() == .poweredOn)
    #expect(app.adapter.directory.peer(Self.identifier) == nil)

    let ending = try await ble(["import", file, "--adapter", "hci"], folder)
    #expect(
      ending.output == "imported \(Self.device)\nthe running program that uses the adapter has applied the change\n")
    #expect(ending.errors.isEmpty && ending.status == 0)
    #expect(app.adapter.directory.peer(Self.identifier) != nil)
    try await listener.close().get()
  }

  @Test("An app's program forgets a bond that `ble bonds forget` removes while it runs, and `ble bonds` says so")
  func forgetting() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let state = RemoteController.SharedState()
    let listener = try await H4Listener.bind(
      .tcp(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton
    ) { state.makeLink() }.get()
    var configuration = DaemonConfiguration(name: "shared", host: HostConfiguration(deviceName: "Shared"))
    let claimed = try claim(folder)
    try claimed.save(record)
    configuration.bonds = claimed
    var app = DistantApp(
      TransportAdapter(configuration, to: listener.specifier, on: Self.group.next()))
    #expect(await app.nextState() == .poweredOn)
    let peer = try #require(app.adapter.directory.peer(Self.identifier))
    #expect(app.adapter.directory.bond(with: peer.handle) != nil)

    let ending = try await ble(["forget", Self.device], folder)
    #expect(
      ending.output == "removed \(Self.device)\nthe running program that uses the adapter has applied the change\n")
    #expect(ending.errors.isEmpty && ending.status == 0)
    #expect(app.adapter.directory.bond(with: peer.handle) == nil)
    try await listener.close().get()
  }

  @Test("`ble bonds forget` fails while another program holds the lock of the folder, and keeps the bond")
  func heldLock() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try store(folder).save(record)
    let descriptor = open(store(folder).path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A child process that another test has just forked may have inherited an earlier lock, so this waits for it.
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
    let refused = try await ble(["forget", Self.device], folder)
    #expect(refused.output.isEmpty && refused.status == 1)
    #expect(refused.errors.hasPrefix("ble: ") && refused.errors.hasSuffix("another program holds the lock\n"))
    #expect(try store(folder).look().records.count == 1)
    close(descriptor)
    let ending = try await ble(["forget", Self.device], folder)
    #expect(ending.output == "removed \(Self.device)\n" && ending.status == 0)
    #expect(try store(folder).look().records.isEmpty)
  }

  @Test("`ble bonds` says if the program that uses the adapter does not apply the change")
  func deafProgram() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let claimed = try claim(folder)
    try store(folder).save(record)
    let ending = try await ble(["forget", Self.device], folder)
    #expect(ending.output == "removed \(Self.device)\n")
    #expect(ending.errors.hasSuffix("has not applied the change: restart that program\n"))
    #expect(ending.status == 0)
    withExtendedLifetime(claimed) {}
  }

  @Test("`ble bonds` says nothing of programs if none uses the adapter, and that a simulated device is not notified")
  func noProgram() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try store(folder).save(record)
    // Only programs with a real adapter claim its folder.
    let simulated = try await ble(["forget", Self.device], folder)
    #expect(simulated.output == "removed \(Self.device)\n")
    #expect(simulated.errors.contains("a running program simulates a device with these bonds"))
    var claimed: FileBondStore? = try claim(folder)
    try claimed?.save(record)
    claimed = nil
    let unused = try await ble(["forget", Self.device], folder)
    #expect(unused.output == "removed \(Self.device)\n")
    #expect(unused.errors.isEmpty && unused.status == 0)
  }
}
