import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// What stands above a controller, virtual or real: host and service, and who the device is.
package struct ServiceConfiguration: Sendable {
  /// What the log calls the device.
  package var name: String
  package var host: HostConfiguration
  /// Which system it is like.
  package var profile = SystemProfile.apple
  /// Who asks the user.
  package var prompts: any Prompts = AutomaticPrompts.accepting
  /// Where bonds are kept.
  package var bonds: any BondStore = MemoryBondStore()
  /// Whom the user is asked about before any app may use the device; nil: nobody is asked.
  package var app: String?
  /// The device is who it was in other runs: its address and its identity key are kept with its bonds.
  package var hasLastingIdentity = false

  package init(name: String, host: HostConfiguration) {
    self.name = name
    self.host = host
  }

  /// What its user has said of the app in a run before, for answers before the service is there.
  var knownAccess: AppAccess {
    guard let app else { return .allowed }
    let isAllowed = try? bonds.access(of: app)
    return isAllowed.map { $0 ? .allowed : .denied } ?? .undetermined
  }

  /// - Parameter generator: the device's own chance.
  func makeService(
    generator: SplitGenerator, pool: PacketPool, mailbox: Mailbox, directory: PeerDirectory
  ) -> Service {
    var hostConfiguration = host
    hostConfiguration.pairing.ioCapability = prompts.ioCapability
    hostConfiguration.pairing.asksForAuthentication = true
    hostConfiguration.pairing.isBonding = profile.alwaysBonds
    if hasLastingIdentity { recallIdentity(&hostConfiguration, generator) }
    let host = Host(configuration: hostConfiguration, random: generator.split("host"), pool: pool)
    return Service(
      host: host, mailbox: mailbox, directory: directory, random: generator.split("service"),
      identityKey: hasLastingIdentity ? hostConfiguration.identityKey : nil, prompts: prompts, bonds: bonds, app: app)
  }

  /// The device is who it was. If that can't be read, no peer will know it again, and the log says so.
  private func recallIdentity(_ host: inout HostConfiguration, _ generator: SplitGenerator) {
    var chance = host.keyGenerator(else: generator.split("identity"))
    do throws(BondStoreError) {
      let secrets = try bonds.secrets { AdapterSecrets.make(needsAddress: true, using: &chance) }
      host.address = secrets.identity
      host.identityKey = secrets.identityKey
    } catch {
      ServiceLog.note("it is another device to its peers: \(error)", of: name)
    }
  }
}

extension ServiceConfiguration {
  /// The environment variable that names another folder for bonds than the one in the user's data.
  private static let bondsVariable = RealTimeDevice.bondsVariable

  /// A real device that this process uses, as its environment describes it.
  ///
  /// Bonds are kept by the adapter's name, and not by its controller's address: the device is known to its peers by an
  /// address that is kept with them, whichever controller is there, and it has that before any is.
  static func ofProcess(adapter: String) -> ServiceConfiguration {
    var result = ServiceConfiguration(
      name: adapter, host: HostConfiguration(deviceName: SystemFiles.machineName ?? "Linux"))
    result.host.keyGenerator = KeyGenerator(SystemRandomNumberGenerator())
    result.prompts = PromptsSetting.ofProcess.makePrompts()
    result.app = programName
    do throws(BondStoreError) {
      let named = SystemFiles.environment(bondsVariable) ?? ""
      let folder = named.isEmpty ? try FileBondStore.defaultFolder() : named
      result.claimBonds(in: folder)
    } catch {
      ServiceLog.note("bonds are forgotten with this process: \(error)", of: adapter)
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
        ServiceLog.tell(
          "another program uses this adapter: this one is another device to its peers, with bonds of its own in"
            + " \(store.path)", of: name)
      }
    } catch {
      store = FileBondStore(folder: folder, adapter: name)
      ServiceLog.note("it may be the same device to its peers as another program: \(error)", of: name)
    }
    bonds = store
    hasLastingIdentity = true
  }

  /// What the user knows the app by.
  private static var programName: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "this program"
  }
}
