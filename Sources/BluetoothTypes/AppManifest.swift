/// An app's declaration of what it does with Bluetooth: the keys of an `Info.plist` that concern Bluetooth.
public struct AppManifest: Hashable, Sendable {
  /// A reason for which an app runs in the background. The raw values are those of the key `UIBackgroundModes`.
  public enum BackgroundMode: String, Hashable, Sendable, CaseIterable {
    /// Events of central managers.
    case central = "bluetooth-central"
    /// Events of peripheral managers.
    case peripheral = "bluetooth-peripheral"
  }

  /// The roles whose events run the app in the background (`UIBackgroundModes`).
  public var backgroundModes: Set<BackgroundMode>
  /// The text of the question for permission (`NSBluetoothAlwaysUsageDescription`); nil: the app has none.
  public var usageDescription: String?
  /// True if the app sets Bluetooth accessories up with AccessorySetupKit (`NSAccessorySetupSupports`).
  public var setsUpAccessories: Bool

  /// Creates a manifest.
  ///
  /// - Parameters:
  ///   - backgroundModes: the roles whose events run the app in the background.
  ///   - usageDescription: the text of the question for permission; nil: none.
  ///   - setsUpAccessories: true if the app sets Bluetooth accessories up with AccessorySetupKit.
  public init(
    backgroundModes: Set<BackgroundMode> = [], usageDescription: String? = nil, setsUpAccessories: Bool = false
  ) {
    self.backgroundModes = backgroundModes
    self.usageDescription = usageDescription
    self.setsUpAccessories = setsUpAccessories
  }
}

/// The state of an app's execution, as the system sees it.
public enum AppRunState: Hashable, Sendable {
  /// The user sees the app. It gets all events.
  case foreground
  /// The app runs, and the user does not see it. It gets all events, and the platform may limit its use of the radio.
  case background
  /// The app is in memory and does not run. Its events wait.
  case suspended
  /// The app is not in memory.
  case terminated
}

/// The cause of an app's end.
public enum AppTermination: Hashable, Sendable {
  /// The system needed memory. It preserves the sessions with restore identifiers.
  case system
  /// The user ended the app. The system does not launch it again, unless its policy says so
  /// (`PlatformPolicy.restoresQuitAccessoryApps` in `BluetoothLab`).
  case user
}
