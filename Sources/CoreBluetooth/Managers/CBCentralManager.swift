import BluetoothDaemon
import BluetoothWire
import Foundation

/// This device as a central: it scans for peripherals and connects to them.
open class CBCentralManager: CBManager {
  let core: CentralManagerCore

  /// A manager without a delegate, for the main queue.
  public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

  /// A manager that tells `delegate`, held weakly, on `queue` (nil: main).
  public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// A manager that tells `delegate`, held weakly, on `queue` (nil: main). See `CBManagerOptionAdapterKey` for the device
  /// that it uses.
  public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    core = CentralManagerCore(delegate: delegate, queue: queue, adapter: AdapterSelection.adapter(for: options))
    super.init(core: core)
    core.open(for: self)
    if number(options?[CBCentralManagerOptionShowPowerAlertKey])?.boolValue == true { core.askForPower() }
    if options?[CBCentralManagerOptionRestoreIdentifierKey] != nil {
      Log.warning("\(self): state restoration is not supported yet; the restore identifier has no effect")
    }
  }

  deinit { core.close() }

  /// Who is told; held weakly.
  open var delegate: (any CBCentralManagerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// Whether this manager scans.
  open var isScanning: Bool { core.isScanning }

  /// True if the controller of the adapter that the latest manager uses has all of `features`, and this package uses them.
  /// False before that adapter is powered on for the first time, because only the controller knows its features.
  @discardableResult
  open class func supports(_ features: Feature) -> Bool { Feature(AdapterSelection.features).isSuperset(of: features) }

  /// The peripherals of these identifiers that are known, in their order. Empty unless powered on.
  @discardableResult
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    guard core.accepts(from: self) else { return [] }
    return core.knownPeripherals(identifiers)
  }

  /// The peripherals that any app is connected to and that are known to have one of these services.
  @discardableResult
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    guard core.accepts(from: self) else { return [] }
    return core.connectedPeripherals(serviceUUIDs.map(\.wire))
  }

  /// Scans for peripherals that advertise one of the services (nil: all), until `stopScan`. Replaces the scan before.
  open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
    guard core.accepts(from: self) else { return core.wantsToScan() }
    let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
    core.scan(
      ScanRequest(
        services: serviceUUIDs.flatMap { $0.isEmpty ? nil : $0.map(\.wire) },
        solicitedServices: solicited?.map(\.wire) ?? [],
        allowsDuplicates: number(options?[CBCentralManagerScanOptionAllowDuplicatesKey])?.boolValue ?? false))
  }

  /// Ends the scan; nothing is discovered from here on.
  open func stopScan() {
    guard core.accepts(from: self) else { return }
    core.stopScan()
  }

  /// Connects, and waits for the peripheral as long as it takes: until `cancelPeripheralConnection`, or until the last
  /// reference to `peripheral` is gone.
  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    guard core.accepts(from: self), owns(peripheral) else { return }
    noteUnsupported(options)
    let delay = number(options?[CBConnectPeripheralOptionStartDelayKey])?.doubleValue ?? 0
    core.connect(
      peripheral, delay: TimeSpan(secondsFromApp: delay),
      reconnects: number(options?[CBConnectPeripheralOptionEnableAutoReconnect])?.boolValue ?? false)
  }

  /// Ends the connection, or the attempt: the delegate gets `didDisconnectPeripheral` without an error.
  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    guard core.accepts(from: self), owns(peripheral) else { return }
    core.cancel(peripheral)
  }

  /// Would report connections of other apps: not supported yet.
  open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
    guard core.accepts(from: self), options != nil else { return }
    Log.warning("\(self): connection events are not supported yet; none will be reported")
  }

  private static let alertOptions = [
    CBConnectPeripheralOptionNotifyOnConnectionKey, CBConnectPeripheralOptionNotifyOnDisconnectionKey,
    CBConnectPeripheralOptionNotifyOnNotificationKey,
  ]

  /// Logs the options that ask for alerts while an app is suspended: apps are never suspended here.
  private func noteUnsupported(_ options: [String: Any]?) {
    guard let options else { return }
    let wanted = Self.alertOptions.filter { number(options[$0])?.boolValue == true }
    if !wanted.isEmpty {
      Log.warning("\(self): options of connect that are not supported: \(wanted.joined(separator: ", "))")
    }
  }

  private func owns(_ peripheral: CBPeripheral) -> Bool {
    if peripheral.isUsable(by: core) { return true }
    Log.misuse("\(peripheral) is not, or not any more, a peripheral of \(self)")
    return false
  }
}

extension CBCentralManager {
  /// What hardware may have, for `supports(_:)`.
  public struct Feature: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Scanning for extended advertising, and connecting to it.
    public static let extendedScanAndConnect = Feature(rawValue: 1 << 0)
    // swift-format-ignore: DontRepeatTypeInStaticProperties
    /// Privacy: resolvable addresses.
    public static let privacyFeature = Feature(rawValue: 1 << 1)
  }
}

extension CBCentralManager.Feature {
  fileprivate init(_ features: AdapterFeatures) {
    self = []
    if features.contains(.extendedScanAndConnect) { insert(.extendedScanAndConnect) }
    if features.contains(.privacy) { insert(.privacyFeature) }
  }
}

/// The number of an option's value, which apps give as `NSNumber`, `Bool`, `Int` or `Double`.
func number(_ value: Any?) -> NSNumber? { value as? NSNumber }

extension TimeSpan {
  /// What an app gives as seconds: nothing, infinite and negative values count as none; held at a year.
  init(secondsFromApp seconds: Double) {
    let year = 31_536_000.0
    self.init(nanoseconds: seconds > 0 ? Int64(min(seconds, year) * 1e9) : 0)
  }
}
