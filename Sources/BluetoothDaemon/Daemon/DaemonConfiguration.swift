import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// The configuration of a device above its controller, virtual or real: its host, its daemon and its identity.
package struct DaemonConfiguration: Sendable {
  /// The device's name in the log.
  package var name: String
  package var host: HostConfiguration
  /// The operating system whose behavior the device follows.
  package var policy = PlatformPolicy.macos
  /// The interface that asks the user.
  package var prompts: any Prompts = AutomaticPrompts.accepting
  /// The bond store.
  package var bonds: any BondStore = MemoryBondStore()
  /// The name of the app for which the user must give permission before any app may use the device; nil: the user is
  /// not asked.
  package var app: String?
  /// True if the user must give permission before an app with a life of its own may use the device.
  package var asksForApps = false
  package var shares = AppShares()
  /// True if the device keeps its identity across runs: its address and its identity key are stored with its bonds.
  package var hasLastingIdentity = false
  /// True if preserved sessions outlive the daemon of a device with a lasting identity: they are stored with its bonds.
  package var storesApps = false
  /// True if a device with a lasting identity starts off after its user has switched it off.
  package var recallsPower = false

  package init(name: String, host: HostConfiguration) {
    self.name = name
    self.host = host
  }

  /// The user's answer about the app in a former run, for use before the daemon exists.
  package var knownAccess: AppAccess {
    guard let app else { return .allowed }
    let isAllowed = try? bonds.access(of: app)
    return isAllowed.map { $0 ? .allowed : .denied } ?? .undetermined
  }

  /// Creates the daemon.
  ///
  /// - Parameter generator: the device's own random generator.
  package func makeDaemon(
    generator: RandomStream, pool: PacketPool, sessions: LocalSessions, directory: PeerDirectory
  ) -> Daemon {
    var hostConfiguration = host
    hostConfiguration.pairing.ioCapability = prompts.ioCapability
    hostConfiguration.pairing.asksForAuthentication = true
    hostConfiguration.follow(policy)
    let secrets = hasLastingIdentity ? recallIdentity(&hostConfiguration, generator) : nil
    let startsOn = !(recallsPower && secrets?.isSwitchedOff == true)
    if !startsOn { DaemonLog.tell("off, as its user has left it; to switch it on: ble settings power on", of: name) }
    let host = Host(configuration: hostConfiguration, random: generator.split("host"), pool: pool)
    return Daemon(
      host: host, sessions: sessions, directory: directory, random: generator.split("service"),
      identityKey: hasLastingIdentity ? hostConfiguration.identityKey : nil,
      identifierGeneration: secrets?.identifierGeneration ?? 0, prompts: prompts, bonds: bonds, app: app,
      asksForApps: asksForApps, shares: shares, policy: policy, storesApps: storesApps && hasLastingIdentity,
      startsOn: startsOn)
  }

  /// Restores the device's identity. If the identity can't be read, no peer will recognize the device, and the log says
  /// so. Returns what is stored; nil: it can't be read.
  private func recallIdentity(_ host: inout HostConfiguration, _ generator: RandomStream) -> AdapterSecrets? {
    var random = host.keyGenerator(else: generator.split("identity"))
    do throws(BondStoreError) {
      let secrets = try bonds.secrets { AdapterSecrets.make(needsAddress: true, using: &random) }
      host.address = secrets.identity
      host.identityKey = secrets.identityKey
      return secrets
    } catch {
      DaemonLog.note("using a new identity, which peers do not recognize: \(error)", of: name)
      return nil
    }
  }
}

extension HostConfiguration {
  /// Applies the rules of a platform that concern the host.
  package mutating func follow(_ policy: PlatformPolicy) {
    pairing.isBonding = policy.alwaysBonds
    keepsUnbondedServices = policy.keepsUnbondedServices
    linkDataRate = policy.linkDataRate
  }
}

extension DaemonConfiguration {
  /// Applies the settings of a server.
  package mutating func apply(_ serving: ServingOptions) {
    shares = serving.shares
    asksForApps = serving.asksForApps
    storesApps = true
    recallsPower = true
    if let change = serving.prompts { prompts = change(prompts) }
  }
}
