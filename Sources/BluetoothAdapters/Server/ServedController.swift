import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import NIOCore

extension TransportAdapter {
  /// Creates the adapter of a server with an external controller.
  ///
  /// - Parameters:
  ///   - name: the name of the adapter, in the log and among the bonds.
  ///   - folder: the folder for bonds; nil: the default one of this user.
  ///   - policy: the rules for apps.
  ///   - serving: the settings of the server.
  ///   - loop: the event loop that runs the adapter.
  package convenience init(
    serving specifier: TransportSpecifier, name: String, bondsIn folder: String?, policy: PlatformPolicy,
    serving: ServingOptions = ServingOptions(), on loop: any EventLoop
  ) {
    var configuration = DaemonConfiguration(
      name: name, host: HostConfiguration(deviceName: SystemFiles.machineName ?? "Linux"))
    configuration.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    configuration.policy = policy
    configuration.prompts = PromptsSetting.ofProcess.makePrompts()
    configuration.apply(serving)
    do throws(BondStoreError) {
      let folder = if let folder { folder } else { try FileBondStore.defaultFolder() }
      configuration.claimBonds(in: folder)
    } catch {
      DaemonLog.note("bonds are lost when this process ends: \(error)", of: name)
    }
    self.init(configuration, to: specifier, on: loop)
  }
}
