import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import TestVectors
import Testing

@Suite("Pairing: all combinations") struct PairingMatrixTests {
  @Test(
    "Whichever side starts, both get the method, the key and the bond that the tables specify", .requirement("L166"),
    arguments: PairingCombination.all)
  func matrix(_ parameters: PairingCombination) throws {
    for requests in PairingRequests.all { try check(parameters, requests) }
  }

  private func check(_ parameters: PairingCombination, _ requests: PairingRequests) throws {
    var pair = SecurityPair(
      central: PairingPolicy(.central, in: parameters, requests),
      peripheral: PairingPolicy(.peripheral, in: parameters, requests))
    pair.secure(requests.starter)

    let expected = try parameters.expected(requests.isProtected)
    let central = try #require(pair.central.outcomes.first, "\(parameters), \(requests): \(pair.central.failures)")
    let peripheral = try #require(pair.peripheral.outcomes.first)
    for outcome in [central, peripheral] {
      #expect(outcome.method == expected.method)
      #expect(outcome.isSecureConnections == parameters.isSecureConnections)
      #expect(outcome.keySize == 16)
      #expect((outcome.bond != nil) == requests.isBonding)
    }
    checkPrompts(pair.central.prompts, expected, shows: .initiatorShowsPasskey)
    checkPrompts(pair.peripheral.prompts, expected, shows: .responderShowsPasskey)
    #expect(pair.central.prompts.filter(\.isComparison) == pair.peripheral.prompts.filter(\.isComparison))

    let level: HostLinkSecurity.Level = expected == .justWorks ? .encrypted : .authenticated
    for side in [pair.central, pair.peripheral] {
      #expect(side.manager.security.level == level)
      #expect(side.manager.security.keySize == 16)
      #expect(side.manager.security.isBonded == requests.isBonding)
      #expect(side.failures.isEmpty && side.refusals.isEmpty)
      #expect(side.events.last != .prompt(.allow) && side.manager.prompt == nil)
    }
    #expect(pair.keys.count == 1 && pair.mismatches == 0 && pair.keys[0] != .zero)
    if let one = central.bond, let other = peripheral.bond { checkBonds(one, other, parameters, level, pair.keys[0]) }
    #expect((pair.peripheral.codes.first == .securityRequest) == (requests.starter == .peripheral))
  }

  private func checkPrompts(_ prompts: [PairingPrompt], _ expected: PairingTable.Method, shows: PairingTable.Method) {
    switch expected {
    case .justWorks: #expect(prompts == [.allow])
    case .numericComparison: #expect(prompts.count == 1 && prompts.allSatisfy(\.isComparison))
    case shows: #expect(prompts.count == 1 && prompts.allSatisfy(\.isShown))
    default: #expect(prompts == [.enterPasskey])
    }
  }

  private func checkBonds(
    _ central: HostBond, _ peripheral: HostBond, _ parameters: PairingCombination, _ level: HostLinkSecurity.Level,
    _ key: Block
  ) {
    #expect(central.identity == SecurityPair.identities.peripheral)
    #expect(peripheral.identity == SecurityPair.identities.central)
    #expect(central.level == level && peripheral.level == level)
    #expect(central.key == peripheral.key && (central.key?.value == key) == parameters.isSecureConnections)
    #expect(central.peerKey == peripheral.ownKey && central.ownKey == peripheral.peerKey)
    #expect((central.peerKey != nil) == !parameters.isSecureConnections)
    #expect(central.peerIdentityKey == Block(high: 0x1234, low: 2))
    #expect(peripheral.peerIdentityKey == Block(high: 0x1234, low: 1))
    #expect(central.signatureMaker?.key == peripheral.signatureVerifier?.key && central.signatureMaker != nil)
    #expect(peripheral.signatureMaker?.key == central.signatureVerifier?.key && peripheral.signatureMaker != nil)
  }
}

extension PairingPrompt {
  var isComparison: Bool { if case .compare = self { true } else { false } }
  var isShown: Bool { if case .show = self { true } else { false } }
}
