import BluetoothCrypto
import BluetoothWire

/// The least that a pairing must bring: what was demanded of the link, and no less than the bond that it replaces has. A bond
/// made with LE Secure Connections is never followed by LE legacy pairing, nor an authenticated key by one that is not.
struct PairingNeeds {
  var level = LinkSecurity.Level.none
  var keySize: UInt8
  var isSecureConnections: Bool

  init(policy: PairingPolicy, demand: SecurityDemand?, bond: Bond?, security: LinkSecurity) {
    isSecureConnections = policy.secureConnections == .only
    keySize = isSecureConnections ? 16 : max(7, policy.keySizes.lowerBound)
    if let demand {
      level = demand.level
      keySize = max(keySize, demand.keySize)
    }
    level = max(level, security.level)
    keySize = max(keySize, security.keySize)
    for key in bond?.keys ?? [] {
      level = max(level, key.level)
      keySize = max(keySize, key.size)
      if key.isSecureConnections { isSecureConnections = true }
    }
  }

  /// Why no pairing of a device with this policy can bring it; nil: one might.
  func refusal(policy: PairingPolicy, hasOOBData: Bool) -> SMP.FailureReason? {
    if !policy.isPairable { return .pairingNotSupported }
    let canAuthenticate = policy.ioCapability != .noInputNoOutput || hasOOBData
    if level == .authenticated, !canAuthenticate { return .authenticationRequirements }
    if isSecureConnections, policy.secureConnections == .never { return .authenticationRequirements }
    return keySize > min(16, policy.keySizes.upperBound) ? .encryptionKeySize : nil
  }
}

/// What the two devices have agreed on by Pairing Request and Pairing Response · Vol 3, Part H, 2.3.
struct PairingAgreement {
  let role: Link.Role
  let request: SMP.PairingFeatures
  let response: SMP.PairingFeatures
  let initiator: Toolbox.Address
  let responder: Toolbox.Address
  let model: AssociationModel
  let isSecureConnections: Bool
  /// Octets of the encryption key.
  let keySize: UInt8

  /// The two exchanged features; it throws where they can't come together.
  init(
    role: Link.Role, own: DeviceAddress, peer: DeviceAddress, request: SMP.PairingFeatures,
    response: SMP.PairingFeatures, needs: PairingNeeds
  ) throws(SMP.FailureReason) {
    self.role = role
    self.request = request
    self.response = response
    initiator = Toolbox.Address(role == .central ? own : peer)
    responder = Toolbox.Address(role == .central ? peer : own)
    isSecureConnections = request.asks(for: .secureConnections) && response.asks(for: .secureConnections)
    model = AssociationModel(initiator: request, responder: response, isSecureConnections: isSecureConnections)
    keySize = min(request.maximumEncryptionKeySize, response.maximumEncryptionKeySize)
    // Nobody else has this device's address: the two sides of a pairing could not be told apart.
    if own == peer { throw .unspecifiedReason }
    if needs.isSecureConnections, !isSecureConnections { throw .authenticationRequirements }
    if needs.level == .authenticated, !model.method.isAuthenticated { throw .authenticationRequirements }
    if keySize < needs.keySize { throw .encryptionKeySize }
  }

  /// Both devices keep the keys.
  var isBonding: Bool { request.asks(for: .bonding) && response.asks(for: .bonding) }
  /// Both devices tell of what is typed.
  var hasKeypresses: Bool { request.asks(for: .keypress) && response.asks(for: .keypress) }
  var ownFeatures: SMP.PairingFeatures { role == .central ? request : response }
  var peerFeatures: SMP.PairingFeatures { role == .central ? response : request }

  /// What this device gives away.
  var ownKeys: SMP.KeyDistribution {
    keys(role == .central ? response.initiatorKeyDistribution : response.responderKeyDistribution)
  }
  /// What the peer gives away.
  var peerKeys: SMP.KeyDistribution {
    keys(role == .central ? response.responderKeyDistribution : response.initiatorKeyDistribution)
  }

  /// With LE Secure Connections both sides have made the encryption key · 3.6.1.
  private func keys(_ keys: SMP.KeyDistribution) -> SMP.KeyDistribution {
    let keys = keys.intersection([.encryptionKey, .identityKey, .signingKey])
    return isSecureConnections ? keys.subtracting(.encryptionKey) : keys
  }

  /// The key that the pairing has made.
  func longTermKey(_ value: Block) -> LongTermKey {
    LongTermKey(
      value.shortened(to: keySize), size: keySize, isAuthenticated: model.method.isAuthenticated,
      isSecureConnections: isSecureConnections)
  }

  /// A key of LE legacy pairing that one of the two gives away.
  func longTermKey(_ value: Block, diversifier: UInt16, random: UInt64) -> LongTermKey {
    var key = longTermKey(value)
    key.diversifier = diversifier
    key.random = random
    return key
  }
}

extension PairingPolicy {
  /// What a device says of itself in a Pairing Request.
  func request(asksForAuthentication: Bool, hasOOBData: Bool, hasIdentity: Bool) -> SMP.PairingFeatures {
    let isBare = !isBonding
    return SMP.PairingFeatures(
      ioCapability: ioCapability, hasOOBData: hasOOBData,
      authenticationRequirements: requirements(asksForAuthentication: asksForAuthentication),
      maximumEncryptionKeySize: min(16, keySizes.upperBound),
      initiatorKeyDistribution: isBare ? [] : offered(hasIdentity: hasIdentity),
      responderKeyDistribution: isBare ? [] : wanted)
  }

  /// The answer to a Pairing Request: of the keys no more than was asked for and offered.
  func response(
    to request: SMP.PairingFeatures, asksForAuthentication: Bool, hasOOBData: Bool, hasIdentity: Bool
  ) -> SMP.PairingFeatures {
    var own = self.request(
      asksForAuthentication: asksForAuthentication, hasOOBData: hasOOBData, hasIdentity: hasIdentity)
    let keysStay = own.asks(for: .bonding) && request.asks(for: .bonding)
    own.initiatorKeyDistribution = keysStay ? wanted.intersection(request.initiatorKeyDistribution) : []
    own.responderKeyDistribution =
      keysStay ? offered(hasIdentity: hasIdentity).intersection(request.responderKeyDistribution) : []
    if own.asks(for: .secureConnections), request.asks(for: .secureConnections) {
      own.initiatorKeyDistribution.remove(.encryptionKey)
      own.responderKeyDistribution.remove(.encryptionKey)
    }
    return own
  }

  func requirements(asksForAuthentication: Bool) -> SMP.AuthenticationRequirements {
    var requirements: SMP.AuthenticationRequirements = isBonding ? .bonding : []
    if asksForAuthentication || self.asksForAuthentication { requirements.insert(.manInTheMiddleProtection) }
    if secureConnections != .never { requirements.insert(.secureConnections) }
    if sendsKeypresses { requirements.insert(.keypress) }
    return requirements
  }

  private func offered(hasIdentity: Bool) -> SMP.KeyDistribution {
    let keys = possible(distributedKeys)
    return hasIdentity ? keys : keys.subtracting(.identityKey)
  }

  private var wanted: SMP.KeyDistribution { possible(acceptedKeys) }

  /// No keys of BR/EDR are derived; and no encryption key is given away where both sides always make it.
  private func possible(_ keys: SMP.KeyDistribution) -> SMP.KeyDistribution {
    let keys = keys.intersection([.encryptionKey, .identityKey, .signingKey])
    return secureConnections == .only ? keys.subtracting(.encryptionKey) : keys
  }
}
