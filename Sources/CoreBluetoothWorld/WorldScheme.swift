// Overview
//
// A program for CoreBluetooth that knows nothing of simulations can join a simulated world: the environment variable
// `COREBLUETOOTH_WORLD` names a world file. CoreBluetoothWorld is the piece that makes this work for any program that
// links it.
//
// The idea: the reader of world files is above CoreBluetooth (in BluetoothAir), so CoreBluetooth can't call it. This
// module registers the scheme of adapters `world` with BluetoothAdapters' `AdapterRegistry` before `main` runs, by a
// constructor in the C target CCoreBluetoothWorld. An app so needs no code: linking is enough.
//
// Callers: CCoreBluetoothWorld calls `register` at the start of the process; the registry asks the scheme for an
// adapter when the first manager is created that names such an adapter, or none. The module calls BluetoothAir's
// `WorldFile`, and BluetoothLab's world behind it.
//
// Invariants:
// - What is public is for tests: a recording from a file, and the page of a world (`WorldPage.swift`). Programs that join
//   a world need none of it.
// - There is one reader of world files, BluetoothAir's; this module adds no rule.
// - The world lives as long as the process, because an adapter does not retain its world.
// - `register` only stores a scheme. Nothing else may happen before `main`.
//
// Where to begin: this file; `WorldFileAdapter.swift` in BluetoothAdapters is the other half.
//
// Specification: none. Documentation/World-files.md is for users.

import BluetoothAdapters
import BluetoothAir
import BluetoothDaemon
import BluetoothLab
import BluetoothTransport
import NIOConcurrencyHelpers

/// The devices of this program in the worlds of files.
struct WorldScheme: AdapterScheme {
  let name = WorldFileAdapter.scheme
  let kind = AdapterKind.simulated
  let form = AdapterForm(
    "world:FILE", example: "world:Examples/Worlds/fitness-room.yaml",
    meaning: "a device for this program in the world of a [world file](World-files.md)",
    requirements: "the product `CoreBluetoothWorld`")

  func read(_ text: String) throws(SpecifierProblem) -> any AdapterSpecifier {
    let path = String(text.dropFirst(name.count + 1))
    guard !path.isEmpty else { throw SpecifierProblem(description: "missing path: expected \(form.syntax)") }
    return WorldSpecifier(path: path)
  }
}

struct WorldSpecifier: AdapterSpecifier {
  let path: String

  var scheme: WorldScheme { WorldScheme() }
  var description: String { "\(scheme.name):\(path)" }

  /// The open worlds. This array keeps them alive, because adapters do not retain their world.
  private static let worlds = NIOLockedValueBox<[World]>([])

  /// Reads the file, starts its world in real time, and adds a device for this program.
  func makeAdapter(_ context: AdapterContext) throws(AdapterError) -> any DaemonAdapter {
    let file: WorldFile
    do throws(WorldFileFailure) { file = try WorldFile(path: path) } catch {
      throw AdapterError(description: error.description)
    }
    let (world, device) = file.makeWorld(time: .real(speed: 1), client: "app")
    Self.worlds.withLockedValue { $0.append(world) }
    return device.adapter
  }
}

/// Called by a C function when the program starts, before `main`.
@_cdecl("coreBluetoothWorldRegister")
func register() { AdapterRegistry.register(WorldScheme()) }
