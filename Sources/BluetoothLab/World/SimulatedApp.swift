// Design: the process of an app
//
// In a world, `SimulatedApp` is the process of an app: it creates the app's root object, releases it at a termination,
// and creates it again when the daemon says so (`AppEvent.launch`). Its managers reach the device through an `AppView`,
// which adds the name of the app to their sessions.

import BluetoothAdapters
import BluetoothDaemon
import BluetoothSimulation
import BluetoothWire
import NIOConcurrencyHelpers

/// The reason for the launch of an app, and what the system has kept for it.
public struct AppLaunch: Hashable, Sendable {
  /// The restore identifiers of the preserved central managers (`UIApplication.LaunchOptionsKey.bluetoothCentrals`);
  /// empty if the user has launched the app.
  public var centralManagerIdentifiers: [String] = []
  /// The restore identifiers of the preserved peripheral managers
  /// (`UIApplication.LaunchOptionsKey.bluetoothPeripherals`).
  public var peripheralManagerIdentifiers: [String] = []
  /// True if an event of Bluetooth has launched the app, in the background; false: the user has, in the foreground.
  public var isForEvent = false

  /// Creates the launch by the user.
  public init() {}
}

/// An app on a device of a world, with the life that an operating system gives it: in the foreground or in the
/// background, suspended, terminated, and launched again for an event. The policy of its device
/// (`DeviceOptions.policy`) decides what the app may do in each state. While the app is suspended, its commands, the
/// octets of its L2CAP channels and the sleeps of its tasks on the world's clock wait, as its events do.
///
/// ```swift
/// let app = phone.app(named: "com.example.scale", manifest: AppManifest(backgroundModes: [.central])) { _ in
///   ScaleApp()
/// }
/// app.launch()
/// world.run(for: .seconds(2))
/// app.terminate()
/// ```
///
/// `Root` is the object that the app consists of, such as its app delegate. Managers that it creates in its initializer
/// without `CBManagerOptionAdapterKey` belong to the app. The app exists as long as this object.
public final class SimulatedApp<Root: AnyObject>: @unchecked Sendable {
  // Unchecked: `content` has a lock; the root object is used by the app's own queues only.

  /// The name of the app, which identifies it on its device.
  public let name: String
  /// The declarations of the app.
  public let manifest: AppManifest
  private let adapter: VirtualAdapter
  private let view: AppView
  private let makeRoot: (AppLaunch) -> Root
  private let content = NIOLockedValueBox(Content())
  private let client = Client()

  private struct Content {
    var root: Root?
    var state = AppRunState.terminated
    var launches: [AppLaunch] = []
    var stopReason: String?
    var stateObserver: (@Sendable (AppRunState) -> Void)?
  }

  /// The receiver of the daemon's events about the app.
  private final class Client: AppClient {
    private let handler = NIOLockedValueBox<(@Sendable (AppEvent) -> Void)?>(nil)

    func set(_ handler: @escaping @Sendable (AppEvent) -> Void) { self.handler.withLockedValue { $0 = handler } }
    func receive(_ event: AppEvent) { handler.withLockedValue { $0 }?(event) }
  }

  init(named name: String, manifest: AppManifest, on adapter: VirtualAdapter, makeRoot: @escaping (AppLaunch) -> Root) {
    self.name = name
    self.manifest = manifest
    self.adapter = adapter
    self.makeRoot = makeRoot
    view = AppView(of: adapter, for: name)
    client.set { [weak self] event in self?.receive(event) }
    adapter.setClient(client, ofApp: name)
  }

  deinit { adapter.send(.terminated(.user), ofApp: name) }

  /// The object of the running app; nil while the app is terminated.
  public var root: Root? { content.withLockedValue { $0.root } }

  /// The state of the app. A call of this object takes effect when the world runs; `terminated` at first.
  public var state: AppRunState { content.withLockedValue { $0.state } }

  /// Calls a closure after each change of the state, in place of the closure of an earlier call. It is called on the
  /// thread that runs the world.
  public func observeState(_ observer: @escaping @Sendable (AppRunState) -> Void) {
    content.withLockedValue { $0.stateObserver = observer }
  }

  /// The launches of the app so far, oldest first.
  public var launches: [AppLaunch] { content.withLockedValue { $0.launches } }

  /// The reason for which the system has stopped the app; nil: it has not.
  public var stopReason: String? { content.withLockedValue { $0.stopReason } }

  /// Launches the app in the foreground, as its user does; brings it to the foreground if it is running.
  public func launch() {
    guard root == nil else { return enterForeground() }
    adapter.send(.launched(manifest, isInFront: true), ofApp: name)
    content.withLockedValue { $0.stopReason = nil }
    start(AppLaunch())
  }

