import BluetoothBonds
import BluetoothDaemon
import BluetoothHost

extension DaemonConfiguration {
  /// The environment variable that names another folder for bonds than the one in the user's data.
  private static let bondsVariable = RealTimeDevice.bondsVariable

  /// A real device that this process uses, as its environment describes it.
  ///
  /// Bonds are kept by the adapter's name, and not by its controller's address: the device is known to its peers by an
  /// address that is kept with them, whichever controller is there, and it has that before any is.
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
      DaemonLog.note("bonds are forgotten with this process: \(error)", of: adapter)
    }
    return result
  }

  /// Keeps bonds, and who the device is, in a folder of that folder that no other program has. If that is not the adapter's
  /// first the log says so: peers know the device of this program by another address.
  mutating func claimBonds(in folder: String) {
    let store: FileBondStore
    do throws(BondStoreError) {
      store = try .claimed(folder: folder, adapter: name)
      if store.number > 1 {
        DaemonLog.tell(
          "another program uses this adapter: this one is another device to its peers, with bonds of its own in"
            + " \(store.path)", of: name)
      }
    } catch {
      store = FileBondStore(folder: folder, adapter: name)
      DaemonLog.note("it may be the same device to its peers as another program: \(error)", of: name)
    }
    bonds = store
    hasLastingIdentity = true
  }

  /// What the user knows the app by.
  private static var programName: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "this program"
  }
}
