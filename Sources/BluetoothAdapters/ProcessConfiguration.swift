import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import NIOConcurrencyHelpers

extension DaemonConfiguration {
  /// The environment variable that names the folder for bonds (default: a folder in the user's data folder).
  private static let bondsVariable = RealTimeDevice.bondsVariable

  /// Returns the configuration of a device with an external controller, as set by this process's environment variables.
  ///
  /// Bonds are stored under the adapter's name, not under the controller's address: the store contains the device's
  /// address, which does not depend on the controller and is known before a controller is connected.
  static func ofProcess(adapter: String) -> DaemonConfiguration {
    var result = DaemonConfiguration(
      name: adapter, host: HostConfiguration(deviceName: SystemFiles.machineName ?? "Linux"))
    result.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    result.prompts = PromptsSetting.ofProcess.makePrompts()
    result.app = programName
    result.policy.reconnectsInputDevices = AdapterRegistry.reconnectsInputDevices.withLockedValue { $0 }
    do throws(BondStoreError) {
      let named = SystemFiles.environment(bondsVariable) ?? ""
      let folder = named.isEmpty ? try FileBondStore.defaultFolder() : named
      result.claimBonds(in: folder)
    } catch {
      DaemonLog.note("bonds are lost when this process ends: \(error)", of: adapter)
    }
    return result
  }

  /// Keeps bonds and identity in a subfolder of `folder` that no other program is using. Logs a line if another program
  /// uses the adapter's first subfolder: to peers, this program is then a different device with a different address. On
  /// an air, where several programs are usual, the line is a detail for developers.
  mutating func claimBonds(in folder: String) {
    let store: FileBondStore
    do throws(BondStoreError) {
      store = try .claimed(folder: folder, adapter: name)
      if store.number > 1 {
        let line =
          "another program uses this adapter; to peers, this program is a different device, with separate bonds in"
          + " \(store.path)"
        if isOnSocket { DaemonLog.trace(line, of: name) } else { DaemonLog.tell(line, of: name) }
      }
    } catch {
      store = FileBondStore(folder: folder, adapter: name)
      DaemonLog.note("another program may use the same identity and bonds: \(error)", of: name)
    }
    bonds = store
    hasLastingIdentity = true
  }

  /// True if the adapter is named by the socket of an air, which has a controller for each program.
  private var isOnSocket: Bool {
    switch try? TransportSpecifier(name) {
    case .tcp?, .unix?: true
    default: false
    }
  }

  /// The name of the program file, which prompts show to the user.
  static var programName: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "this program"
  }
}
