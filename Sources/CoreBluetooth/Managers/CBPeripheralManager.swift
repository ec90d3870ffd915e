// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothDaemon
import Foundation

/// This device as a peripheral: it advertises and serves attributes.
open class CBPeripheralManager: CBManager {
  let core: PeripheralManagerCore

  /// A manager without a delegate, for the main queue.
  public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

  /// A manager that tells `delegate`, held weakly, on `queue` (nil: main).
  public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// A manager that tells `delegate`, held weakly, on `queue` (nil: main). See `CBManagerOptionAdapterKey` for the device
  /// that it uses.
  public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    core = PeripheralManagerCore(delegate: delegate, queue: queue, adapter: AdapterSelection.adapter(for: options))
    super.init(core: core)
    core.open(for: self)
    if number(options?[CBPeripheralManagerOptionShowPowerAlertKey])?.boolValue == true { core.send(.askForPower) }
    if options?[CBPeripheralManagerOptionRestoreIdentifierKey] != nil {
      Log.warning("\(self): state restoration is not supported yet; the restore identifier has no effect")
    }
  }

  deinit { core.close() }

  /// Who is told; held weakly.
  open var delegate: (any CBPeripheralManagerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// Whether this manager advertises.
  open var isAdvertising: Bool { core.isAdvertising }

  /// The old form of `CBManager.authorization`.
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

  /// Advertises the local name and the service UUIDs of `advertisementData`; its other keys are ignored. 28 octets are
  /// for both, and 10 more of the scan response for the name.
  open func startAdvertising(_ advertisementData: [String: Any]?) {
    guard core.accepts(from: self) else { return }
    let used: Set = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
    let ignored = (advertisementData ?? [:]).keys.filter { !used.contains($0) }.sorted()
    if !ignored.isEmpty {
      Log.warning("\(self) advertises a name and service UUIDs only; ignored: \(ignored.joined(separator: ", "))")
    }
    core.startAdvertising(
      localName: advertisementData?[CBAdvertisementDataLocalNameKey] as? String,
      services: (advertisementData?[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []).map(\.wire))
  }

  /// Ends advertising; no callback.
  open func stopAdvertising() {
    guard core.accepts(from: self) else { return }
    core.stopAdvertising()
  }

  /// Asks for another reaction time of the link to `central`, which may decline.
  open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
    guard core.accepts(from: self) else { return }
    core.setLatency(ConnectionLatency(latency), of: central)
  }

  /// Publishes a service, as it is now: `peripheralManager(_:didAdd:error:)`. Services that it includes must have been
  /// published before.
  open func add(_ service: CBMutableService) {
    service.checkCachedValues()
    guard core.accepts(from: self) else { return }
    core.add(service)
  }

  /// Takes a service back; no callback.
  open func remove(_ service: CBMutableService) {
    guard core.accepts(from: self) else { return }
    core.remove(service)
  }

  /// Takes all services of this manager back; no callback.
  open func removeAllServices() {
    guard core.accepts(from: self) else { return }
    core.removeAllServices()
  }

  /// Answers a request, once for all that came with it.
  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
    guard core.accepts(from: self) else { return }
    core.respond(to: request, with: result)
  }

  /// Sends the value to the subscribed ones of `centrals` (nil: to all that are subscribed), each as much as its link
  /// takes. False: there is no room; `peripheralManagerIsReady` says when there is.
  @discardableResult
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool {
    guard core.accepts(from: self) else { return false }
    return core.update(value, of: characteristic, for: centrals)
  }

  /// Offers an L2CAP channel, under a number that is free: `peripheralManager(_:didPublishL2CAPChannel:error:)` tells which.
  /// Centrals can open it any number of times: `peripheralManager(_:didOpen:error:)`. With `encryptionRequired` only over an
  /// encrypted link: a central without a bond has to pair. How a central learns the number is up to the app; there is a
  /// characteristic for it, `CBUUIDL2CAPPSMCharacteristicString`.
  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
    guard core.accepts(from: self) else { return }
    core.send(.publishChannel(isEncrypted: encryptionRequired))
  }

  /// Withdraws an L2CAP channel and closes those that were opened to it:
  /// `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
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
