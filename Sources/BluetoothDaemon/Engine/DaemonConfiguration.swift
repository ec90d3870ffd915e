import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// What stands above a controller, virtual or real: host and service, and who the device is.
package struct DaemonConfiguration: Sendable {
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
  package var knownAccess: AppAccess {
    guard let app else { return .allowed }
    let isAllowed = try? bonds.access(of: app)
    return isAllowed.map { $0 ? .allowed : .denied } ?? .undetermined
  }

  /// - Parameter generator: the device's own chance.
  package func makeDaemon(
    generator: SplitGenerator, pool: PacketPool, mailbox: Mailbox, directory: PeerDirectory
  ) -> Daemon {
    var hostConfiguration = host
    hostConfiguration.pairing.ioCapability = prompts.ioCapability
    hostConfiguration.pairing.asksForAuthentication = true
    hostConfiguration.pairing.isBonding = profile.alwaysBonds
    if hasLastingIdentity { recallIdentity(&hostConfiguration, generator) }
    let host = Host(configuration: hostConfiguration, random: generator.split("host"), pool: pool)
    return Daemon(
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
      DaemonLog.note("it is another device to its peers: \(error)", of: name)
    }
  }
}
