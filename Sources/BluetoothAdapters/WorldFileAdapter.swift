import BluetoothDaemon
import NIOConcurrencyHelpers

/// The adapter of a program whose environment names a world file: a device of that world.
///
/// The reader of world files is above this module: `CoreBluetoothWorld` sets it when a program that contains it starts.
package enum WorldFileAdapter {
  /// The environment variable with the path of the world file.
  package static let environmentVariable = "COREBLUETOOTH_WORLD"

  /// The reason why there is no adapter.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
  }

  /// Opens the world of a file and returns the device of this program.
  package typealias Opener = @Sendable (_ path: String) throws(Failure) -> any Adapter

  private struct State {
    var opener: Opener?
    /// The devices by path, or the reasons why there are none. Each file is opened once in a process.
    var opened: [String: Result<any Adapter, Failure>] = [:]
  }

  private static let state = NIOLockedValueBox(State())

  /// Sets the reader of world files.
  package static func setOpener(_ opener: @escaping Opener) { state.withLockedValue { $0.opener = opener } }

  /// Returns this program's device in the world of a file. All managers of the program share it.
  package static func adapter(forFile path: String) -> Result<any Adapter, Failure> {
    state.withLockedValue { state in
      if let opened = state.opened[path] { return opened }
      guard let opener = state.opener else {
        return .failure(
          Failure(
            "this program can't read world files: add the product CoreBluetoothWorld to its dependencies, or run"
              + " \"ble air --world \(path)\" and name its address in COREBLUETOOTH_ADAPTER"))
      }
      let result: Result<any Adapter, Failure>
      do throws(Failure) { result = .success(try opener(path)) } catch { result = .failure(error) }
      state.opened[path] = result
      return result
    }
  }
}
