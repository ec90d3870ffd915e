import BluetoothDaemon
import BluetoothWire
import Foundation

/// The central role of this device: it scans for peripherals and connects to them.
open class CBCentralManager: CBManager {
  let core: CentralManagerCore

  /// Creates a manager without a delegate; its callbacks use the main queue.
  public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

  /// Creates a manager that calls `delegate`, held weakly, on `queue`; nil means the main queue. The user is not asked
  /// to turn Bluetooth on, as with `CBCentralManagerOptionShowPowerAlertKey: false`.
  public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// Creates a manager that calls `delegate`, held weakly, on `queue`; nil means the main queue. See
  /// `CBManagerOptionAdapterKey` for the selection of its device.
  public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    let identifier = options?[CBCentralManagerOptionRestoreIdentifierKey] as? String
    core = CentralManagerCore(
      queue: queue, adapter: AdapterSelection.adapter(for: options), restoreIdentifier: identifier)
    super.init(core: core)
    core.delegate = delegate
    core.open(for: self)
    core.check(options, against: .centralManager, from: self)
    if number(options?[CBCentralManagerOptionShowPowerAlertKey])?.boolValue == true { core.askForPower() }
    if options?[CBCentralManagerOptionRestoreIdentifierKey] != nil { core.noteRestorability(of: self, identifier) }
  }

  deinit { core.close() }

  /// The delegate of the manager's events; held weakly.
  open var delegate: (any CBCentralManagerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// True while this manager scans.
  open var isScanning: Bool { core.isScanning }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "isScanning": return isScanning
    default: return super.value(forKey: key)
    }
  }

  /// Returns true if this package uses all of `features` and the controller of the adapter selected last has them.
  /// Returns false before that adapter has been powered on for the first time, because only the controller knows its
  /// features.
  @discardableResult
  open class func supports(_ features: Feature) -> Bool { Feature(AdapterSelection.features).isSuperset(of: features) }

  /// Returns the known peripherals among these identifiers, in their order. Empty unless powered on.
  @discardableResult
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    guard core.accepts(from: self) else { return [] }
    return core.knownPeripherals(identifiers)
  }

  /// Returns the peripherals that any app is connected to and that are known to have one of these services.
  @discardableResult
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    guard core.accepts(from: self) else { return [] }
    return core.connectedPeripherals(serviceUUIDs.map(\.wire))
  }

  /// Scans for peripherals that advertise one of the services (nil for all) until `stopScan`. Replaces the previous
  /// scan.
  open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
    guard core.accepts(from: self) else { return core.wantsToScan() }
    core.check(options, against: .scan, from: self)
    let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
    core.scan(
      ScanRequest(
        services: serviceUUIDs.flatMap { $0.isEmpty ? nil : $0.map(\.wire) },
        solicitedServices: solicited?.map(\.wire) ?? [],
        allowsDuplicates: number(options?[CBCentralManagerScanOptionAllowDuplicatesKey])?.boolValue ?? false))
  }

  /// Stops the scan. No `didDiscover` follows.
  open func stopScan() {
    guard core.accepts(from: self) else { return }
    core.stopScan()
  }

  /// Connects to the peripheral. The attempt has no time limit: it lasts until `cancelPeripheralConnection`, or until
  /// the last reference to `peripheral` is released.
  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    guard core.accepts(from: self), owns(peripheral) else { return }
    core.check(options, against: core.owner == nil ? .connectOutsideApps : .connect, from: self)
    let delay = number(options?[CBConnectPeripheralOptionStartDelayKey])?.doubleValue ?? 0
    core.connect(
      peripheral, delay: TimeSpan(secondsFromApp: delay),
      reconnects: number(options?[CBConnectPeripheralOptionEnableAutoReconnect])?.boolValue ?? false,
      requiresNotifications: number(options?[CBConnectPeripheralOptionRequiresANCS])?.boolValue ?? false,
      alerts: alerts(options))
  }

  /// Ends the connection or the attempt. The delegate gets `didDisconnectPeripheral` without an error.
  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    guard core.accepts(from: self), owns(peripheral) else { return }
    core.cancel(peripheral)
  }

  /// Requests `centralManager(_:connectionEventDidOccur:for:)` for the connections that others make to matching
  /// peripherals: another manager, or another app on the same adapter. Connections of this manager have `didConnect` and
  /// `didDisconnectPeripheral` instead.
  ///
  /// The registration replaces an earlier one, and ends when the adapter leaves `poweredOn`.
  ///
  /// - Parameter options: `.peripheralUUIDs` with the `[UUID]` of peripherals, `.serviceUUIDs` with `[CBUUID]`, at most
  ///   4: a peripheral matches if it is known to offer one of them. nil ends the registration. Other values are logged
  ///   and ignored.
  open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
    guard core.accepts(from: self) else { return }
    guard let options else { return core.send(.registerForConnectionEvents(nil)) }
    let values = options.map { ($0.key.rawValue, $0.value) }
    core.check(Dictionary(uniqueKeysWithValues: values), against: .connectionEvents, from: self)
    let services = options[.serviceUUIDs] as? [CBUUID] ?? []
    let peers = options[.peripheralUUIDs] as? [UUID] ?? []
    guard services.count <= ConnectionEventFilter.maximumServiceCount else {
      return Log.misuse(
        "\(self): connection events for \(services.count) services were requested: expected at most"
          + " \(ConnectionEventFilter.maximumServiceCount)")
    }
    guard !services.isEmpty || !peers.isEmpty else {
      return Log.misuse(
        "\(self): connection events were requested for no peripheral: expected [CBUUID] for serviceUUIDs or [UUID] for"
          + " peripheralUUIDs")
    }
    let identifiers = core.adapterIdentifiers(peers)
    core.send(
      .registerForConnectionEvents(
        ConnectionEventFilter(peers: Set(identifiers), services: Set(services.map(\.wire)))))
  }

  /// The alerts that the options of `connect` ask for.
  private func alerts(_ options: [String: Any]?) -> AlertKinds {
    guard let options else { return [] }
    var alerts: AlertKinds = []
    if number(options[CBConnectPeripheralOptionNotifyOnConnectionKey])?.boolValue == true { alerts.insert(.connection) }
    if number(options[CBConnectPeripheralOptionNotifyOnDisconnectionKey])?.boolValue == true {
      alerts.insert(.disconnection)
    }
    if number(options[CBConnectPeripheralOptionNotifyOnNotificationKey])?.boolValue == true {
      alerts.insert(.notification)
    }
    return alerts
  }

  private func owns(_ peripheral: CBPeripheral) -> Bool {
    if peripheral.isUsable(by: core) { return true }
    Log.misuse("\(peripheral) is not, or is no longer, a peripheral of \(self)")
    return false
  }
}

