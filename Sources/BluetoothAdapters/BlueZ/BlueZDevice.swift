import BluetoothBonds
import BluetoothCrypto
import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import BluetoothWire
import DequeModule
import NIOCore

/// A device of BlueZ that apps know as a peer.
struct BlueZDevice {
  let path: String
  var isConnected = false
  var isResolved = false
  /// True while BlueZ has not answered Connect.
  var isConnecting = false
  /// The next attempt to connect.
  var retry: Scheduled<Void>?
  /// The paths of the attributes by handle.
  var attributes: [AttributeHandle: String] = [:]
  /// The maximum length of a write without response.
  var maximumWriteLength = Self.defaultWriteLength
  /// The requests that wait for the services.
  var waiting: [(SessionError?) -> Void] = []
  /// The reason for the end of the link, which BlueZ has told before the end.
  var reason: HCI.ErrorCode?
  /// The operations that wait for an earlier one of the same attribute, by path. BlueZ refuses a second one. A path
  /// without waiting operations has an empty list as long as one runs.
  var operations: [String: Deque<() -> Void>] = [:]
  /// The reads of this process by path, with the values that were reported meanwhile.
  var reads: [String: (count: Int, values: [[UInt8]])] = [:]
  /// The sockets with the notifications of characteristics, by path.
  var notifySockets: [String: BlueZSocket] = [:]
  var writeSockets: [String: BlueZWriteSocket] = [:]

  /// With the least ATT_MTU of 23 octets.
  static let defaultWriteLength = 20

  init(path: String) { self.path = path }
}

/// A central manager's session.
struct BlueZCentral {
  /// The part of a link that the session has.
  enum Use: Equatable {
    case delayed
    case connecting
    case connected
    case cancelling
  }

  let counters: SessionCounters
  /// The number of states that the session was told.
  var states: UInt32 = 0
  var scan: ScanRequest?
  /// The peers that the scan has reported.
  var reported: Set<PeerHandle> = []
  var uses: [PeerHandle: Use] = [:]
  /// The peers whose links are established again after a loss.
  var reconnecting: Set<PeerHandle> = []
  var observesLinks = false
  var filter: ConnectionEventFilter?
  /// The paths of the characteristics that notify the session.
  var notifying: Set<String> = []

  init(_ counters: SessionCounters) { self.counters = counters }
}

extension PeerIdentifier {
  /// The identifier of a device that BlueZ knows: the same in all runs on this machine, and not derivable without the
  /// machine's identifier.
  init(ofDevice device: DeviceAddress, on adapter: DeviceAddress) {
    let text = String(decoding: (try? SystemFiles().read("/etc/machine-id", limit: 64)) ?? [], as: UTF8.self)
    let digits = text.filter(\.isHexDigit)
    let key = Block(
      high: UInt64(digits.prefix(16), radix: 16) ?? 0, low: UInt64(digits.dropFirst(16).prefix(16), radix: 16) ?? 0)
    let hash = AES128.cmac(Array("BlueZ \(adapter) \(device)".utf8), key: key)
    self.init(high: hash.high, low: hash.low)
  }
}

extension DiscoveryInfo {
  /// The data of a device's last packets. BlueZ does not tell if they were connectable.
  init(_ peer: PeerInfo, _ device: [String: DBusValue]) {
    self.init(peer: peer, isConnectable: true, rssi: Int8(clamping: device["RSSI"]?.integer ?? 127))
    localName = device["Name"]?.string
    txPowerLevel = device["TxPower"]?.integer.map { Int8(clamping: $0) }
    services = (device["UUIDs"]?.texts ?? []).compactMap { BluetoothUUID($0)?.attributeForm }
    for (uuid, data) in (device["ServiceData"]?.options ?? [:]).sorted(by: { $0.key < $1.key }) {
      if let uuid = BluetoothUUID(uuid), let octets = data.octets {
        serviceData.append((uuid.attributeForm, ByteSlice(octets)))
      }
    }
    let companies = (device["ManufacturerData"]?.entries ?? [:]).compactMap { entry -> (Int, [UInt8])? in
      guard let company = entry.key.integer, let octets = entry.value.octets else { return nil }
      return (company, octets)
    }
    if let (company, octets) = companies.min(by: { $0.0 < $1.0 }) {
      manufacturerData = ByteSlice(
        [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + octets)
    }
  }
}

extension SessionError {
  /// The error of a GATT operation. BlueZ has names for some codes of ATT; the others are a number in the text.
  init(attribute error: DBusError, isWrite: Bool) {
    let name = error.name.hasPrefix(BlueZName.error) ? String(error.name.dropFirst(BlueZName.error.count)) : ""
    switch name {
    case "NotPermitted":
      self = .att(
        error.message.contains("paired")
          ? .insufficientAuthentication : isWrite ? .writeNotPermitted : .readNotPermitted)
    case "NotAuthorized": self = .att(.insufficientAuthorization)
    case "InvalidOffset": self = .att(.invalidOffset)
    // Versions without the names above and below.
    case "InvalidArguments" where error.message.contains("offset"): self = .att(.invalidOffset)
    case "InvalidArguments" where error.message.contains("ength"): self = .att(.invalidAttributeValueLength)
    case "InvalidValueLength": self = .att(.invalidAttributeValueLength)
    case "ImproperlyConfigured": self = .att(.cccdImproperlyConfigured)
    case "NotSupported": self = .att(.requestNotSupported)
    case "NotConnected": self = .link(.remoteUserTerminatedConnection)
    case "Failed" where error.message == "Not connected": self = .link(.remoteUserTerminatedConnection)
    default:
      if let start = error.message.firstRange(of: "0x"),
        let code = UInt8(error.message[start.upperBound...].prefix { $0.isHexDigit }, radix: 16), code != 0
      {
        self = .att(ATT.ErrorCode(rawValue: code))
      } else if error.name == DBusError.Name.noReply {
        self = .timeout
      } else {
        self = .att(.unlikelyError)
      }
    }
  }
}

extension HCI.ErrorCode {
  /// The reason of BlueZ's signal Disconnected.
  init?(bluezReason name: String?) {
    switch name {
    case "org.bluez.Reason.Timeout"?: self = .connectionTimeout
    case "org.bluez.Reason.Local"?, "org.bluez.Reason.LocalSuspend"?: self = .connectionTerminatedByLocalHost
    case "org.bluez.Reason.Remote"?: self = .remoteUserTerminatedConnection
    case "org.bluez.Reason.Authentication"?: self = .authenticationFailure
    default: return nil
    }
  }
}
