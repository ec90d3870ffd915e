import BluetoothHost
import Foundation

/// The keys that a call takes in a dictionary from the app, the types of their values, and the keys without effect.
struct OptionList: Sendable {
  /// The type of a value.
  enum Kind: Sendable {
    case boolean, seconds, string, uuids, identifiers
    /// A value of any type, because the code that uses the value reports a wrong type itself.
    case checkedInUse

    /// Returns true if the value is used.
    func accepts(_ value: Any) -> Bool {
      switch self {
      case .boolean, .seconds: number(value) != nil
      case .string: value is String
      case .uuids: value is [CBUUID]
      case .identifiers: value is [UUID]
      case .checkedInUse: true
      }
    }

    /// The type in words, for the log.
    var text: String {
      switch self {
      case .boolean: "Bool"
      case .seconds: "a number"
      case .string: "String"
      case .uuids: "[CBUUID]"
      case .identifiers: "[UUID]"
      case .checkedInUse: "Any"
      }
    }
  }

  /// The line about unknown keys, between the manager and the keys.
  let unknownText: String
  let kinds: [String: Kind]
  /// The keys without effect, with the reason as a clause.
  var reasons: [String: String] = [:]

  init(of call: String, _ kinds: [String: Kind], without reasons: [String: String] = [:]) {
    self.init(unknownText: "does not know these options of \(call); ignored", kinds: kinds, reasons: reasons)
  }

  private init(unknownText: String, kinds: [String: Kind], reasons: [String: String] = [:]) {
    self.unknownText = unknownText
    self.kinds = kinds
    self.reasons = reasons
  }
}

extension OptionList {
  static let centralManager = OptionList(
    of: "init",
    [
      CBCentralManagerOptionShowPowerAlertKey: .boolean, CBCentralManagerOptionRestoreIdentifierKey: .checkedInUse,
      CBCentralManagerOptionDeviceAccessForMedia: .boolean, CBManagerOptionAdapterKey: .checkedInUse,
    ],
    without: [CBCentralManagerOptionDeviceAccessForMedia: "it is about a permission of Apple's systems"])

  static let peripheralManager = OptionList(
    of: "init",
    [
      CBPeripheralManagerOptionShowPowerAlertKey: .boolean,
      CBPeripheralManagerOptionRestoreIdentifierKey: .checkedInUse, CBManagerOptionAdapterKey: .checkedInUse,
    ])

  static let scan = OptionList(
    of: "scanForPeripherals",
    [
      CBCentralManagerScanOptionAllowDuplicatesKey: .boolean,
      CBCentralManagerScanOptionSolicitedServiceUUIDsKey: .uuids,
    ])

  /// The options of `connect` for an app of a world or of btserver.
  static let connect = OptionList(
    of: "connect",
    [
      CBConnectPeripheralOptionNotifyOnConnectionKey: .boolean,
      CBConnectPeripheralOptionNotifyOnDisconnectionKey: .boolean,
      CBConnectPeripheralOptionNotifyOnNotificationKey: .boolean, CBConnectPeripheralOptionStartDelayKey: .seconds,
      CBConnectPeripheralOptionEnableTransportBridgingKey: .boolean, CBConnectPeripheralOptionRequiresANCS: .boolean,
      CBConnectPeripheralOptionEnableAutoReconnect: .boolean,
    ],
    without: [CBConnectPeripheralOptionEnableTransportBridgingKey: "there is no Bluetooth Classic"])

  /// The options of `connect` for a process that is no app: nothing suspends it, so it gets no alerts.
  static let connectOutsideApps: OptionList = {
    var list = connect
    for key in [
      CBConnectPeripheralOptionNotifyOnConnectionKey, CBConnectPeripheralOptionNotifyOnDisconnectionKey,
      CBConnectPeripheralOptionNotifyOnNotificationKey,
    ] {
      list.reasons[key] = "the process is not an app of a world or of btserver"
    }
    return list
  }()

  static let connectionEvents = OptionList(
    of: "registerForConnectionEvents",
    [
      CBConnectionEventMatchingOption.serviceUUIDs.rawValue: .uuids,
      CBConnectionEventMatchingOption.peripheralUUIDs.rawValue: .identifiers,
    ])

  static let advertisementData = OptionList(
    unknownText: "can advertise only a name and service UUIDs; ignored",
    kinds: [CBAdvertisementDataLocalNameKey: .string, CBAdvertisementDataServiceUUIDsKey: .uuids])

  static let beacon = OptionList(
    unknownText: "can advertise only an iBeacon; ignored", kinds: [HostAdvertising.beaconKey: .checkedInUse])
}

extension ManagerCore {
  /// Logs the options without effect: unknown keys, values of a wrong type, and keys that `list` names. Each key is
  /// logged once for each manager, because an app can repeat a call at any rate.
  func check(_ options: [String: Any]?, against list: OptionList, from manager: Role.Manager) {
    guard let options, !options.isEmpty else { return }
    let keys = options.keys.sorted()
    let unknown = keys.filter { list.kinds[$0] == nil && isFirstNote(about: $0) }
    if !unknown.isEmpty { Log.warning("\(manager) \(list.unknownText): \(unknown.joined(separator: ", "))") }
    for key in keys {
      guard let value = options[key], let kind = list.kinds[key] else { continue }
      if let reason = list.reasons[key] {
        // A value that asks for nothing needs no effect.
        guard number(value)?.boolValue != false, isFirstNote(about: key) else { continue }
        Log.warning("\(manager): the option \(key) has no effect, because \(reason)")
      } else if !kind.accepts(value), isFirstNote(about: key) {
        Log.warning(
          "\(manager): the value of \(key) is ignored, because it is of type \(type(of: value)): expected \(kind.text)")
      }
    }
  }

  /// Returns true the first time for each `key`: an option, or another function without effect.
  func isFirstNote(about key: String) -> Bool { with { $0.notedOptions.insert(key).inserted } }
}
