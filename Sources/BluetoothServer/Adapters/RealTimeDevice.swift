import BluetoothRadio
import BluetoothWire

/// The device in this process's own world, which runs with the wall clock as long as the process lives.
final class RealTimeDevice: Sendable {
  let adapter: VirtualAdapter
  private let runner: RealTimeRunner

  init(name: String) {
    // A process's own world has nothing to repeat: its seed is chance.
    runner = RealTimeRunner(WorldEngine(seed: UInt64.random(in: .min ... .max)))
    var configuration = VirtualDeviceConfiguration(name: name, position: GridPosition(x: 0))
    // Whoever runs the program is its user.
    configuration.prompts = PromptsSetting.ofProcess.makePrompts()
    adapter = VirtualAdapter(
      configuration, in: runner.mailbox, deliversInPlace: false,
      epoch: WallClock.secondsSince2001, environment: DeviceEnvironment())
  }
}
