import BluetoothAdapters
import BluetoothAir
import BluetoothDaemon
import BluetoothLab
import NIOConcurrencyHelpers

/// Opens the world of a file for this program.
enum WorldOpener {
  /// The open worlds. This array keeps them alive, because adapters do not retain their world.
  private static let worlds = NIOLockedValueBox<[World]>([])

  /// Reads the file, starts its world in real time, and adds a device for this program: with the name and the position
  /// of the first entry of the file's `clients`, or at the origin.
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
