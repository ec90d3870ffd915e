import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The reason why a text is not a bond record.
package enum BondDecodingError: Error, Hashable, Sendable {
  /// The text is invalid.
  case malformed(String)
  /// A later version of this software has written the text.
  case laterFormat(Int)
}

extension BondDecodingError: CustomStringConvertible {
  /// A description in one line.
  package var description: String {
    switch self {
    case .malformed(let text): "not a valid bond: \(text)"
    case .laterFormat(let format): "written by a later version (format \(format))"
    }
  }
}

/// A bond as JSON: keys in hexadecimal, most significant octet first, as the Core Specification prints them. Unknown
/// members are ignored and lost when the record is written again; a later format is not read at all.
extension BondRecord {
  static let format = 1

  /// The record as JSON, with all keys.
  package var json: JSON {
    .members([
      "format": .integer(Int64(Self.format)),
      "identity": .string(identity.digits),
      "identityType": .string(identity.kind.word),
      "identifier": .string(identifier.digits),
      "name": name.map { .string($0) },
      "number": number == 0 ? nil : .integer(number),
      "pairedAt": pairedAt.map { .integer($0) },
      "confirmed": isConfirmed ? nil : .bool(false),
      "privacyMode": .string(privacyMode.rawValue),
      "connectionParameters": connectionParameters.map(\.json),
      "keys": bond.keysJSON,
      "client": clientRecord.map(\.json),
      "cache": cache.map(\.json),
    ])
  }

  /// Reads a record from `json`.
  package init(json: JSON) throws(BondDecodingError) {
    let json = JSONObject(json, "the record")
    try json.checkFormat(Self.format)
    var bond = Bond(identity: try json.address("identity", type: "identityType"))
    if let keys = try json.object("keys") { try bond.readKeys(keys) }
    self.init(bond, identifier: try json.identifier("identifier"), name: try json.optionalText("name"))
    number = Int64(UInt32(clamping: try json.optionalInteger("number") ?? 0))
    pairedAt = try json.optionalInteger("pairedAt")
    if json.has("confirmed") { isConfirmed = try json.bool("confirmed") }
    if let text = try json.optionalText("privacyMode") {
      guard let mode = PrivacyMode(rawValue: text) else { throw .malformed("unknown privacyMode \"\(text)\"") }
      privacyMode = mode
    }
    if let object = try json.object("connectionParameters") {
      connectionParameters = try ConnectionParameters(object)
    }
    if let object = try json.object("client") { clientRecord = try GATTClientRecord(object) }
    if let object = try json.object("cache") { cache = try GATTCache(object) }
  }

  /// Reads the content of a file.
  package init(jsonText bytes: [UInt8]) throws(BondDecodingError) {
    self = try BondRecord(json: JSON(bondText: bytes))
  }
}

extension AdapterSecrets {
  static let format = 1

  var json: JSON {
    .members([
      "format": .integer(Int64(Self.format)),
      "identity": identity.map { .string($0.digits) },
      "identityType": identity.map { .string($0.kind.word) },
      "identityKey": .string(identityKey.digits),
    ])
  }

  init(json: JSON) throws(BondDecodingError) {
    let json = JSONObject(json, "the file")
    try json.checkFormat(Self.format)
    let key = try json.block("identityKey")
    guard key != .zero else { throw .malformed("identityKey is zero") }
    self.init(
      identity: json.has("identity") ? try json.address("identity", type: "identityType") : nil, identityKey: key)
  }

  init(jsonText bytes: [UInt8]) throws(BondDecodingError) {
    self = try AdapterSecrets(json: JSON(bondText: bytes))
  }
}

extension JSON {
  /// Parses the content of a file.
  init(bondText bytes: [UInt8]) throws(BondDecodingError) {
    do throws(JSON.ParsingError) { self = try JSON(parsing: bytes) } catch { throw .malformed("\(error)") }
  }
}

// MARK: Keys

