import BluetoothAdapters
import BluetoothAir
import BluetoothBonds
import BluetoothDaemon
import BluetoothLab
import BluetoothServer
import BluetoothTransport
import BluetoothTypes
import NIOCore

/// Makes the adapters of a server. The simulated ones are devices of one air, so that apps on them meet.
struct AdapterMaker {
  /// The air; nil: no adapter is simulated. It ends with its last reference.
  private(set) var world: World?
  private var population: WorldPopulation?
  private let worldFile: WorldFile?
  private let bonds: String?
  private let policy: PlatformPolicy
  /// Returns the settings of an adapter with a name.
  private let serving: (String) -> ServingOptions
  /// Runs the adapters with external controllers.
  private let loop: any EventLoop
  private var virtualCount = 0

  init(
    worldFile: WorldFile?, bonds: String?, policy: PlatformPolicy, on loop: any EventLoop,
    serving: @escaping (String) -> ServingOptions
  ) {
    self.loop = loop
    self.policy = policy
    self.serving = serving
    self.worldFile = worldFile
    self.bonds = bonds
  }

  /// Makes an adapter, which is on or tries to be from now on.
  mutating func make(_ option: AdapterOption) throws -> ServedAdapter {
    guard !option.isSimulated else { return ServedAdapter(name: option.name, adapter: makeDevice(option.name).adapter) }
    var context = AdapterContext()
    (context.name, context.policy, context.bondFolder) = (option.name, policy, bonds)
    (context.serving, context.loop) = (serving(option.name), loop)
    do throws(AdapterError) {
      return ServedAdapter(name: option.name, adapter: try option.specifier.makeAdapter(context))
    } catch {
      throw Failure(error.description)
    }
  }

  private mutating func makeDevice(_ name: String) -> Device {
    if world == nil {
      let world = World(seed: worldFile?.seed ?? UInt64.random(in: .min ... .max), time: .real(speed: 1))
      self.world = world
      population = worldFile?.populate(world)
    }
    guard let world else { fatalError("the air was just made") }
    let place = worldFile.flatMap { virtualCount < $0.clients.count ? $0.clients[virtualCount] : nil }
    var options = place?.options ?? DeviceOptions()
    options.policy = policy
    let device = world.makeDevice(
      named: name, options, bondFolder: bonds ?? (try? FileBondStore.defaultFolder()), serving: serving(name))
    population?.place(virtualCount, for: device)
    virtualCount += 1
    return device
  }
}
