import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The file of a bond. Keys are in hexadecimal, most significant octet first, as the Core Specification prints them.
extension BondRecord: BondFile {
  private enum Key: CodingKey {
    case identity, identityType, identifier, name, number, pairedAt, confirmed, inputDevice, privacyMode
    case connectionParameters, notifications, requester
    case keys, client, cache
  }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    var bond = HostBond(identity: try json.address(.identity, type: .identityType))
    if try json.has(.keys) { try bond.readKeys(json.nestedContainer(keyedBy: HostBond.Key.self, forKey: .keys)) }
    let identifier = try json.uuid(.identifier)
    self.init(
      bond, identifier: PeerIdentifier(high: identifier.high, low: identifier.low),
      name: try json.decodeIfPresent(String.self, forKey: .name))
    number = Int64(UInt32(clamping: try json.optionalNumber(.number) ?? Int64(0)))
    pairedAt = try json.optionalNumber(.pairedAt)
    isConfirmed = try json.decodeIfPresent(Bool.self, forKey: .confirmed) ?? true
    // A number below zero stands for the clients without a known user, such as those on TCP.
    let user: Int64? = try json.optionalNumber(.requester)
    requester = user.map { ClientUser(UInt32(exactly: $0)) }
    getsNotifications = try json.decodeIfPresent(Bool.self, forKey: .notifications)
    isInputDevice = try json.decodeIfPresent(Bool.self, forKey: .inputDevice) ?? false
    if try json.has(.privacyMode) { privacyMode = try json.word(.privacyMode) }
    connectionParameters = try json.decodeIfPresent(LinkParameters.self, forKey: .connectionParameters)
    clientRecord = try json.decodeIfPresent(GATTClientRecord.self, forKey: .client)
    cache = try json.decodeIfPresent(GATTCache.self, forKey: .cache)
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(identity.digits, forKey: .identity)
    try json.encode(identity.kind.word, forKey: .identityType)
    try json.encode(identifier.digits, forKey: .identifier)
    try json.encodeIfPresent(name, forKey: .name)
    try json.encodeIfPresent(number == 0 ? nil : number, forKey: .number)
    try json.encodeIfPresent(pairedAt, forKey: .pairedAt)
    try json.encodeIfPresent(isConfirmed ? nil : false, forKey: .confirmed)
    try json.encodeIfPresent(requester.map { $0.number.map { Int64($0) } ?? -1 }, forKey: .requester)
    try json.encodeIfPresent(getsNotifications, forKey: .notifications)
    try json.encodeIfPresent(isInputDevice ? true : nil, forKey: .inputDevice)
    try json.encode(privacyMode.rawValue, forKey: .privacyMode)
    try json.encodeIfPresent(connectionParameters, forKey: .connectionParameters)
    var keys = json.nestedContainer(keyedBy: HostBond.Key.self, forKey: .keys)
    try bond.writeKeys(to: &keys)
    try json.encodeIfPresent(clientRecord, forKey: .client)
    try json.encodeIfPresent(cache, forKey: .cache)
  }
}

extension AdapterSecrets: BondFile {
  private enum Key: CodingKey { case identity, identityType, identityKey, identifierGeneration, switchedOff }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    let key = try json.block(.identityKey)
    guard key != .zero else { throw json.invalid(.identityKey, "the key is zero") }
    self.init(identity: try json.has(.identity) ? json.address(.identity, type: .identityType) : nil, identityKey: key)
    identifierGeneration = try json.optionalNumber(.identifierGeneration) ?? 0
    isSwitchedOff = try json.decodeIfPresent(Bool.self, forKey: .switchedOff) ?? false
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encodeIfPresent(identity?.digits, forKey: .identity)
    try json.encodeIfPresent(identity?.kind.word, forKey: .identityType)
    try json.encode(identityKey.digits, forKey: .identityKey)
    try json.encodeIfPresent(identifierGeneration == 0 ? nil : identifierGeneration, forKey: .identifierGeneration)
    try json.encodeIfPresent(isSwitchedOff ? true : nil, forKey: .switchedOff)
  }
}

// MARK: Keys

extension HostBond {
  fileprivate enum Key: CodingKey { case secureConnections, own, peer, peerIdentity, verifies, signs }

