import BluetoothAdapters
import BluetoothAir
import BluetoothDaemon
import BluetoothLab
import NIOConcurrencyHelpers

/// Opens the world of a file for this program.
enum WorldOpener {
  /// The open worlds. This array keeps them alive, because adapters do not retain their world.
  private static let worlds = NIOLockedValueBox<[World]>([])

  /// Reads the file, starts its world in real time, and adds a device for this program.
  static func open(_ path: String) throws(WorldFileAdapter.Failure) -> any Adapter {
    let file: WorldFile
    do throws(WorldFileFailure) { file = try WorldFile(path: path) } catch {
      throw WorldFileAdapter.Failure(error.description)
    }
    let (world, device) = file.makeWorld(time: .real(speed: 1), client: "app")
    worlds.withLockedValue { $0.append(world) }
    return device.adapter
  }
}

/// Called by a C function when the program starts, before `main`.
@_cdecl("coreBluetoothWorldRegister")
func register() { WorldFileAdapter.setOpener { path throws(WorldFileAdapter.Failure) in try WorldOpener.open(path) } }