extension Bond {
  fileprivate var keysJSON: JSON {
    .members([
      "secureConnections": key.map(\.json),
      "own": ownKey.map(\.json),
      "peer": peerKey.map(\.json),
      "peerIdentity": peerIdentityKey.map { .string($0.digits) },
      "verifies": signatureVerifier.map { signingJSON($0.key, $0.nextCounter) },
      "signs": signatureMaker.map { signingJSON($0.key, $0.nextCounter) },
    ])
  }

  private func signingJSON(_ key: Block, _ nextCounter: UInt32?) -> JSON {
    .members(["key": .string(key.digits), "nextCounter": nextCounter.map { .integer(Int64($0)) }])
  }

  fileprivate mutating func readKeys(_ json: JSONObject) throws(BondDecodingError) {
    if let object = try json.object("secureConnections") { key = try LongTermKey(object, isSecureConnections: true) }
    if let object = try json.object("own") { ownKey = try LongTermKey(object, isSecureConnections: false) }
    if let object = try json.object("peer") { peerKey = try LongTermKey(object, isSecureConnections: false) }
    // Ignore a key of zeros, which means that there is no key.
    if json.has("peerIdentity"), case let key = try json.block("peerIdentity"), key != .zero { peerIdentityKey = key }
    if let object = try json.object("verifies") {
      signatureVerifier = SignatureVerifier(
        key: try object.block("key"), nextCounter: try object.optionalNumber("nextCounter"))
    }
    if let object = try json.object("signs") {
      signatureMaker = Signer(
        key: try object.block("key"), nextCounter: try object.optionalNumber("nextCounter"))
    }
  }
}

extension LongTermKey {
  fileprivate var json: JSON {
    .members([
      "key": .string(value.digits),
      "size": .integer(Int64(size)),
      "authenticated": .bool(isAuthenticated),
      "ediv": isSecureConnections ? nil : .string(diversifier.hexadecimal),
      "rand": isSecureConnections ? nil : .string(random.hexadecimal),
    ])
  }

  fileprivate init(_ json: JSONObject, isSecureConnections: Bool) throws(BondDecodingError) {
    let size: UInt8 = try json.number("size")
    let value = try json.block("key")
    guard (7...16).contains(size) else { throw .malformed("invalid key size: \(size) octets") }
    guard value.cut(to: size) == value else { throw .malformed("a key is longer than its size") }
    self.init(
      value, diversifier: isSecureConnections ? 0 : try json.hexadecimal("ediv"),
      random: isSecureConnections ? 0 : try json.hexadecimal("rand"), size: size,
      isAuthenticated: try json.bool("authenticated"), isSecureConnections: isSecureConnections)
  }
}

extension Block {
  /// Returns the `size` least significant octets · Vol 3, Part H, 2.3.4.
  func cut(to size: UInt8) -> Block {
    let bytes = bytes
    let cut = [UInt8](repeating: 0, count: 16 - Int(min(size, 16))) + bytes.suffix(Int(min(size, 16)))
    return Block(cut) ?? .zero
  }

  /// The value as 32 digits, most significant first.
  var digits: String { high.hexadecimal + low.hexadecimal }
}

extension ConnectionParameters {
  fileprivate var json: JSON {
    .members([
      "minimumInterval": .integer(Int64(minimumInterval)),
      "maximumInterval": .integer(Int64(maximumInterval)),
      "latency": .integer(Int64(latency)),
      "supervisionTimeout": .integer(Int64(supervisionTimeout)),
    ])
  }

  fileprivate init(_ json: JSONObject) throws(BondDecodingError) {
    self.init(
      minimumInterval: try json.number("minimumInterval"), maximumInterval: try json.number("maximumInterval"),
      latency: try json.number("latency"), supervisionTimeout: try json.number("supervisionTimeout"))
  }
}

extension DeviceAddress {
  /// The address as text, such as `C0:11:22:33:44:55`.
  package var digits: String {
    (0..<6).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)).hexadecimal }.joined(separator: ":")
  }
}

extension DeviceAddress.Kind {
  var word: String { self == .public ? "public" : "random" }

  init?(word: String) {
    switch word {
    case "public": self = .public
    case "random": self = .random
    default: return nil
    }
  }
}
