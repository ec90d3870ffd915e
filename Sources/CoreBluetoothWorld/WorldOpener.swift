// Overview
//
// A program for CoreBluetooth that knows nothing of simulations can join a simulated world: the environment variable
// `COREBLUETOOTH_WORLD` names a world file. CoreBluetoothWorld is the piece that makes this work for any program that
// links it.
//
// The idea: the reader of world files is above CoreBluetooth (in BluetoothAir), so CoreBluetooth can't call it. This
// module registers a function with BluetoothAdapters' `WorldFileAdapter` before `main` runs, by a constructor in the C
// target CCoreBluetoothWorld. An app so needs no code: linking is enough.
//
// Callers: CCoreBluetoothWorld calls `register` at the start of the process; `WorldFileAdapter` calls `open` when the
// first manager without another adapter is created. The module calls BluetoothAir's `WorldFile`, and BluetoothLab's
// world behind it.
//
// Invariants:
// - The module has no interface: nothing is public.
// - There is one reader of world files, BluetoothAir's; this module adds no rule.
// - The world lives as long as the process, because an adapter does not retain its world.
// - `register` only stores a function. Nothing else may happen before `main`.
//
// Where to begin: this file; `WorldFileAdapter.swift` in BluetoothAdapters is the other half.
//
// Specification: none. Documentation/World-files.md is for users.

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
