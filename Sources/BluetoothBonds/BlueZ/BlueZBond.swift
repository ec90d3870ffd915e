// Design: files of BlueZ
//
// BlueZ's `info` file has the opposite octet order. The group identifies the owner of a key, and Authenticated says how
// the key was made. The file keeps the last counter of signed writes that was accepted, not the next one.

import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The reason why a text of BlueZ is not a bond with an LE device.
package enum BlueZError: Error, Hashable, Sendable {
  /// A line (counted from 1) is neither a group nor a value.
  case malformed(line: Int)
  /// A value does not have BlueZ's format.
  case value(group: String, key: String)
  /// There is no AddressType: the device supports only BR/EDR.
  case notLowEnergy
  /// The address is not an identity address, so no bond can belong to it.
  case notAnIdentity
  /// The key was generated with the debug key, which is public.
  case debugKey
  /// There is no key.
  case noKey
}

extension BlueZError: CustomStringConvertible {
  /// A description in one line.
  package var description: String {
    switch self {
    case .malformed(let line): "line \(line): expected a group or a value"
    case .value(let group, let key): "\(key) of [\(group)] is missing or invalid"
    case .notLowEnergy: "no AddressType in [General]: not a Low Energy device"
    case .notAnIdentity: "the address is not an identity address"
    case .debugKey: "the key is a debug key"
    case .noKey: "no [LongTermKey] or [PeripheralLongTermKey]"
    }
  }
}

/// A bond in BlueZ 5's format, in `/var/lib/bluetooth/ADAPTER/DEVICE/info` · BlueZ, doc/settings-storage.txt,
/// src/adapter.c, src/device.c.
///
/// The octets of keys are written least significant first, as on the air. `LongTermKey` is the key that the device has
/// distributed, for links on which this computer is the central; `PeripheralLongTermKey` (before 5.63
/// `SlaveLongTermKey`) is the key that the computer has distributed, or the one key of LE Secure Connections. The
/// address is the folder's name.
extension BondRecord {
  /// Parses a bond of BlueZ.
  ///
  /// - Parameters:
  ///   - text: the content of the file.
  ///   - address: the name of the file's folder.
  ///   - identifier: the identifier by which apps will know the device.
  package init(bluezInfo text: String, address: String, identifier: PeerIdentifier) throws(BlueZError) {
    let file = try KeyFile(text)
    guard let value = DeviceAddress.value(digits: address) else { throw .notAnIdentity }
    guard let type = file["General", "AddressType"] else { throw .notLowEnergy }
    let identity = DeviceAddress(value, type == "static" ? .random : .public)
    guard identity.kind == .public || identity.randomKind == .static else { throw .notAnIdentity }

    var bond = HostBond(identity: identity)
    if file.has("LongTermKey") {
      let key = try file.longTermKey("LongTermKey")
      // Up to BlueZ 5.62, Master=0 or Master=false in this group marks the key that this computer has distributed.
      let isPeers = !["false", "0"].contains(file["LongTermKey", "Master"])
      bond.take(key, isPeers: isPeers)
    }
    // Both groups hold the same key; the newer name takes precedence, as in BlueZ.
    if let group = ["PeripheralLongTermKey", "SlaveLongTermKey"].first(where: file.has) {
      bond.take(try file.longTermKey(group), isPeers: false)
    }
    guard bond.key != nil || bond.ownKey != nil || bond.peerKey != nil else { throw .noKey }
    if file.has("IdentityResolvingKey") {
      let key = try file.key("IdentityResolvingKey")
      bond.peerIdentityKey = key == .zero ? nil : key
    }
    if file.has("LocalSignatureKey") {
      bond.signatureMaker = Signer(
        key: try file.key("LocalSignatureKey"), nextCounter: try file.counter("LocalSignatureKey"))
    }
    if file.has("RemoteSignatureKey") {
      // BlueZ stores the last accepted counter; 0 also means that there was none.
      let last = try file.counter("RemoteSignatureKey")
      bond.signatureVerifier = SignatureVerifier(
        key: try file.key("RemoteSignatureKey"), nextCounter: last == 0 ? 0 : last == .max ? nil : last + 1)
    }
    self.init(bond, identifier: identifier, name: file["General", "Name"].map(KeyFile.unescaped))
    if file.has("ConnectionParameters") {
      connectionParameters = LinkParameters(
        minimumInterval: try file.number("ConnectionParameters", "MinInterval"),
        maximumInterval: try file.number("ConnectionParameters", "MaxInterval"),
        latency: try file.number("ConnectionParameters", "Latency"),
        supervisionTimeout: try file.number("ConnectionParameters", "Timeout"))
    }
  }

