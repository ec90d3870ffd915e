import BluetoothWire

extension PlatformPolicy {
  /// The behavior of iOS.
  public static let ios = PlatformPolicy(named: "ios", of: .ios)

  /// The behavior of iOS as Apple's technical notes and reports from the field have it. It contradicts `ios` in some
  /// points: Documentation/Platforms.md names them.
  public static let iosInTheField = PlatformPolicy(named: "ios in the field", of: .iosInTheField)

  /// The behavior of iOS with the longest pauses between background scans that have been observed: 12 min.
  public static let iosWithRareScans = {
    var policy = PlatformPolicy(named: "ios with rare scans", of: .ios)
    policy.background?.scanPeriod = .seconds(720)
    policy.background?.scanWindow = .seconds(10)
    return policy
  }()

  /// The behavior of macOS, the default. Apps in the background have no limits, and none is launched for an event.
  public static let macos = PlatformPolicy(named: "macos", of: .macos)

  /// The behavior of watchOS: central managers only, two links for each app, and five events in 24 h that run a
  /// suspended app.
  public static let watchos = PlatformPolicy(named: "watchos", of: .watchos)

  /// The behavior of tvOS: central managers only, and only in the foreground.
  public static let tvos = PlatformPolicy(named: "tvos", of: .tvos)

  /// The behavior of visionOS: central managers only.
  public static let visionos = PlatformPolicy(named: "visionos", of: .visionos)

  /// No limits, and restoration: the choice for gateways and accessories.
  public static let open = PlatformPolicy(named: "open", of: .open)

  /// All policies.
  public static let all = [ios, iosInTheField, iosWithRareScans, macos, watchos, tvos, visionos, open]

  /// Creates a policy without limits.
  ///
  /// - Parameter name: the name of the policy, for logs.
  public init(name: String) {
    self = .open
    self.name = name
    restoresApps = false
  }

  /// The descriptions of the fields, in the order of the table in Documentation/Platforms.md.
  package static var fields: [PolicyField] {
    var values = PolicyValues(of: .open, listsFields: true)
    _ = PlatformPolicy(named: "", &values)
    return values.fields
  }

  private init(named name: String, of platform: PolicyValues.Platform) {
    var values = PolicyValues(of: platform)
    self.init(named: name, &values)
  }

