import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import NIOCore
import NIOPosix

/// The settings with which an adapter is made. Without any, they are those of a program that has the adapter for
/// itself.
package struct AdapterContext: Sendable {
  /// The name of the adapter, in the log and among the bonds; nil: its specifier.
  package var name: String?
  /// The rules for apps.
  package var policy = PlatformPolicy.macos
  /// The folder for bonds; nil: the default one.
  package var bondFolder: String?
  /// The settings of the server that shares the adapter; nil: none does.
  package var serving: ServingOptions?
  /// The event loop that runs the adapter; nil: a separate thread.
  package var loop: (any EventLoop)?

  package init() {}

  func makeLoop() -> any EventLoop { loop ?? MultiThreadedEventLoopGroup(numberOfThreads: 1).next() }
}

extension DaemonConfiguration {
  /// Creates the configuration of a device with an external controller.
  ///
  /// Bonds are stored under the adapter's name, not under the controller's address: the store contains the device's
  /// address, which does not depend on the controller and is known before a controller is connected.
  init(_ context: AdapterContext, for specifier: some AdapterSpecifier) {
    self.init(
      name: context.name ?? "\(specifier)", host: HostConfiguration(deviceName: SystemFiles.machineName ?? "Linux"))
    host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    policy = context.policy
    prompts = PromptsSetting.ofProcess.makePrompts()
    var folder = context.bondFolder
    if let serving = context.serving {
      apply(serving)
    } else {
      app = SystemProcess.programName
      folder = folder ?? FileBondStore.namedFolder
    }
    do throws(BondStoreError) {
      let folder = if let folder { folder } else { try FileBondStore.defaultFolder() }
      claimBonds(in: folder, of: specifier.kind)
    } catch {
      DaemonLog.note("bonds are lost when this process ends: \(error)", of: name)
    }
  }

  /// Keeps bonds and identity in a subfolder of `folder` that no other program is using. Logs a line if another program
  /// uses the adapter's first subfolder: to peers, this program is then a different device with a different address.
  ///
  /// - Parameter kind: the place of the controller. The socket of an air has a controller for each program. There,
  ///   several programs are usual, so the line is a detail for developers.
  mutating func claimBonds(in folder: String, of kind: AdapterKind) {
    let store: FileBondStore
    do throws(BondStoreError) {
      store = try .claimed(folder: folder, adapter: name)
      if store.number > 1 {
        let line =
          "another program uses this adapter; to peers, this program is a different device, with separate bonds in"
          + " \(store.path)"
        if kind == .remote { DaemonLog.trace(line, of: name) } else { DaemonLog.tell(line, of: name) }
      }
    } catch {
      store = FileBondStore(folder: folder, adapter: name)
      DaemonLog.note("another program may use the same identity and bonds: \(error)", of: name)
    }
    bonds = store
    hasLastingIdentity = true
  }
}
