import BluetoothBonds
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The device in this process's own world, which runs with the wall clock as long as the process lives.
final class RealTimeDevice: Sendable {
  let adapter: VirtualAdapter
  private let runner: RealTimeRunner

  /// The environment variable that names a folder for its bonds, which it then keeps from one run to the next, as it does
  /// who it is.
  static let bondsVariable = "COREBLUETOOTH_BONDS"

  init(name: String) {
    // A process's own world has nothing to repeat: its seed is chance.
    runner = RealTimeRunner(WorldEngine(seed: UInt64.random(in: .min ... .max)))
    var configuration = VirtualDeviceConfiguration(name: name, position: GridPosition(x: 0))
    // Nothing of it has to repeat.
    configuration.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    // Whoever runs the program is its user.
    configuration.prompts = PromptsSetting.ofProcess.makePrompts()
    if let folder = SystemFiles.environment(Self.bondsVariable), !folder.isEmpty {
      configuration.bonds = FileBondStore(folder: folder, adapter: name)
      configuration.hasLastingIdentity = true
    }
    adapter = VirtualAdapter(
      configuration, in: runner.mailbox, deliversInPlace: false,
      epoch: WallClock.secondsSince2001, environment: DeviceEnvironment())
  }
}