  fileprivate mutating func readKeys(_ json: KeyedDecodingContainer<Key>) throws {
    key = try json.longTermKey(.secureConnections, isSecureConnections: true)
    ownKey = try json.longTermKey(.own, isSecureConnections: false)
    peerKey = try json.longTermKey(.peer, isSecureConnections: false)
    // Ignore a key of zeros, which means that there is no key.
    if try json.has(.peerIdentity), case let key = try json.block(.peerIdentity), key != .zero { peerIdentityKey = key }
    signatureVerifier = try json.decodeIfPresent(SigningKey.self, forKey: .verifies)
      .map { SignatureVerifier(key: $0.key, nextCounter: $0.nextCounter) }
    signatureMaker = try json.decodeIfPresent(SigningKey.self, forKey: .signs)
      .map { Signer(key: $0.key, nextCounter: $0.nextCounter) }
  }

  fileprivate func writeKeys(to json: inout KeyedEncodingContainer<Key>) throws {
    try json.encodeIfPresent(key, forKey: .secureConnections)
    try json.encodeIfPresent(ownKey, forKey: .own)
    try json.encodeIfPresent(peerKey, forKey: .peer)
    try json.encodeIfPresent(peerIdentityKey?.digits, forKey: .peerIdentity)
    try json.encodeIfPresent(
      signatureVerifier.map { SigningKey(key: $0.key, nextCounter: $0.nextCounter) }, forKey: .verifies)
    try json.encodeIfPresent(
      signatureMaker.map { SigningKey(key: $0.key, nextCounter: $0.nextCounter) }, forKey: .signs)
  }
}

extension KeyedDecodingContainer<HostBond.Key> {
  fileprivate func longTermKey(_ key: Key, isSecureConnections: Bool) throws -> LongTermKey? {
    guard try has(key) else { return nil }
    let json = try nestedContainer(keyedBy: LongTermKey.Key.self, forKey: key)
    let size: UInt8 = try json.number(.size)
    let value = try json.block(.key)
    guard (7...16).contains(size) else { throw json.invalid(.size, "invalid key size: \(size) octets") }
    guard value.cut(to: size) == value else { throw json.invalid(.key, "a key is longer than its size") }
    return LongTermKey(
      value, diversifier: isSecureConnections ? 0 : try json.hexadecimal(.ediv),
      random: isSecureConnections ? 0 : try json.hexadecimal(.rand), size: size,
      isAuthenticated: try json.decode(Bool.self, forKey: .authenticated), isSecureConnections: isSecureConnections)
  }
}

extension LongTermKey: Encodable {
  fileprivate enum Key: CodingKey { case key, size, authenticated, ediv, rand }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(value.digits, forKey: .key)
    try json.encode(size, forKey: .size)
    try json.encode(isAuthenticated, forKey: .authenticated)
    guard !isSecureConnections else { return }
    try json.encode(diversifier.hexadecimal, forKey: .ediv)
    try json.encode(random.hexadecimal, forKey: .rand)
  }
}

/// A Connection Signature Resolving Key with the next counter; nil: all counters are used up.
private struct SigningKey: Codable {
  enum CodingKeys: CodingKey { case key, nextCounter }

  let key: Block
  let nextCounter: UInt32?

  init(key: Block, nextCounter: UInt32?) {
    self.key = key
    self.nextCounter = nextCounter
  }

  init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: CodingKeys.self)
    key = try json.block(.key)
    nextCounter = try json.optionalNumber(.nextCounter)
  }

  func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: CodingKeys.self)
    try json.encode(key.digits, forKey: .key)
    try json.encodeIfPresent(nextCounter, forKey: .nextCounter)
  }
}

// MARK: Values

extension LinkParameters: Codable {
  private enum Key: CodingKey { case minimumInterval, maximumInterval, latency, supervisionTimeout }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      minimumInterval: try json.number(.minimumInterval), maximumInterval: try json.number(.maximumInterval),
      latency: try json.number(.latency), supervisionTimeout: try json.number(.supervisionTimeout))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(minimumInterval, forKey: .minimumInterval)
    try json.encode(maximumInterval, forKey: .maximumInterval)
    try json.encode(latency, forKey: .latency)
    try json.encode(supervisionTimeout, forKey: .supervisionTimeout)
  }
}