extension CBCentralManager {
  /// The hardware features for `supports(_:)`.
  public struct Feature: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Scanning for extended advertising, and connecting to devices that use it.
    public static let extendedScanAndConnect = Feature(rawValue: 1 << 0)
    // swift-format-ignore: DontRepeatTypeInStaticProperties
    /// LL Privacy: resolvable private addresses.
    public static let privacyFeature = Feature(rawValue: 1 << 1)
    /// Bluetooth Channel Sounding (iOS 27). `supports(_:)` returns false for it: this package has no channel sounding.
    public static let channelSounding = Feature(rawValue: 1 << 10)
  }
}

extension CBCentralManager.Feature {
  fileprivate init(_ features: AdapterFeatures) {
    self = []
    if features.contains(.extendedScanAndConnect) { insert(.extendedScanAndConnect) }
    if features.contains(.privacy) { insert(.privacyFeature) }
  }
}

/// Returns the number in an option's value, which apps pass as `NSNumber`, `Bool`, `Int` or `Double`.
func number(_ value: Any?) -> NSNumber? { value as? NSNumber }

extension TimeSpan {
  /// Creates a time from an app's seconds: zero for NaN and negative values, and at most one year.
  init(secondsFromApp seconds: Double) {
    let year = 31_536_000.0
    self.init(nanoseconds: seconds > 0 ? Int64(min(seconds, year) * 1e9) : 0)
  }
}
