import BluetoothBonds
import BluetoothDaemon
import BluetoothHost

extension DaemonConfiguration {
  /// The environment variable that names a folder for bonds in place of the one in the user's data.
  private static let bondsVariable = RealTimeDevice.bondsVariable

  /// Returns the configuration of a real device that this process uses, as set by environment variables.
  ///
  /// Bonds are stored by the adapter's name, not by its controller's address: the device has the same stored address
  /// with every controller, and has it before any controller is connected.
  static func ofProcess(adapter: String) -> DaemonConfiguration {
    var result = DaemonConfiguration(
      name: adapter, host: HostConfiguration(deviceName: SystemFiles.machineName ?? "Linux"))
    result.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    result.prompts = PromptsSetting.ofProcess.makePrompts()
    result.app = programName
    do throws(BondStoreError) {
      let named = SystemFiles.environment(bondsVariable) ?? ""
      let folder = named.isEmpty ? try FileBondStore.defaultFolder() : named
      result.claimBonds(in: folder)
    } catch {
      DaemonLog.note("bonds are lost when this process ends: \(error)", of: adapter)
    }
    return result
  }

  /// Keeps bonds and identity in a subfolder of `folder` that no other program uses. If it is not the adapter's first
  /// subfolder, the log says so: peers know this program's device by another address.
  mutating func claimBonds(in folder: String) {
    let store: FileBondStore
    do throws(BondStoreError) {
      store = try .claimed(folder: folder, adapter: name)
      if store.number > 1 {
        DaemonLog.tell(
          "another program uses this adapter; to peers, this program is a different device, with separate bonds in"
            + " \(store.path)", of: name)
      }
    } catch {
      store = FileBondStore(folder: folder, adapter: name)
      DaemonLog.note("another program may use the same identity and bonds: \(error)", of: name)
    }
    bonds = store
    hasLastingIdentity = true
  }

  /// The app's name, as the user knows it.
  private static var programName: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "this program"
  }
}
