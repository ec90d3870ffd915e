import BluetoothBonds
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothTransport
import BluetoothWire

/// A device in a separate world, in which it is the only device. The world runs in real time until the process ends.
final class RealTimeDevice: Sendable {
  let adapter: VirtualAdapter
  private let runner: RealTimeRunner

  /// The environment variable that names a folder for bonds. If it is set, the device keeps its bonds and its identity
  /// across runs.
  static let bondsVariable = "COREBLUETOOTH_BONDS"

  /// The folder of that variable; nil: it is not set or empty.
  static var bondFolder: String? { SystemProcess.variable(bondsVariable).flatMap { $0.isEmpty ? nil : $0 } }

  init(name: String) {
    // The seed is random, because runs of this world need not be reproducible.
    runner = RealTimeRunner(WorldEngine(seed: UInt64.random(in: .min ... .max)))
    var configuration = VirtualDeviceConfiguration(name: name, position: GridPosition(x: 0))
    // Keys need not be reproducible either.
    configuration.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    // The user who runs the program is the device's user.
    configuration.prompts = PromptsSetting.ofProcess.makePrompts()
    if let folder = Self.bondFolder {
      configuration.bonds = FileBondStore(folder: folder, adapter: name)
      configuration.hasLastingIdentity = true
    }
    adapter = VirtualAdapter(
      configuration, in: runner.requestQueue, deliversInPlace: false,
      epoch: WallClock.secondsSince2001, environment: DeviceEnvironment())
  }
}
