/// The behavior of an operating system where the specification leaves a choice: bonds, the roles and permissions of
/// apps, and their life in the background. Documentation/Platforms.md lists the values of each policy with their
/// sources.
public struct PlatformPolicy: Hashable, Sendable {
  /// The name of the policy.
  public var name: String

  /// True if the system requests bonding whenever it pairs. There is no bond if the peer does not request bonding.
  public var alwaysBonds = true
  /// The maximum number of bonds, 0 to 1,000.
  public var bondLimit = 64

  /// True if apps can advertise, publish services and publish L2CAP channels. Otherwise peripheral managers get
  /// `CBError.operationNotSupported`.
  public var allowsPeripheralRole = true
  /// The maximum number of links that each app can request; nil: the controller's limit.
  public var linksPerApp: Int?
  /// The maximum number of links to peripherals, for all apps together; nil: the controller's limit. At the limit an app
  /// that connects gets `CBError.connectionLimitReached`, and waiting attempts wait for the end of a link.
  public var linkLimit: Int?
  /// The maximum number of octets of values and of L2CAP channels that a link carries in each second and direction, at
  /// least 1; nil: as many as the parameters of the link allow. Nothing is lost: at the limit data wait at their sender.
  public var linkDataRate: Int?
  /// True if an app without a usage description is stopped when it creates a manager.
  public var requiresUsageDescription = false
  /// True if the system preserves the sessions of an app that it terminates, and launches the app again for an event.
  public var restoresApps = false
  /// True if a change of Bluetooth's power is such an event.
  public var restoresAfterPowerChange = true
  /// True if preserved sessions outlive a restart of the device. Their links become pending connections.
  public var restoresAfterRestart = false
  /// True if the system also preserves the sessions of an app that its user has ended, if the app sets accessories up
  /// (`AppManifest.setsUpAccessories`).
  public var restoresQuitAccessoryApps = false
  /// The limits of apps in the background; nil: an app in the background has no limits.
  public var background: BackgroundLimits?
  /// True if the system itself connects to each bonded input device (a device with the Human Interface Device service)
  /// whenever it advertises, without any app.
  public var reconnectsInputDevices = false
  /// True if the system offers its notifications to bonded accessories, by the Apple Notification Center Service.
  public var offersNotifications = false
  /// The time after which the system ends a link without requests, values or channel data; nil: never.
  public var idleLinkTimeout: Duration?
  /// The services of peers that apps don't see.
  public var hiddenServices: [BluetoothUUID] = [0x1800, 0x1801]
  /// The manufacturer data of peers that central managers don't report.
  public var hiddenManufacturerData = HiddenManufacturerData.none
  /// True if the system keeps what it knows of the services of a peer that has no bond and no Service Changed
  /// characteristic, until Bluetooth is switched off. Otherwise it looks for the services again on each link.
  public var keepsUnbondedServices = false

  /// The parameters that a peripheral manager requests from a central for the latency `low`.
  public var lowLatency = LatencyParameters(
    intervals: Duration.milliseconds(15)...Duration.milliseconds(15), supervisionTimeout: .seconds(2))
  /// The parameters that a peripheral manager requests from a central for the latency `medium`.
  public var mediumLatency = LatencyParameters(
    intervals: Duration.milliseconds(30)...Duration.milliseconds(60), supervisionTimeout: .seconds(4))
  /// The parameters that a peripheral manager requests from a central for the latency `high`.
  public var highLatency = LatencyParameters(
    intervals: Duration.milliseconds(200)...Duration.milliseconds(300), supervisionTimeout: .seconds(6))

  /// Creates a policy without limits.
  ///
  /// - Parameter name: the name of the policy, for logs.
  public init(name: String) { self.name = name }

  /// A set of manufacturer data.
  public enum HiddenManufacturerData: Hashable, Sendable {
    /// No data.
    case none
    /// The data of iBeacons, which `BeaconLocation` uses: company 0x004C, type 0x02, length 0x15.
    case beacons
    /// All data of the company 0x004C.
    case apple
  }

  /// The connection parameters that stand for one latency · Vol 6, Part B, 4.5.1, 4.5.2.
  public struct LatencyParameters: Hashable, Sendable {
    /// The shortest and the longest connection interval, each 7.5 ms to 4 s.
    public var intervals: ClosedRange<Duration>
    /// The number of connection events in a row that the peripheral may skip, 0 to 499.
    public var peripheralLatency = 0
    /// The time without packets after which the link is lost, 100 ms to 32 s, and more than twice the time from one
    /// connection event that the peripheral attends to the next.
    public var supervisionTimeout: Duration

    /// Creates parameters without skipped connection events.
    public init(intervals: ClosedRange<Duration>, supervisionTimeout: Duration) {
      self.intervals = intervals
      self.supervisionTimeout = supervisionTimeout
    }
  }

