import BluetoothAdapters
import BluetoothAir
import BluetoothDaemon
import BluetoothLab
import NIOConcurrencyHelpers

/// The device of this program in the world of a file.
enum WorldOpener {
  /// The open worlds. A world ends with its last reference, and adapters do not have one.
  private static let worlds = NIOLockedValueBox<[World]>([])

  /// Reads the file, starts its world in real time, and adds the device of this program: at the place of the file's
  /// first host, or at the origin.
  static func open(_ path: String) throws(WorldFileAdapter.Failure) -> any Adapter {
    let file: WorldFile
    do throws(WorldFileFailure) { file = try WorldFile(path: path) } catch {
      throw WorldFileAdapter.Failure(error.description)
    }
    let world = World(seed: file.seed ?? 0, time: .real(speed: 1))
    var population = file.populate(world)
    let place = file.clients.first
    let device = world.makeDevice(named: place?.name ?? freeName(in: world), place?.options ?? DeviceOptions())
    population.place(0, for: device)
    worlds.withLockedValue { $0.append(world) }
    return device.adapter
  }

  /// Returns a name that no device of the world has.
  private static func freeName(in world: World) -> String {
    let names = Set(world.deviceNames)
    var name = "app"
    while names.contains(name) { name += "'" }
    return name
  }
}

/// Called by a C function when the program starts, before `main`.
@_cdecl("coreBluetoothWorldRegister")
func register() { WorldFileAdapter.setOpener { path throws(WorldFileAdapter.Failure) in try WorldOpener.open(path) } }
