import BluetoothWire

/// The behavior of an operating system where the specification leaves a choice: bonds, the roles and permissions of
/// apps, and their life in the background. `PlatformPolicy+Values.swift` states the value of each field on each
/// platform with its source; Documentation/Platforms.md has the same as tables.
public struct PlatformPolicy: Hashable, Sendable {
  /// The name of the policy.
  public var name: String

  /// True if the system requests bonding whenever it pairs. There is no bond if the peer does not request bonding.
  public var alwaysBonds: Bool
  /// The maximum number of bonds, 0 to 1,000.
  public var bondLimit: Int

  /// True if apps can advertise, publish services and publish L2CAP channels. Otherwise peripheral managers get
  /// `CBError.operationNotSupported`.
  public var allowsPeripheralRole: Bool
  /// The maximum number of links that each app can request; nil: the controller's limit.
  public var linksPerApp: Int?
  /// The maximum number of links to peripherals, for all apps together; nil: the controller's limit. At the limit an app
  /// that connects gets `CBError.connectionLimitReached`, and waiting attempts wait for the end of a link.
  public var linkLimit: Int?
  /// The maximum number of octets of values and of L2CAP channels that a link carries in each second and direction, at
  /// least 1; nil: as many as the parameters of the link allow. Nothing is lost: at the limit data wait at their sender.
  public var linkDataRate: Int?
  /// True if an app without a usage description is stopped when it creates a manager.
  public var requiresUsageDescription: Bool
  /// True if the system preserves the sessions of an app that it terminates, and launches the app again for an event.
  public var restoresApps: Bool
  /// True if a change of Bluetooth's power is such an event.
  public var restoresAfterPowerChange: Bool
  /// True if preserved sessions outlive a restart of the device. Their links become pending connections.
  public var restoresAfterRestart: Bool
  /// True if the system also preserves the sessions of an app that its user has ended, if the app sets accessories up
  /// (`AppManifest.setsUpAccessories`).
  public var restoresQuitAccessoryApps: Bool
  /// The limits of apps in the background; nil: an app in the background has no limits.
  public var background: BackgroundLimits?
  /// True if the system itself connects to each bonded input device (a device with the Human Interface Device service)
  /// whenever it advertises, without any app.
  public var reconnectsInputDevices: Bool
  /// True if the system offers its notifications to bonded accessories, by the Apple Notification Center Service.
  public var offersNotifications: Bool
  /// The time after which the system ends a link without requests, values or channel data; nil: never.
  public var idleLinkTimeout: Duration?
  /// The services of peers that apps don't see.
  public var hiddenServices: [BluetoothUUID]
  /// The manufacturer data of peers that central managers don't report.
  public var hiddenManufacturerData: HiddenManufacturerData
  /// True if the system keeps what it knows of the services of a peer that has no bond and no Service Changed
  /// characteristic, until Bluetooth is switched off. Otherwise it looks for the services again on each link.
  public var keepsUnbondedServices: Bool

  /// The parameters that a peripheral manager requests from a central for the latency `low`.
  public var lowLatency: LatencyParameters
  /// The parameters that a peripheral manager requests from a central for the latency `medium`.
  public var mediumLatency: LatencyParameters
  /// The parameters that a peripheral manager requests from a central for the latency `high`.
  public var highLatency: LatencyParameters

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
    public var hasModes: Bool
    /// The time until an app without a background mode is suspended in the background.
    public var suspensionDelay: Duration
    /// The time until an app with a background mode is suspended, unless it gets events.
    public var idleRunTime: Duration
    /// True if an app with the background mode of central managers is not suspended while it has a link;
    /// `idleRunTime` begins when its last link ends. An app that an event runs after it has been suspended is
    /// suspended again in any case.
    public var linksKeepApps: Bool
    /// True if an app in the background can connect by a central manager without a restore identifier. Otherwise its
    /// attempts wait until the app is in the foreground. Links stay, and dropped links are re-established, in either case.
    public var connectsWithoutRestoration: Bool
    /// The time for which an event runs an app in the background.
    public var eventRunTime: Duration
    /// True if octets of an L2CAP channel run a suspended app, as events do. Otherwise they wait until an event does.
    public var channelsRunApps: Bool
    /// True if the readiness to write without response runs a suspended app, as other events do.
    public var writeReadinessRunsApps: Bool
    /// The maximum number of events in `wakeBudgetPeriod` that run a suspended app; nil: no maximum. An app gets
    /// `CBError.leGattNearBackgroundNotificationLimit` with a value if it has one such event left, and
    /// `CBError.leGattExceededBackgroundNotificationLimit` if it has none left. The budget is full again when the app
    /// comes to the foreground.
    public var wakeBudget: Int?
    /// The rolling period of `wakeBudget`.
    public var wakeBudgetPeriod: Duration

    /// The period of scanning if all apps that scan are in the background.
    public var scanPeriod: Duration
    /// The duration of the scan in each period.
    public var scanWindow: Duration
    /// The advertising interval if all apps that advertise are in the background, 20 ms to 10.24 s.
    public var advertisingInterval: Duration
    /// The maximum number of updates of values that a background app can send in each second; further updates wait.
    public var updatesPerSecond: Int
  }
}