  /// The name of the folder in which BlueZ expects `bluezInfo`.
  package var bluezFolder: String { identity.digits }

  /// The bond in BlueZ's format, with all keys. Data without a place in that format (the identifier, the date, the GATT
  /// databases) is left out; the device is neither trusted nor blocked in BlueZ.
  package var bluezInfo: String {
    var file = KeyFile()
    if let name { file["General", "Name"] = KeyFile.escaped(name) }
    file["General", "AddressType"] = identity.kind == .public ? "public" : "static"
    file["General", "SupportedTechnologies"] = "LE;"
    file["General", "Trusted"] = "false"
    file["General", "Blocked"] = "false"
    if let services = bluezServices { file["General", "Services"] = services }
    if let key = bond.peerIdentityKey { file["IdentityResolvingKey", "Key"] = key.bluezDigits }
    let isAuthenticated = bond.level == .authenticated
    if let maker = bond.signatureMaker, let counter = maker.nextCounter {
      file.setSignatureKey("LocalSignatureKey", maker.key, counter: counter, isAuthenticated: isAuthenticated)
    }
    if let verifier = bond.signatureVerifier {
      let last = verifier.nextCounter.map { $0 == 0 ? 0 : $0 - 1 } ?? .max
      file.setSignatureKey("RemoteSignatureKey", verifier.key, counter: last, isAuthenticated: isAuthenticated)
    }
    if let key = bond.peerKey { file.setLongTermKey("LongTermKey", key) }
    if let key = bond.key ?? bond.ownKey {
      // Write both names, as BlueZ does for compatibility with its older versions.
      file.setLongTermKey("PeripheralLongTermKey", key)
      file.setLongTermKey("SlaveLongTermKey", key)
    }
    if let parameters = connectionParameters {
      file["ConnectionParameters", "MinInterval"] = String(parameters.minimumInterval)
      file["ConnectionParameters", "MaxInterval"] = String(parameters.maximumInterval)
      file["ConnectionParameters", "Latency"] = String(parameters.latency)
      file["ConnectionParameters", "Timeout"] = String(parameters.supervisionTimeout)
    }
    return file.text
  }

  /// The UUIDs of all known services, each in its 128-bit form.
  private var bluezServices: String? {
    guard case .services(let services)? = cache?.responses[.primaryServices], !services.isEmpty else { return nil }
    return services.map { BluetoothUUID(high: $0.uuid.high, low: $0.uuid.low).description.lowercased() + ";" }.joined()
  }
}

extension HostBond {
  fileprivate mutating func take(_ key: LongTermKey, isPeers: Bool) {
    if key.isSecureConnections {
      self.key = key
    } else if isPeers {
      peerKey = key
    } else {
      ownKey = key
    }
  }
}

/// The values of BlueZ's Authenticated entry · BlueZ, doc/mgmt-protocol.rst, New Long Term Key.
private enum BlueZKeyType: UInt8 {
  case unauthenticated = 0
  case authenticated = 1
  case unauthenticatedP256 = 2
  case authenticatedP256 = 3
  case debugP256 = 4

