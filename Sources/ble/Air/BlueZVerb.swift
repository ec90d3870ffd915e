import ArgumentParser
import BluetoothAdapters
import BluetoothAir
import BluetoothBlueZ
import BluetoothDBus
import BluetoothDaemon
import BluetoothLab
import BluetoothTypes
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The verb that serves BlueZ's D-Bus interface in a simulated world.
struct BlueZVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bluez",
    abstract: "Runs a command that finds BlueZ's D-Bus interface with a simulated world behind it.",
    discussion: """
      The command finds org.bluez on a bus of its own, which DBUS_SYSTEM_BUS_ADDRESS names: for programs with bleak, \
      bluetoothctl, browsers and other clients of BlueZ. It needs no root, and no Bluetooth of the machine. The exit \
      status is that of the command. Without a command, the verb prints the address of the bus and serves until it is \
      interrupted.
      """
  )
  .examples("ble bluez --world gym -- bluetoothctl", "ble bluez --world gym -- python3 -m pytest")

  @Option(
    help: ArgumentHelp(
      "The world: a file (YAML or JSON), or an example: \(ExampleWorlds.list) (default: $COREBLUETOOTH_WORLD).",
      valueName: "file"), completion: .file())
  var world: String?

  @Option(parsing: .unconditional, help: "The seed, in place of that of the file.")
  var seed: UInt64?

  @Option(help: ArgumentHelp("Simulated seconds per second, 0.001 to 1000.", valueName: "factor"))
  var speed = 1.0

  @Option(help: "The number of adapters, 1 to 16. The first ones are the clients of the world file.")
  var adapters = 1

  @Option(
    help: ArgumentHelp("The release of BlueZ whose interface is served: 5.66 to 5.82.", valueName: "release"))
  var release = "5.82"

  @Argument(parsing: .postTerminator, help: "The command and its arguments, behind --.")
  var command: [String] = []

  func validate() throws {
    guard (0.001...1_000).contains(speed) else { throw ValidationError("invalid --speed: expected 0.001 to 1000") }
    guard 1...16 ~= adapters else { throw ValidationError("invalid --adapters: expected 1 to 16") }
    _ = try version
  }

  private var version: BlueZVersion {
    get throws {
      let parts = release.split(separator: ".")
      guard parts.count == 2, parts[0] == "5", let minor = UInt16(parts[1]), 66...82 ~= minor else {
        throw ValidationError("invalid --release \"\(release)\": expected 5.66 to 5.82")
      }
      return BlueZVersion(minor)
    }
  }

  func run() throws {
    let status = try serveAndRun()
    if status != 0 { Foundation.exit(status) }
  }

  /// Serves the interface, and runs the command. Returns its exit status. The ends have an order: the command, the
  /// service with its connection, the bus, the world.
  private func serveAndRun() throws -> Int32 {
    let file = try readWorld()
    let world = World(seed: seed ?? file?.seed ?? 0, time: .real(speed: speed))
    // The world ends with its last reference.
    defer { withExtendedLifetime(world) {} }
    let bus: PrivateBus
    do throws(DBusError) { bus = try PrivateBus.start() } catch {
      throw Failure(error.message, status: ExitStatus.noAdapter)
    }
    defer { bus.stop() }
    let served = makeAdapters(file, in: world)
    // The loop lives as long as the program: events of the world may reach it after the service.
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let version = try version
    let service = try Self.wait { () async throws -> RunningBlueZ in
      try await DBusBlueZBus.serve(on: .address(bus.address), loop: loop) { bus in
        BlueZServer(served, on: loop, bus: bus, version: version)
      }
    }
    defer { Self.waitForEnd { await service.stop() } }
    // A command finds adapters that are on.
    Self.waitForEnd { await service.waitUntilReady() }
    guard !command.isEmpty else {
      try serve(bus.address)
      return 0
    }
    return try CommandRunner.run(command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
  }

  private func readWorld() throws -> WorldFile? {
    let environment = ProcessInfo.processInfo.environment[WorldFileAdapter.environmentVariable] ?? ""
    guard let path = world ?? (environment.isEmpty ? nil : environment) else { return nil }
    do throws(WorldFileFailure) { return try WorldFile(path: path) } catch {
      throw Failure(error, status: ExitStatus.ambiguous)
    }
  }

  /// Adds the devices of the world, and those that the adapters are.
  private func makeAdapters(_ file: WorldFile?, in world: World) -> [ServedBlueZAdapter] {
    var population = file?.populate(world)
    return (0..<adapters).map { number in
      let place = file.flatMap { $0.clients.indices.contains(number) ? $0.clients[number] : nil }
      var options = place?.options ?? DeviceOptions()
      options.policy = PlatformPolicy(name: "bluez")
      // Connections are the choice of clients.
      options.policy.reconnectsInputDevices = false
      // A locally administered address.
      let address = options.address ?? DeviceAddress(0x02_00_00_00_00_01 + UInt64(number), .public)
      options.address = address
      let name = place?.name ?? freeName("bluez-\(number)", in: world)
      let prompts = BlueZPrompts()
      var serving = ServingOptions()
      serving.prompts = { _ in prompts }
      let device = world.makeDevice(named: name, options, bondFolder: nil, serving: serving)
      population?.place(number, for: device)
      return ServedBlueZAdapter(adapter: device.adapter, prompts: prompts, address: address, name: name)
    }
  }

  private func freeName(_ name: String, in world: World) -> String {
    let names = Set(world.deviceNames)
    var name = name
    while names.contains(name) { name += "'" }
    return name
  }

  /// Serves until an interrupt.
  private func serve(_ address: String) throws {
    let end = DispatchSemaphore(value: 0)
    let interrupt = Interrupt { end.signal() }
    defer { withExtendedLifetime(interrupt) {} }
    try say("DBUS_SYSTEM_BUS_ADDRESS=\(address)")
    end.wait()
  }

  /// Waits for asynchronous work on a thread that no task needs.
  private static func wait<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let result = NIOLockedValueBox<Result<Value, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
      result.withLockedValue { $0 = outcome }
      done.signal()
    }
    done.wait()
    guard let outcome = result.withLockedValue({ $0 }) else { throw Failure("the service has not started") }
    do { return try outcome.get() } catch let error as DBusError {
      throw Failure(error.message, status: ExitStatus.noAdapter)
    }
  }

  private static func waitForEnd(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await body()
      done.signal()
    }
    done.wait()
  }
}