  /// Brings the app to the foreground. It gets all events that have waited.
  public func enterForeground() { adapter.send(.becameFrontmost(true), ofApp: name) }

  /// Sends the app to the background, where the policy of the device decides how long it runs.
  public func enterBackground() { adapter.send(.becameFrontmost(false), ofApp: name) }

  /// Suspends the app, if it is in the background, before the system would.
  public func suspend() { adapter.send(.suspended, ofApp: name) }

  /// Ends the app at once: its root object is released, and its managers get no more callbacks, even if a test retains
  /// them. The system launches it again for an event of a manager with a restore identifier, unless the user has ended
  /// it.
  public func terminate(by cause: AppTermination = .system) {
    adapter.send(.terminated(cause), ofApp: name)
    end()
  }

  private func start(_ launch: AppLaunch) {
    content.withLockedValue { $0.launches.append(launch) }
    let root = DefaultAdapter.$ofTask.withValue(view) { makeRoot(launch) }
    content.withLockedValue { $0.root = root }
  }

  private func end() {
    let root = content.withLockedValue { $0.root.take() }
    view.setSuspended(false)
    withExtendedLifetime(root) {}
    changed(to: .terminated)
  }

  private func changed(to state: AppRunState) {
    let observer = content.withLockedValue { content in
      content.state = state
      return content.stateObserver
    }
    observer?(state)
  }

  private func receive(_ event: AppEvent) {
    switch event {
    case .stateChanged(let state):
      changed(to: state)
      view.setSuspended(state == .suspended)
    case .launch(let identifiers):
      adapter.send(.launched(manifest, isInFront: false), ofApp: name)
      var launch = AppLaunch()
      launch.centralManagerIdentifiers = identifiers.centrals
      launch.peripheralManagerIdentifiers = identifiers.peripherals
      launch.isForEvent = true
      start(launch)
    // A device has one adapter.
    case .preserved: break
    case .ended: end()
    case .stop(let reason):
      content.withLockedValue { $0.stopReason = reason }
      terminate(by: .user)
    }
  }
}

/// An alert that a device has shown to its user about an event of a suspended app.
public struct DeviceAlert: Hashable, Sendable {
  /// The event.
  public enum Kind: Hashable, Sendable {
    /// A peripheral was connected (`CBConnectPeripheralOptionNotifyOnConnectionKey`).
    case connected
    /// A peripheral was disconnected (`CBConnectPeripheralOptionNotifyOnDisconnectionKey`).
    case disconnected
    /// A peripheral has sent a notification or an indication (`CBConnectPeripheralOptionNotifyOnNotificationKey`).
    case notified
  }

  /// The event.
  public var kind: Kind
  /// The name of the app that has asked for the alert.
  public var app: String
  /// The name of the peripheral, or its identifier.
  public var peripheral: String
  /// The radio time of the alert.
  public var time: Duration

  /// Creates an alert.
  public init(_ kind: Kind, app: String, peripheral: String, time: Duration) {
    self.kind = kind
    self.app = app
    self.peripheral = peripheral
    self.time = time
  }

  fileprivate init(_ alert: Alert) {
    let kind: Kind =
      switch alert.kind {
      case .connected: .connected
      case .disconnected: .disconnected
      case .notified: .notified
      }
    self.init(kind, app: alert.app, peripheral: alert.peripheral, time: alert.time.sinceZero.duration)
  }
}

extension Device {
  /// The alerts that the device has shown about suspended apps, oldest first: its notification centre.
  public var alerts: [DeviceAlert] { virtualAdapter.directory.alerts.map { DeviceAlert($0) } }

  /// Allows or denies an app the use of Bluetooth, as a user does in the settings. It takes effect at once: the managers
  /// of an app that is denied lose what they had, and become `unauthorized`. The system ends what it has preserved of a
  /// terminated app that is denied, and launches no denied app for an event.
  public func setPermission(_ isAllowed: Bool, ofApp name: String) {
    perform { device, now in device.setAccess(isAllowed, ofApp: name, at: now) }
  }

  /// Installs an app on the device. `launch` starts it.
  ///
  /// - Parameters:
  ///   - name: the name of the app, such as its bundle identifier, which is unique on the device.
  ///   - manifest: the declarations of the app.
  ///   - makeRoot: creates the root object of the app at each launch. It is called on the thread that runs the world.
  public func app<Root: AnyObject>(
    named name: String, manifest: AppManifest = AppManifest(), makeRoot: @escaping (AppLaunch) -> Root
  ) -> SimulatedApp<Root> {
    SimulatedApp(named: name, manifest: manifest, on: virtualAdapter, makeRoot: makeRoot)
  }
}