  /// The limits of apps in the background.
  public struct BackgroundLimits: Hashable, Sendable {
    /// True if background modes have an effect. Otherwise every app is suspended in the background.
    public var hasModes = true
    /// The time until an app without a background mode is suspended in the background.
    public var suspensionDelay = Duration.seconds(5)
    /// The time until an app with a background mode is suspended, unless it gets events.
    public var idleRunTime = Duration.seconds(180)
    /// True if an app with the background mode of central managers is not suspended while it has a link;
    /// `idleRunTime` begins when its last link ends. An app that an event runs after it has been suspended is
    /// suspended again in any case.
    public var linksKeepApps = true
    /// True if an app in the background can connect by a central manager without a restore identifier. Otherwise its
    /// attempts wait until the app is in the foreground. Links stay, and dropped links are re-established, in either case.
    public var connectsWithoutRestoration = true
    /// The time for which an event runs an app in the background.
    public var eventRunTime = Duration.seconds(10)
    /// True if octets of an L2CAP channel run a suspended app, as events do. Otherwise they wait until an event does.
    public var channelsRunApps = false
    /// True if the readiness to write without response runs a suspended app, as other events do.
    public var writeReadinessRunsApps = true
    /// The maximum number of events in `wakeBudgetPeriod` that run a suspended app; nil: no maximum. An app gets
    /// `CBError.leGattNearBackgroundNotificationLimit` with a value if it has one such event left, and
    /// `CBError.leGattExceededBackgroundNotificationLimit` if it has none left. The budget is full again when the app
    /// comes to the foreground.
    public var wakeBudget: Int?
    /// The rolling period of `wakeBudget`.
    public var wakeBudgetPeriod = Duration.seconds(24 * 3_600)

    /// The period of scanning if all apps that scan are in the background.
    public var scanPeriod = Duration.seconds(10)
    /// The duration of the scan in each period.
    public var scanWindow = Duration.seconds(1)
    /// The advertising interval if all apps that advertise are in the background, 20 ms to 10.24 s.
    public var advertisingInterval = Duration.microseconds(1_022_500)
    /// The maximum number of updates of values that a background app can send in each second; further updates wait.
    public var updatesPerSecond = 10

    /// Creates the limits of iOS.
    public init() {}
  }
}

extension PlatformPolicy {
  /// The behavior of iOS.
  public static let ios = with("ios") {
    $0.offersNotifications = true
    $0.requiresUsageDescription = true
    $0.restoresApps = true
    $0.reconnectsInputDevices = true
    $0.linkLimit = 10
    $0.linkDataRate = 10_000
    $0.hiddenServices += [0x1812, "7905F431-B5CE-4E99-A40F-4B1E122D00D0"]
    $0.hiddenManufacturerData = .beacons
    $0.background = BackgroundLimits()
  }

  /// The behavior of iOS as Apple's technical notes and reports from the field have it. It contradicts `ios` in some
  /// points: Documentation/Platforms.md names them.
  public static let iosInTheField = with("ios in the field", from: ios) {
    $0.linkDataRate = nil
    $0.restoresAfterPowerChange = false
    $0.restoresAfterRestart = true
    $0.restoresQuitAccessoryApps = true
    $0.hiddenManufacturerData = .apple
    $0.keepsUnbondedServices = true
    $0.background?.idleRunTime = .seconds(5)
    $0.background?.linksKeepApps = false
    $0.background?.writeReadinessRunsApps = false
  }

  /// The behavior of iOS with the longest pauses between background scans that have been observed: 12 min.
  public static let iosWithRareScans = with("ios with rare scans", from: ios) {
    $0.background?.scanPeriod = .seconds(720)
    $0.background?.scanWindow = .seconds(10)
  }

  /// The behavior of macOS, the default. Apps in the background have no limits, and none is launched for an event.
  public static let macos = with("macos") { $0.reconnectsInputDevices = true }

  /// The behavior of watchOS: central managers only, two links for each app, and five events in 24 h that run a
  /// suspended app.
  public static let watchos = with("watchos", from: ios) {
    $0.allowsPeripheralRole = false
    $0.offersNotifications = false
    $0.restoresApps = false
    $0.linksPerApp = 2
    $0.linkDataRate = nil
    $0.background?.wakeBudget = 5
  }

  /// The behavior of tvOS: central managers only, and only in the foreground.
  public static let tvos = with("tvos", from: ios) {
    $0.allowsPeripheralRole = false
    $0.offersNotifications = false
    $0.restoresApps = false
    $0.linkDataRate = nil
    $0.background?.hasModes = false
  }

  /// The behavior of visionOS: central managers only.
  public static let visionos = with("visionos", from: ios) {
    $0.allowsPeripheralRole = false
    $0.linkDataRate = nil
    $0.offersNotifications = false
  }

  /// No limits, and restoration: the choice for gateways and accessories.
  public static let open = with("open") { $0.restoresApps = true }

  /// All policies.
  public static let all = [ios, iosInTheField, iosWithRareScans, macos, watchos, tvos, visionos, open]

  private static func with(
    _ name: String, from base: PlatformPolicy = PlatformPolicy(name: ""), _ change: (inout PlatformPolicy) -> Void
  ) -> PlatformPolicy {
    var policy = base
    policy.name = name
    change(&policy)
    return policy
  }
}
