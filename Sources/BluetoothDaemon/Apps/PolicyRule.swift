import BluetoothWire

/// A rule of the platform's policy that changes or drops what an app asks for. The log has one line for each app and
/// rule, when the rule first has an effect on the app.
enum PolicyRule: UInt32 {
  // Scans in the background.
  case scanMode
  case scanServices
  case scanDuplicates
  case slowScan

  // Advertising in the background.
  case advertisingMode
  case advertisedName
  case overflowServices
  case slowAdvertising

  // Events and values.
  case updateRate
  case suspendedCentral
  case suspendedPeripheral
  case suspendedServer
  case suspendedChannel
  case suspendedCommands
  case wakeBudget
  case hiddenServices
  case hiddenManufacturerData

  // Links, roles and restoration.
  case linksPerApp
  case linkLimit
  case idleLink
  case peripheralRole
  case restoration
  case unpreservedCentral
  case unpreservedPeripheral
  case notifications

  /// The field of the policy with the rule; see Documentation/Platforms.md.
  private var field: String {
    switch self {
    case .scanServices, .scanDuplicates, .advertisedName, .overflowServices, .suspendedCommands: "background"
    case .scanMode, .advertisingMode, .suspendedCentral, .suspendedPeripheral, .suspendedServer, .unpreservedCentral,
      .unpreservedPeripheral:
      "background.hasModes"
    case .slowScan: "background.scanPeriod"
    case .slowAdvertising: "background.advertisingInterval"
    case .updateRate: "background.updatesPerSecond"
    case .wakeBudget: "background.wakeBudget"
    case .suspendedChannel: "background.channelsRunApps"
    case .hiddenServices: "hiddenServices"
    case .hiddenManufacturerData: "hiddenManufacturerData"
    case .linksPerApp: "linksPerApp"
    case .linkLimit: "linkLimit"
    case .idleLink: "idleLinkTimeout"
    case .peripheralRole: "allowsPeripheralRole"
    case .restoration: "restoresApps"
    case .notifications: "offersNotifications"
    }
  }

  /// Returns the line for the log: the effect and its reason, the field of the policy, and what the developer can do.
  func line(_ policy: PlatformPolicy) -> String {
    let (effect, advice) = text(policy)
    return "\(effect) (\(field) of the policy \(policy.name)): \(advice)"
  }

  private func text(_ policy: PlatformPolicy) -> (effect: String, advice: String) {
    let limits = policy.background ?? PlatformPolicy.BackgroundLimits()
    switch self {
    case .scanMode: return withoutMode(.central, limits, "the scan stops in the background")
    case .scanServices:
      return (
        "the scan stops in the background, because it names no service",
        "pass the UUIDs of services to scanForPeripherals"
      )
    case .scanDuplicates:
      return (
        "the scan reports no duplicates in the background",
        "expect one discovery for each peripheral and content, despite the option for duplicates"
      )
    case .slowScan:
      return (
        "the scan is passive and takes \(text(limits.scanWindow)) in each \(text(limits.scanPeriod)), because only apps"
          + " in the background scan",
        "expect late discoveries without the data of scan responses"
      )
    case .advertisingMode: return withoutMode(.peripheral, limits, "advertising stops in the background")
    case .advertisedName:
      return ("the local name is not advertised in the background", "let centrals find the app by a service")
    case .overflowServices:
      return (
        "service UUIDs are advertised in the overflow area in the background",
        "let centrals scan for the UUIDs; only Apple's systems and this package read that area"
      )
    case .slowAdvertising:
      return (
        "the advertising interval is \(text(limits.advertisingInterval)), because only apps in the background"
          + " advertise",
        "expect centrals to find the app later"
      )
    case .updateRate:
      return (
        "updates of values wait, because the app is in the background and sends more than \(limits.updatesPerSecond)"
          + " in a second",
        "stop when updateValue returns false, and go on in peripheralManagerIsReady(toUpdateSubscribers:)"
      )
    case .suspendedCentral: return withoutMode(.central, limits, Self.waitingEvents)
    case .suspendedPeripheral: return withoutMode(.peripheral, limits, Self.waitingEvents)
    case .suspendedServer:
      return withoutMode(.peripheral, limits, "a central's request gets an error while the app is suspended")
    case .suspendedChannel:
      return (
        "changes of an L2CAP channel wait until the suspended app runs",
        "let the peer change the value of a characteristic to which the app has subscribed"
      )
    case .suspendedCommands:
      return ("commands of the suspended app wait until it runs", "finish the app's work before it is suspended")
    case .hiddenServices:
      return ("a service is hidden, because the system uses it", "use another service, or another policy")
    case .hiddenManufacturerData:
      return (
        "manufacturer data of the company 0x004C are hidden", "use BeaconLocation for iBeacons, or another policy"
      )
    case .wakeBudget:
      return (
        "events wait until the app is in the foreground, because \(limits.wakeBudget ?? 0) events have run the"
          + " suspended app in \(text(limits.wakeBudgetPeriod))",
        "let the peripheral send fewer values"
      )
    case .linksPerApp:
      return (
        "a connection is refused, because the app has \(policy.linksPerApp ?? 0) connections",
        "cancel another connection first"
      )
    case .linkLimit:
      return (
        "a connection is refused, because the system has \(policy.linkLimit ?? 0) connections",
        "cancel another connection first"
      )
    case .idleLink:
      return (
        "a link is ended after \(text(policy.idleLinkTimeout ?? .zero)) without traffic", "exchange data more often"
      )
    case .peripheralRole:
      return (
        "requests of peripheral managers are refused, because this system has no peripheral role",
        "use a central manager, or another policy"
      )
    case .restoration:
      return (
        "managers with restore identifiers are not preserved, because this system restores no app",
        "retrieve peripherals by their identifiers after the next launch"
      )
    case .unpreservedCentral: return withoutMode(.central, limits, "a central manager is not preserved")
    case .unpreservedPeripheral: return withoutMode(.peripheral, limits, "a peripheral manager is not preserved")
    case .notifications:
      return (
        "CBConnectPeripheralOptionRequiresANCS has no effect, because this system offers no notifications",
        "use a policy that offers them"
      )
    }
  }

  /// Returns a time with its unit.
  private func text(_ duration: Duration) -> String {
    let nanoseconds = TimeSpan(duration).nanoseconds
    return nanoseconds % 1_000_000_000 == 0
      ? "\(nanoseconds / 1_000_000_000) s" : "\(Double(nanoseconds) / 1_000_000) ms"
  }

  private static let waitingEvents = "events of the suspended app wait until it is in the foreground"

  /// Returns the text of a rule about apps without a background mode.
  private func withoutMode(
    _ mode: AppManifest.BackgroundMode, _ limits: PlatformPolicy.BackgroundLimits, _ effect: String
  ) -> (effect: String, advice: String) {
    guard limits.hasModes else {
      return ("\(effect), because background modes have no effect on this system", "keep the app in the foreground")
    }
    return (
      "\(effect), because the app lacks the background mode \(mode.rawValue)",
      "add the mode to the manifest (UIBackgroundModes)"
    )
  }
}

/// A set of rules.
struct PolicyRules {
  private var bits: UInt32 = 0

  /// Adds a rule. Returns false if the set has it.
  mutating func insert(_ rule: PolicyRule) -> Bool {
    let bit = UInt32(1) << rule.rawValue
    guard bits & bit == 0 else { return false }
    bits |= bit
    return true
  }
}
