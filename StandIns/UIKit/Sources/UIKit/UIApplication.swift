import BluetoothLab
@_exported import Foundation

/// The application object of an iPhone app, with the state of an app in a world.
///
/// Unchecked Sendable: the lock guards the content. Unlike on an iPhone, any thread may use the object, because a test
/// may run its world on any thread.
open class UIApplication: NSObject, @unchecked Sendable {
  /// The state of the app for its user.
  public enum State: Int, Sendable {
    case active, inactive, background
  }

  /// A key of the reasons for a launch.
  public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The restore identifiers of the central managers that the system has preserved, as `[String]`.
    public static let bluetoothCentrals = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey")
    /// The restore identifiers of the peripheral managers that the system has preserved, as `[String]`.
    public static let bluetoothPeripherals = LaunchOptionsKey(
      rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey")
  }

  public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  public static let shared = UIApplication()
  public static let openSettingsURLString = "app-settings:"
  public static let willResignActiveNotification = Notification.Name("UIApplicationWillResignActiveNotification")
  public static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackgroundNotification")
  public static let willEnterForegroundNotification = Notification.Name("UIApplicationWillEnterForegroundNotification")
  public static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActiveNotification")

  private let lock = NSLock()
  private weak var currentDelegate: (any UIApplicationDelegate)?
  private var currentState = State.background
  private var opened: [URL] = []

  /// The delegate of the app that was launched last.
  open var delegate: (any UIApplicationDelegate)? {
    get { lock.withLock { currentDelegate } }
    set { lock.withLock { currentDelegate = newValue } }
  }

  /// The state of the app that was launched last: `inactive` during its launch by the user.
  open var applicationState: State { lock.withLock { currentState } }

  /// The addresses that the app has opened, such as those of the settings.
  public var openedURLs: [URL] { lock.withLock { opened } }

  open func canOpenURL(_ url: URL) -> Bool { true }

  open func open(
    _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:], completionHandler: ((Bool) -> Void)? = nil
  ) {
    lock.withLock { opened.append(url) }
    completionHandler?(true)
  }

  /// Tells a new delegate of its launch.
  fileprivate func launch(_ delegate: any UIApplicationDelegate, _ launch: AppLaunch) {
    lock.withLock {
      currentDelegate = delegate
      currentState = launch.isForEvent ? .background : .inactive
      opened = []
    }
    var options: [LaunchOptionsKey: Any] = [:]
    if !launch.centralManagerIdentifiers.isEmpty { options[.bluetoothCentrals] = launch.centralManagerIdentifiers }
    if !launch.peripheralManagerIdentifiers.isEmpty {
      options[.bluetoothPeripherals] = launch.peripheralManagerIdentifiers
    }
    _ = delegate.application(self, willFinishLaunchingWithOptions: options.isEmpty ? nil : options)
    _ = delegate.application(self, didFinishLaunchingWithOptions: options.isEmpty ? nil : options)
  }

  /// Tells the delegate of a new state of its app.
  fileprivate func appChanged(to state: AppRunState) {
    let new: State = state == .foreground ? .active : .background
    let (old, delegate) = lock.withLock { (currentState, currentDelegate) }
    guard new != old, let delegate else { return }
    func tell(_ state: State, _ name: Notification.Name, _ call: (UIApplication) -> Void) {
      lock.withLock { currentState = state }
      call(self)
      NotificationCenter.default.post(name: name, object: self)
    }
    if new == .active {
      if old == .background {
        tell(.background, Self.willEnterForegroundNotification, delegate.applicationWillEnterForeground)
      }
      tell(.active, Self.didBecomeActiveNotification, delegate.applicationDidBecomeActive)
    } else {
      if old == .active { tell(.inactive, Self.willResignActiveNotification, delegate.applicationWillResignActive) }
      tell(.background, Self.didEnterBackgroundNotification, delegate.applicationDidEnterBackground)
    }
  }
}

/// The delegate of an iPhone app.
public protocol UIApplicationDelegate: NSObjectProtocol {
  func application(
    _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  func applicationDidBecomeActive(_ application: UIApplication)
  func applicationWillResignActive(_ application: UIApplication)
  func applicationDidEnterBackground(_ application: UIApplication)
  func applicationWillEnterForeground(_ application: UIApplication)
}

extension UIApplicationDelegate {
  public func application(
    _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }
  public func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }
  public func applicationDidBecomeActive(_ application: UIApplication) {}
  public func applicationWillResignActive(_ application: UIApplication) {}
  public func applicationDidEnterBackground(_ application: UIApplication) {}
  public func applicationWillEnterForeground(_ application: UIApplication) {}
}

open class UIResponder: NSObject {}

extension Device {
  /// Installs an iPhone app on the device: its root object is the delegate, which is told of launches and of the
  /// foreground and the background. `UIApplication.shared` shows the app that was launched last.
  public func app<Delegate: UIApplicationDelegate & SendableMetatype>(
    named name: String, manifest: AppManifest = AppManifest(), delegate makeDelegate: @escaping () -> Delegate
  ) -> SimulatedApp<Delegate> {
    let app = self.app(named: name, manifest: manifest) { launch in
      let delegate = makeDelegate()
      UIApplication.shared.launch(delegate, launch)
      return delegate
    }
    app.observeState { [weak app] state in
      guard let root = app?.root, root === UIApplication.shared.delegate else { return }
      UIApplication.shared.appChanged(to: state)
    }
    return app
  }
}