  /// Creates the policy of a platform. Each field is stated here once, with its value on every platform: a change of one
  /// value changes one platform.
  private init(named name: String, _ values: inout PolicyValues) {
    self.name = name
    allowsPeripheralRole = values.choose(
      "allowsPeripheralRole", "peripheral role",
      ios: true, iosInTheField: true, macos: true, watchos: false, tvos: false, visionos: false, open: true,
      source: """
        WWDC 2021, session 10005; reference A, "watchOS/tvOS/visionOS"
        """)
    linksPerApp = values.choose(
      "linksPerApp", "links for each app",
      ios: nil, iosInTheField: nil, macos: nil, watchos: 2, tvos: nil, visionos: nil, open: nil,
      otherwise: "controller's limit",
      source: "WWDC 2021, session 10005")
    linkLimit = values.choose(
      "linkLimit", "links to peripherals, of all apps together",
      ios: 10, iosInTheField: 10, macos: nil, watchos: 10, tvos: 10, visionos: 10, open: nil,
      otherwise: "controller's limit",
      source: """
        reference L: "iOSデバイスは10です"; reference A: 10 to 20 (`connectionLimitReached`). Reports from the field have 5 to 12 \
        (AsyncBluetooth, issue 7); for the systems beside `ios` assumed as there
        """)
    linkDataRate = values.choose(
      "linkDataRate", "octets of values and L2CAP channels that a link carries in a second, in each direction",
      ios: 10_000, iosInTheField: nil, macos: nil, watchos: nil, tvos: nil, visionos: nil, open: nil,
      otherwise: "no limit",
      source: """
        reference L: "iOSデバイスでの通信速度は、おおよそ10Kバイト/秒です", about iOS devices; no source has a limit for the other systems, and \
        reports from the field have none for iOS
        """)
    requiresUsageDescription = values.choose(
      "requiresUsageDescription", "an app needs a usage description",
      ios: true, iosInTheField: true, macos: false, watchos: true, tvos: true, visionos: true, open: false,
      source: """
        `NSBluetoothAlwaysUsageDescription`, Apple's documentation; reference G, which is about apps of iOS. That an app of \
        `macos` without the text runs is this project's choice: most programs here, as command-line tools there, have no \
        `Info.plist`
        """)
    restoresApps = values.choose(
      "restoresApps", "state restoration",
      ios: true, iosInTheField: true, macos: false, watchos: false, tvos: false, visionos: true, open: true,
      source: "WWDC 2021, session 10005; `visionos`: assumed as `ios`")
    restoresAfterPowerChange = values.choose(
      "restoresAfterPowerChange", "a change of Bluetooth's power launches a terminated app that is preserved",
      ios: true, iosInTheField: false, macos: true, watchos: true, tvos: true, visionos: true, open: true,
      source: """
        reference L: an app gets 10 s for each event, such as a switch of Bluetooth; Apple's QA1962 and TN3115, "Bluetooth \
        power toggled": no
        """)
    restoresAfterRestart = values.choose(
      "restoresAfterRestart", "preserved apps outlive a restart of the device",
      ios: false, iosInTheField: true, macos: false, watchos: false, tvos: false, visionos: false, open: false,
      source: """
        reference A: a restart ends what is preserved; Apple's QA1962 (since iOS 11) and TN3115: yes, once the device is \
        unlocked
        """)
    restoresQuitAccessoryApps = values.choose(
      "restoresQuitAccessoryApps", "an app that sets accessories up is preserved also when its user ends it",
      ios: false, iosInTheField: true, macos: false, watchos: false, tvos: false, visionos: false, open: false,
      source: """
        references A and L: an app that its user has ended is not launched; Apple's TN3115, revision of 2025-09-15: "starting \
        in iOS 26" those with AccessorySetupKit are
        """)
    let limitsApps = values.choose(
      "background", "limits in the background",
      ios: true, iosInTheField: true, macos: false, watchos: true, tvos: true, visionos: true, open: false,
      otherwise: "no",
      source: """
        Apple's Core Bluetooth Programming Guide, "Core Bluetooth Background Processing"
        """)
    background = limitsApps ? BackgroundLimits(of: values.platform) : nil
    reconnectsInputDevices = values.choose(
      "reconnectsInputDevices", "the system connects to bonded input devices",
      ios: true, iosInTheField: true, macos: true, watchos: true, tvos: true, visionos: true, open: false,
      source: """
        reference G: "whenever it sees the peripheral's advertisement"; for the other systems this project's choice
        """)
    offersNotifications = values.choose(
      "offersNotifications", "notifications for accessories",
      ios: true, iosInTheField: true, macos: false, watchos: false, tvos: false, visionos: false, open: false,
      source: "Apple's ANCS specification, which is about iOS devices; `ancsAuthorized` does not exist on macOS")
    idleLinkTimeout = values.choose(
      "idleLinkTimeout", "end of a link without traffic",
      ios: nil, iosInTheField: nil, macos: nil, watchos: nil, tvos: nil, visionos: nil, open: nil,
      otherwise: "off",
      source: """
        reference G: "about 30 s"; set the field to 30 s to test it
        """)
    hiddenServices = values.choose(
      "hiddenServices", "services of peers that apps don't see",
      ios: [.gap, .gatt, .hid, .ancs],
      iosInTheField: [.gap, .gatt, .hid, .ancs],
      macos: [.gap, .gatt],
      watchos: [.gap, .gatt, .hid, .ancs],
      tvos: [.gap, .gatt, .hid, .ancs],
      visionos: [.gap, .gatt, .hid, .ancs],
      open: [.gap, .gatt],
      source: """
        Apple's Accessory Design Guidelines, "GATT Server": iOS filters these four; macOS hides GAP and GATT (noble, issue \
        154) and shows HID; `open`: this project's choice
        """)
    hiddenManufacturerData = values.choose(
      "hiddenManufacturerData", "manufacturer data that central managers don't report",
      ios: .beacons, iosInTheField: .apple, macos: .none, watchos: .beacons, tvos: .beacons, visionos: .beacons,
      open: .none,
      source: """
        iOS: openradar 15606232 (iBeacons); openhaystack, issue 87, has all data of Apple's company identifier hidden on iOS \
        and shown on macOS
        """)
    keepsUnbondedServices = values.choose(
      "keepsUnbondedServices",
      "services of a peer without a bond and without Service Changed are kept until Bluetooth is off",
      ios: false, iosInTheField: true, macos: false, watchos: false, tvos: false, visionos: false, open: false,
      source: "IOS-nRF-Connect, issue 30; IOS-DFU-Library, issue 353")
    alwaysBonds = values.choose(
      "alwaysBonds", "the system bonds whenever it pairs",
      ios: true, iosInTheField: true, macos: true, watchos: true, tvos: true, visionos: true, open: true,
      source: "this project's choice")
    bondLimit = values.choose(
      "bondLimit", "maximum number of bonds",
      ios: 64, iosInTheField: 64, macos: 64, watchos: 64, tvos: 64, visionos: 64, open: 64,
      source: "not known; this project's choice")
    lowLatency = values.choose(
      "lowLatency", "connection interval, skipped events and supervision timeout for the latency `low`",
      everywhere: LatencyParameters(milliseconds: 15...15, supervisionTimeout: .seconds(2)),
      source: """
        Apple documents the order of the latencies only; the intervals are those that its Accessory Design Guidelines allow, \
        the rest is this project's choice
        """)
    mediumLatency = values.choose(
      "mediumLatency", "the same for `medium`",
      everywhere: LatencyParameters(milliseconds: 30...60, supervisionTimeout: .seconds(4)),
      source: "as for `low`")
    highLatency = values.choose(
      "highLatency", "the same for `high`",
      everywhere: LatencyParameters(milliseconds: 200...300, supervisionTimeout: .seconds(6)),
      source: "as for `low`")
  }
}

