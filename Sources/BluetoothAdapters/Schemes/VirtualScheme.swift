#if AllAdapters
  import BluetoothBonds
  import BluetoothDaemon
  import BluetoothHost
  import BluetoothRadio
  import BluetoothSimulation
  import BluetoothTransport
  import BluetoothWire

  /// The adapter that is alone in a simulated world of its process.
  package struct VirtualScheme: AdapterScheme {
    package let name = "virtual"
    package let kind = AdapterKind.simulated
    package let form = AdapterForm(
      "virtual", example: "virtual", meaning: "a device in a simulated world inside this process; the default",
      requirements: "none")

    package func knownAdapters(of machine: Machine) -> [any AdapterSpecifier] { [VirtualSpecifier()] }

    package func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier {
      guard text == name else { throw SpecifierProblem(description: "expected \(form.syntax)") }
      return VirtualSpecifier()
    }
  }

  package struct VirtualSpecifier: AdapterSpecifier {
    package init() {}

    package var scheme: VirtualScheme { VirtualScheme() }
    package var description: String { scheme.name }

    /// The device of this process, created when a manager first uses it.
    private static let ownDevice = RealTimeDevice(name: VirtualScheme().name)

    package func checks(on machine: Machine) -> [AdapterCheck] {
      [
        AdapterCheck(
          "surroundings", .warning, "the adapter \"virtual\" is alone in its world",
          remedy:
            "join a world with --world FILE, an air with --adapter unix:PATH, or use a controller: --adapter hci:0")
      ]
    }

    package func makeAdapter(_ context: AdapterContext) -> any DaemonAdapter { Self.ownDevice.adapter }
  }

  /// A device in a separate world, in which it is the only device. The world runs in real time until the process ends.
  private final class RealTimeDevice: Sendable {
    let adapter: VirtualAdapter
    private let runner: RealTimeRunner

    init(name: String) {
      // The seed is random, because runs of this world need not be reproducible.
      let engine = WorldEngine(seed: UInt64.random(in: .min ... .max))
      let bound = engine.bound
      runner = RealTimeRunner(engine)
      var configuration = VirtualDeviceConfiguration(name: name, position: GridPosition(x: 0))
      // Keys need not be reproducible either.
      configuration.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
      // The user who runs the program is the device's user.
      configuration.prompts = PromptsSetting.ofProcess.makePrompts()
      if let folder = FileBondStore.namedFolder {
        configuration.bonds = FileBondStore(folder: folder, adapter: name)
        configuration.hasLastingIdentity = true
      }
      adapter = VirtualAdapter(
        configuration, in: runner.requestQueue, deliversInPlace: false,
        epoch: WallClock.secondsSince2001, environment: DeviceEnvironment(in: bound))
    }
  }
#endif