  var isAuthenticated: Bool { self == .authenticated || self == .authenticatedP256 }
  var isSecureConnections: Bool { rawValue >= Self.unauthenticatedP256.rawValue }

  init(_ key: LongTermKey) {
    switch (key.isSecureConnections, key.isAuthenticated) {
    case (false, false): self = .unauthenticated
    case (false, true): self = .authenticated
    case (true, false): self = .unauthenticatedP256
    case (true, true): self = .authenticatedP256
    }
  }
}

extension Block {
  /// The key as 32 digits, least significant octet first.
  fileprivate var bluezDigits: String { bytes.reversed().map(\.hexadecimal).joined() }
}

extension KeyFile {
  fileprivate func number<T: FixedWidthInteger>(_ group: String, _ key: String) throws(BlueZError) -> T {
    guard let text = self[group, key], let number = T(text) else { throw .value(group: group, key: key) }
    return number
  }

  /// Returns the key of a group, with or without the prefix `0x`.
  fileprivate func key(_ group: String) throws(BlueZError) -> Block {
    guard let text = self[group, "Key"], let octets = hexadecimalOctets(text.withoutPrefix),
      let key = Block(octets.reversed())
    else { throw .value(group: group, key: "Key") }
    return key
  }

  fileprivate func longTermKey(_ group: String) throws(BlueZError) -> LongTermKey {
    let size: UInt8 = try number(group, "EncSize")
    guard (7...16).contains(size) else { throw .value(group: group, key: "EncSize") }
    guard let type = BlueZKeyType(rawValue: try number(group, "Authenticated")) else {
      throw .value(group: group, key: "Authenticated")
    }
    if type == .debugP256 { throw .debugKey }
    let value = try key(group).cut(to: size)
    if type.isSecureConnections {
      return LongTermKey(value, size: size, isAuthenticated: type.isAuthenticated, isSecureConnections: true)
    }
    return LongTermKey(
      value, diversifier: try number(group, "EDiv"), random: try random(group), size: size,
      isAuthenticated: type.isAuthenticated, isSecureConnections: false)
  }

  /// Returns Rand: a decimal number or, after `0x`, as in files converted from BlueZ 4, octets with the least
  /// significant first.
  private func random(_ group: String) throws(BlueZError) -> UInt64 {
    guard let text = self[group, "Rand"], text.hasPrefix("0x") else { return try number(group, "Rand") }
    guard let octets = hexadecimalOctets(text.withoutPrefix), octets.count == 8 else {
      throw .value(group: group, key: "Rand")
    }
    return octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the counter, which is written as a signed number; 0 for older files, which have no counter.
  fileprivate func counter(_ group: String) throws(BlueZError) -> UInt32 {
    guard self[group, "Counter"] != nil else { return 0 }
    let number: Int64 = try number(group, "Counter")
    guard let counter = UInt32(exactly: number) ?? Int32(exactly: number).map(UInt32.init(bitPattern:)) else {
      throw .value(group: group, key: "Counter")
    }
    return counter
  }

  fileprivate mutating func setLongTermKey(_ group: String, _ key: LongTermKey) {
    self[group, "Key"] = key.value.bluezDigits
    self[group, "Authenticated"] = String(BlueZKeyType(key).rawValue)
    self[group, "EncSize"] = String(key.size)
    self[group, "EDiv"] = String(key.diversifier)
    self[group, "Rand"] = String(key.random)
  }

  fileprivate mutating func setSignatureKey(_ group: String, _ key: Block, counter: UInt32, isAuthenticated: Bool) {
    self[group, "Key"] = key.bluezDigits
    self[group, "Counter"] = String(Int32(bitPattern: counter))
    self[group, "Authenticated"] = isAuthenticated ? "true" : "false"
  }
}

extension String {
  fileprivate var withoutPrefix: Substring { hasPrefix("0x") ? dropFirst(2) : self[...] }
}
