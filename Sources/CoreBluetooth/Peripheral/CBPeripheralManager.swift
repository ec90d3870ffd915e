// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothDaemon
import BluetoothHost
import Foundation

/// The peripheral role of this device: it advertises and serves attributes.
open class CBPeripheralManager: CBManager {
  let core: PeripheralManagerCore

  /// Creates a manager without a delegate; its callbacks use the main queue.
  public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

  /// Creates a manager that calls `delegate`, held weakly, on `queue`; nil means the main queue. The user is not asked
  /// to turn Bluetooth on, as with `CBPeripheralManagerOptionShowPowerAlertKey: false`.
  public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// Creates a manager that calls `delegate`, held weakly, on `queue`; nil means the main queue. See
  /// `CBManagerOptionAdapterKey` for the selection of its device.
  public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    let identifier = options?[CBPeripheralManagerOptionRestoreIdentifierKey] as? String
    core = PeripheralManagerCore(
      queue: queue, adapter: AdapterSelection.adapter(for: options), restoreIdentifier: identifier)
    super.init(core: core)
    core.delegate = delegate
    core.open(for: self)
    core.check(options, against: .peripheralManager, from: self)
    if number(options?[CBPeripheralManagerOptionShowPowerAlertKey])?.boolValue == true { core.send(.askForPower) }
    if options?[CBPeripheralManagerOptionRestoreIdentifierKey] != nil { core.noteRestorability(of: self, identifier) }
  }

  deinit { core.close() }

  /// The delegate of the manager's events; held weakly.
  open var delegate: (any CBPeripheralManagerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// True while this manager advertises.
  open var isAdvertising: Bool { core.isAdvertising }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "isAdvertising": return isAdvertising
    default: return super.value(forKey: key)
    }
  }

  /// Returns the permission of this app to use Bluetooth. Replaced by `CBManager.authorization`.
  @available(*, deprecated, message: "use CBManager.authorization")
  @discardableResult
  open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
    switch authorization {
    case .notDetermined: .notDetermined
    case .restricted: .restricted
    case .denied: .denied
    case .allowedAlways: .authorized
    }
  }

  /// Advertises the local name and the service UUIDs in `advertisementData`. Other keys, and values of other types, are
  /// ignored, with one logged line for each manager. Name and UUIDs share 28 octets, and the name can use 10 more in the
  /// scan response.
  ///
  /// Data from `CLBeaconRegion.peripheralData(withMeasuredPower:)` of the module `BeaconLocation` have a key of their
  /// own. With that key, the manager advertises an iBeacon, which leaves no room for a name and UUIDs.
  open func startAdvertising(_ advertisementData: [String: Any]?) {
    guard core.accepts(from: self) else { return }
    let beacon = HostAdvertising(beaconIn: advertisementData ?? [:])
    core.check(advertisementData, against: beacon == nil ? .advertisementData : .beacon, from: self)
    if let beacon { return core.advertise(beacon) }
    core.startAdvertising(
      localName: advertisementData?[CBAdvertisementDataLocalNameKey] as? String,
      services: (advertisementData?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []).map(\.wire))
  }

  /// Stops advertising, without a callback.
  open func stopAdvertising() {
    guard core.accepts(from: self) else { return }
    core.stopAdvertising()
  }

  /// Requests another connection latency of the link to `central`, which may reject it.
  open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
    guard core.accepts(from: self) else { return }
    core.setLatency(ConnectionLatency(latency), of: central)
  }

  /// Publishes the current content of a service. `peripheralManager(_:didAdd:error:)` reports the result. The
  /// services that it includes must have been published before.
  open func add(_ service: CBMutableService) {
    service.checkCachedValues()
    guard core.accepts(from: self) else { return }
    core.add(service)
  }

  /// Removes a published service, without a callback.
  open func remove(_ service: CBMutableService) {
    guard core.accepts(from: self) else { return }
    core.remove(service)
  }

  /// Removes all services that this manager has published, without a callback.
  open func removeAllServices() {
    guard core.accepts(from: self) else { return }
    core.removeAllServices()
  }

  /// Responds to a request. One response answers all requests of the same callback.
  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
    guard core.accepts(from: self) else { return }
    core.respond(to: request, with: result)
  }

  /// Sends the value to the subscribers among `centrals`, nil for all subscribers, truncated to the maximum length of
  /// each link. Returns false if there is no room; `peripheralManagerIsReady(toUpdateSubscribers:)` is called when
  /// there is.
  @discardableResult
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool {
    guard core.accepts(from: self) else { return false }
    return core.update(value, of: characteristic, for: centrals)
  }

  /// Publishes an L2CAP channel with a free PSM, which `peripheralManager(_:didPublishL2CAPChannel:error:)` reports.
  ///
  /// Centrals can open the channel any number of times; `peripheralManager(_:didOpen:error:)` reports each. With
  /// `encryptionRequired`, they can open it only over an encrypted link, so a central without a bond has to pair. The
  /// app tells centrals the PSM, for example in the characteristic `CBUUIDL2CAPPSMCharacteristicString`.
  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
    guard core.accepts(from: self) else { return }
    core.send(.publishChannel(isEncrypted: encryptionRequired))
  }

  /// Unpublishes an L2CAP channel and closes the channels opened with its PSM.
  /// `peripheralManager(_:didUnpublishL2CAPChannel:error:)` reports the result.
  open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
    guard core.accepts(from: self) else { return }
    core.send(.unpublishChannel(psm: PSM))
  }
}

extension ConnectionLatency {
  fileprivate init(_ latency: CBPeripheralManagerConnectionLatency) {
    switch latency {
    case .low: self = .low
    case .medium: self = .medium
    case .high: self = .high
    }
  }
}