extension PlatformPolicy.BackgroundLimits {
  /// Creates the limits of iOS.
  public init() { self.init(of: .ios) }

  /// The descriptions of the fields, in the order of the table in Documentation/Platforms.md.
  package static var fields: [PolicyField] {
    var values = PolicyValues(of: .ios, listsFields: true)
    _ = PlatformPolicy.BackgroundLimits(&values)
    return values.fields
  }

  fileprivate init(of platform: PolicyValues.Platform) {
    var values = PolicyValues(of: platform)
    self.init(&values)
  }

  /// Creates the limits of a platform. Each field is stated here once, with its value on every platform that has limits.
  private init(_ values: inout PolicyValues) {
    hasModes = values.choose(
      "hasModes", "background modes have an effect",
      ios: true, iosInTheField: true, watchos: true, tvos: false, visionos: true,
      source: "WWDC 2021, session 10005")
    suspensionDelay = values.choose(
      "suspensionDelay", "time until an app without a background mode is suspended",
      ios: .seconds(5), iosInTheField: .seconds(5), watchos: .seconds(5), tvos: .seconds(5), visionos: .seconds(5),
      source: """
        reference L: "a short time"; the number is this project's choice
        """)
    idleRunTime = values.choose(
      "idleRunTime", "time until an app with a background mode is suspended, without events and links",
      ios: .seconds(180), iosInTheField: .seconds(5), watchos: .seconds(180), tvos: .seconds(180),
      visionos: .seconds(180),
      source: """
        reference A: "some minutes"; the number is this project's choice. Reports from the field: 2 to 10 s, with a link, too \
        (Apple's forum, thread 765444, and the report on channels below; thread 676777 for apps with peripheral managers)
        """)
    linksKeepApps = values.choose(
      "linksKeepApps", "an app with the background mode of centrals is not suspended while it has a link",
      ios: true, iosInTheField: false, watchos: true, tvos: true, visionos: true,
      source: """
        reference A: "the system keeps the app while connections are active"; "some minutes" begin with the end of its last \
        link. Reports from the field: see `idleRunTime`
        """)
    connectsWithoutRestoration = values.choose(
      "connectsWithoutRestoration", "an app in the background can connect without a restore identifier",
      ios: true, iosInTheField: true, watchos: true, tvos: true, visionos: true,
      source: """
        Apple's Programming Guide: an app with the mode can discover and connect in the background; reference A has another \
        rule, see below
        """)
    eventRunTime = values.choose(
      "eventRunTime", "time for which an event runs an app",
      ios: .seconds(10), iosInTheField: .seconds(10), watchos: .seconds(10), tvos: .seconds(10), visionos: .seconds(10),
      source: """
        reference L; Apple's Programming Guide: "about 10 seconds"
        """)
    channelsRunApps = values.choose(
      "channelsRunApps", "octets of an L2CAP channel run a suspended app",
      ios: false, iosInTheField: false, watchos: false, tvos: false, visionos: false,
      source: """
        reports from the field: octets wait until another event runs the app ("CBL2CAPChannel experiencing unresponsiveness \
        when app is in the background"); Apple's documents name the delegates' methods only
        """)
    writeReadinessRunsApps = values.choose(
      "writeReadinessRunsApps", "readiness to write without response runs a suspended app",
      ios: true, iosInTheField: false, watchos: true, tvos: true, visionos: true,
      source: """
        Apple's Programming Guide: each method of the delegates; Apple's forum, thread 765444: "the system will not wake up \
        an app" for it "by design"
        """)
    wakeBudget = values.choose(
      "wakeBudget", "events that run a suspended app in `wakeBudgetPeriod`",
      ios: nil, iosInTheField: nil, watchos: 5, tvos: nil, visionos: nil,
      otherwise: "no limit",
      source: "`WKBluetoothAlertRefreshBackgroundTask`, Apple's documentation")
    wakeBudgetPeriod = values.choose(
      "wakeBudgetPeriod", "rolling period of `wakeBudget`",
      ios: .seconds(24 * 3_600),
      iosInTheField: .seconds(24 * 3_600),
      watchos: .seconds(24 * 3_600),
      tvos: .seconds(24 * 3_600),
      visionos: .seconds(24 * 3_600),
      source: "`WKBluetoothAlertRefreshBackgroundTask`, Apple's documentation")
    scanPeriod = values.choose(
      "scanPeriod", "period of a background scan",
      ios: .seconds(10), iosInTheField: .seconds(10), watchos: .seconds(10), tvos: .seconds(10), visionos: .seconds(10),
      source: """
        references A ("seconds to tens of seconds") and L ("about 12 minutes")
        """)
    scanWindow = values.choose(
      "scanWindow", "scan in each period",
      ios: .seconds(1), iosInTheField: .seconds(1), watchos: .seconds(1), tvos: .seconds(1), visionos: .seconds(1),
      source: "this project's choice")
    advertisingInterval = values.choose(
      "advertisingInterval", "advertising interval if all advertising apps are in the background",
      ios: .microseconds(1_022_500),
      iosInTheField: .microseconds(1_022_500),
      watchos: .microseconds(1_022_500),
      tvos: .microseconds(1_022_500),
      visionos: .microseconds(1_022_500),
      source:
        "Apple's Accessory Design Guidelines name this interval; that iOS uses it in the background is an assumption")
    updatesPerSecond = values.choose(
      "updatesPerSecond", "updates of values in a second",
      ios: 10, iosInTheField: 10, watchos: 10, tvos: 10, visionos: 10,
      source: "references say that there is a limit; the number is this project's choice")
  }
}

extension PlatformPolicy.LatencyParameters {
  /// Creates parameters without skipped connection events.
  fileprivate init(milliseconds: ClosedRange<Int>, supervisionTimeout: Duration) {
    self.init(
      intervals: Duration.milliseconds(milliseconds.lowerBound)...Duration.milliseconds(milliseconds.upperBound),
      supervisionTimeout: supervisionTimeout)
  }
}

extension BluetoothUUID {
  fileprivate static let gap: Self = 0x1800
  fileprivate static let gatt: Self = 0x1801
  fileprivate static let hid: Self = 0x1812
  fileprivate static let ancs: Self = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"
}
