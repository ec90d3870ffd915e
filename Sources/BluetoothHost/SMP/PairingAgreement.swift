import BluetoothCrypto
import BluetoothWire

/// The minimum requirements of a pairing: those of the demand for the link, and the properties of the bond that it
/// replaces. LE legacy pairing never replaces a bond made with LE Secure Connections, and an unauthenticated key
/// never replaces an authenticated one.
struct PairingNeeds {
  var level = HostLinkSecurity.Level.none
  var keySize: UInt8
  var isSecureConnections: Bool

  init(policy: PairingPolicy, demand: SecurityDemand?, bond: HostBond?, security: HostLinkSecurity) {
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

  /// Returns the reason why no pairing of a device with this policy can meet the requirements; nil: a pairing may meet
  /// them.
  func refusal(policy: PairingPolicy, hasOOBData: Bool) -> SMP.FailureReason? {
    if !policy.isPairable { return .pairingNotSupported }
    let canAuthenticate = policy.ioCapability != .noInputNoOutput || hasOOBData
    if level == .authenticated, !canAuthenticate { return .authenticationRequirements }
    if isSecureConnections, policy.secureConnections == .never { return .authenticationRequirements }
    return keySize > min(16, policy.keySizes.upperBound) ? .encryptionKeySize : nil
  }
}

/// The result of Pairing Request and Pairing Response · Vol 3, Part H, 2.3.
struct PairingAgreement {
  let role: Link.Role
  let request: SMP.PairingFeatures
  let response: SMP.PairingFeatures
  let initiator: Toolbox.Address
  let responder: Toolbox.Address
  let model: AssociationModel
  let isSecureConnections: Bool
  /// The length of the encryption key in octets.
  let keySize: UInt8

  /// Combines the exchanged features; throws the reason if they are incompatible.
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
    // A peer with this device's own address makes the two sides of the pairing indistinguishable.
    if own == peer { throw .unspecifiedReason }
    if needs.isSecureConnections, !isSecureConnections { throw .authenticationRequirements }
    if needs.level == .authenticated, !model.method.isAuthenticated { throw .authenticationRequirements }
    if keySize < needs.keySize { throw .encryptionKeySize }
  }

  /// True if both devices store the keys.
  var isBonding: Bool { request.asks(for: .bonding) && response.asks(for: .bonding) }
  /// True if both devices send keypress notifications.
  var hasKeypresses: Bool { request.asks(for: .keypress) && response.asks(for: .keypress) }
  var ownFeatures: SMP.PairingFeatures { role == .central ? request : response }
  var peerFeatures: SMP.PairingFeatures { role == .central ? response : request }

  /// The keys that this device distributes.
  var ownKeys: SMP.KeyDistribution {
    keys(role == .central ? response.initiatorKeyDistribution : response.responderKeyDistribution)
  }
  /// The keys that the peer distributes.
  var peerKeys: SMP.KeyDistribution {
    keys(role == .central ? response.responderKeyDistribution : response.initiatorKeyDistribution)
  }

  /// Returns the keys that are distributed: with LE Secure Connections, both sides generate the encryption key
  /// · 3.6.1.
  private func keys(_ keys: SMP.KeyDistribution) -> SMP.KeyDistribution {
    let keys = keys.intersection([.encryptionKey, .identityKey, .signingKey])
    return isSecureConnections ? keys.subtracting(.encryptionKey) : keys
  }

  /// Returns the key that the pairing has generated.
  func longTermKey(_ value: Block) -> LongTermKey {
    LongTermKey(
      value.shortened(to: keySize), size: keySize, isAuthenticated: model.method.isAuthenticated,
      isSecureConnections: isSecureConnections)
  }

  /// Returns a key of LE legacy pairing that one of the devices distributes.
  func longTermKey(_ value: Block, diversifier: UInt16, random: UInt64) -> LongTermKey {
    var key = longTermKey(value)
    key.diversifier = diversifier
    key.random = random
    return key
  }
}

extension PairingPolicy {
  /// Returns the features for a Pairing Request.
  func request(asksForAuthentication: Bool, hasOOBData: Bool, hasIdentity: Bool) -> SMP.PairingFeatures {
    let isBare = !isBonding
    return SMP.PairingFeatures(
      ioCapability: ioCapability, hasOOBData: hasOOBData,
      authenticationRequirements: requirements(asksForAuthentication: asksForAuthentication),
      maximumEncryptionKeySize: min(16, keySizes.upperBound),
      initiatorKeyDistribution: isBare ? [] : offered(hasIdentity: hasIdentity),
      responderKeyDistribution: isBare ? [] : possibleAcceptedKeys)
  }

  /// Returns the features for a Pairing Response: only keys that the request asks for and offers.
  func response(
    to request: SMP.PairingFeatures, asksForAuthentication: Bool, hasOOBData: Bool, hasIdentity: Bool
  ) -> SMP.PairingFeatures {
    var own = self.request(
      asksForAuthentication: asksForAuthentication, hasOOBData: hasOOBData, hasIdentity: hasIdentity)
    let keysStay = own.asks(for: .bonding) && request.asks(for: .bonding)
    own.initiatorKeyDistribution = keysStay ? possibleAcceptedKeys.intersection(request.initiatorKeyDistribution) : []
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

  private var possibleAcceptedKeys: SMP.KeyDistribution { possible(acceptedKeys) }

  /// Removes unsupported keys: those derived for BR/EDR, and the encryption key if both sides always generate it.
  private func possible(_ keys: SMP.KeyDistribution) -> SMP.KeyDistribution {
    let keys = keys.intersection([.encryptionKey, .identityKey, .signingKey])
    return secureConnections == .only ? keys.subtracting(.encryptionKey) : keys
  }
}
