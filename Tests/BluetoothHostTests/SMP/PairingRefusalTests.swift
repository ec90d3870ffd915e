import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Refused pairings") struct PairingRefusalTests {
  private func expectFailure(
    _ pair: SecurityPair, _ reason: SMP.FailureReason, by role: Link.Role,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let other: Link.Role = role == .central ? .peripheral : .central
    #expect(pair[role].refusals == [reason], sourceLocation: sourceLocation)
    #expect(pair[other].refusals.isEmpty, sourceLocation: sourceLocation)
    #expect(pair[other].failures == [.refusedByPeer(reason)], sourceLocation: sourceLocation)
    #expect(pair[role].manager.prompt == nil && pair[other].manager.prompt == nil, sourceLocation: sourceLocation)
    #expect(pair.keys.isEmpty && pair[role].outcomes.isEmpty, sourceLocation: sourceLocation)
    #expect(pair.stillPairs(), sourceLocation: sourceLocation)
  }

  @Test(
    "A user who does not allow it: Pairing Not Supported, before any key or confirm value is sent",
    arguments: [Link.Role.central, .peripheral], [PairingPolicy.SecureConnections.never, .preferred])
  func notAllowed(role: Link.Role, mode: PairingPolicy.SecureConnections) {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: mode))
    pair[role].user.allows = false
    pair.secure(.central)
    expectFailure(pair, .pairingNotSupported, by: role)
    #expect(!pair[role].codes.contains(.pairingPublicKey) && !pair[role].codes.contains(.pairingConfirm))
    #expect(pair[role].failures == [.refused(.pairingNotSupported)])
  }

  @Test("A user who sees different numbers: Numeric Comparison Failed", arguments: [Link.Role.central, .peripheral])
  func notTheSame(role: Link.Role) {
    var pair = SecurityPair(
      central: PairingPolicy(.displayYesNo, authenticated: true), peripheral: PairingPolicy(.displayYesNo))
    pair[role].user.compares = false
    pair.secure(.central)
    expectFailure(pair, .numericComparisonFailed, by: role)
  }

  @Test(
    "A user who cancels: Passkey Entry Failed, on display and on input",
    arguments: [Link.Role.central, .peripheral], [PairingPolicy.SecureConnections.never, .preferred])
  func cancelled(role: Link.Role, mode: PairingPolicy.SecureConnections) {
    for capabilities in [(SMP.IOCapability.keyboardOnly, SMP.IOCapability.displayOnly), (.displayOnly, .keyboardOnly)] {
      var pair = SecurityPair(
        central: PairingPolicy(capabilities.0, authenticated: true, secureConnections: mode),
        peripheral: PairingPolicy(capabilities.1))
      pair.central.user.types = false
      pair.peripheral.user.types = false
      pair.secure(.central)
      pair.answer(role, .no)
      expectFailure(pair, .passkeyEntryFailed, by: role)
    }
  }

  @Test(
    "A wrong passkey: Confirm Value Failed",
    arguments: [PairingPolicy.SecureConnections.never, .preferred])
  func wrongPasskey(mode: PairingPolicy.SecureConnections) {
    var pair = SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true, secureConnections: mode),
      peripheral: PairingPolicy(.keyboardOnly))
    pair.central.user.passkey = 123_457
    pair.secure(.central)
    expectFailure(pair, .confirmValueFailed, by: .peripheral)
  }

  @Test("A passkey of seven digits is invalid")
  func tooLong() {
    var pair = SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true), peripheral: PairingPolicy(.displayOnly))
    pair.central.user.passkey = 1_000_000
    pair.secure(.central)
    expectFailure(pair, .passkeyEntryFailed, by: .central)
  }

  @Test("A device that is not pairable refuses pairing and does not start it either")
  func notPairable() {
    var pair = SecurityPair()
    pair.peripheral.context.policy.isPairable = false
    pair.secure(.central)
    expectFailure(pair, .pairingNotSupported, by: .peripheral)

    var other = SecurityPair()
    other.central.context.policy.isPairable = false
    other.secure(.central)
    #expect(other.central.failures == [.refused(.pairingNotSupported)] && other.central.codes.isEmpty)
    other.secure(.peripheral)
    #expect(other.peripheral.failures == [.refusedByPeer(.pairingNotSupported)])
  }

  @Test("P6 Secure connections only: LE legacy pairing is refused with Authentication Requirements")
  func secureConnectionsOnly() {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: .never))
    pair.peripheral.context.policy.secureConnections = .only
    pair.secure(.central)
    expectFailure(pair, .authenticationRequirements, by: .peripheral)

    var other = SecurityPair(peripheral: PairingPolicy(.noInputNoOutput, secureConnections: .never))
    other.central.context.policy.secureConnections = .only
    other.secure(.central)
    expectFailure(other, .authenticationRequirements, by: .central)
    #expect(other.central.prompts.isEmpty)
  }

  @Test(
    "Unattainable authentication is refused before the device that demands it prompts its user",
    arguments: [Link.Role.central, .peripheral])
  func unattainable(role: Link.Role) {
    var pair = SecurityPair(central: PairingPolicy(.displayOnly), peripheral: PairingPolicy(.displayOnly))
    pair.secure(role, .authenticated)
    #expect(pair[role].refusals == [.authenticationRequirements])
    #expect(pair[role].failures == [.refused(.authenticationRequirements)])
    #expect(pair.central.prompts.isEmpty || role == .peripheral)
    #expect(pair.peripheral.prompts.isEmpty || role == .central)
  }

  @Test(
    "A demand for authentication that this device can never provide is refused without any PDU",
    arguments: [Link.Role.central, .peripheral])
  func impossible(role: Link.Role) {
    var pair = SecurityPair()
    pair.secure(role, .authenticated)
    #expect(pair[role].failures == [.refused(.authenticationRequirements)])
    #expect(pair.central.codes.isEmpty && pair.peripheral.codes.isEmpty)
  }

  @Test("A demand for a longer key than both devices support is refused with Encryption Key Size")
  func keySizeDemand() {
    var short = PairingPolicy(.noInputNoOutput)
    short.keySizes = 7...10
    var pair = SecurityPair(peripheral: short)
    pair.central.context.policy.keySizes = 7...16
    pair.secure(.central, SecurityDemand(level: .encrypted, keySize: 12))
    expectFailure(pair, .encryptionKeySize, by: .central)
    pair.reconnect(keeping: false)
    pair.pass(.seconds(2))
    pair.secure(.central, SecurityDemand(level: .encrypted, keySize: 10))
    #expect(pair.central.manager.security.keySize == 10)
  }

  @Test(
    "The peer's next PDU waits for the user, and other PDUs are not accepted meanwhile",
    arguments: [PairingPolicy.SecureConnections.never, .preferred])
  func kept(mode: PairingPolicy.SecureConnections) {
    var pair = SecurityPair(central: PairingPolicy(.noInputNoOutput, secureConnections: mode))
    pair.peripheral.user.allows = nil
    pair.secure(.central)
    let last = pair.central.sent.last
    #expect(last?.code == (mode == .never ? .pairingConfirm : .pairingPublicKey))
    var flooded = pair
    if let last { flooded.deliver(last, to: .peripheral) }
    flooded.run()
    expectFailure(flooded, .unspecifiedReason, by: .peripheral)
    pair.answer(.peripheral, .yes)
    #expect(pair.peripheral.outcomes.count == 1)
  }

  @Test("The initiator's check value waits for the responder's user")
  func keptCheck() {
    var pair = SecurityPair(
      central: PairingPolicy(.displayYesNo, authenticated: true), peripheral: PairingPolicy(.displayYesNo))
    pair.peripheral.user.compares = nil
    pair.secure(.central)
    #expect(pair.central.codes.last == .pairingDHKeyCheck && pair.keys.isEmpty)
    pair.answer(.peripheral, .yes)
    #expect(pair.keys.count == 1 && pair.peripheral.outcomes.map(\.method) == [.numericComparison])
  }

  @Test("Keypress notifications are sent if both sides request them, and always accepted")
  func keypresses() {
    var policy = PairingPolicy(.keyboardOnly, authenticated: true)
    policy.sendsKeypresses = true
    for isWanted in [true, false] {
      var pair = SecurityPair(central: policy, peripheral: PairingPolicy(.displayOnly))
      pair.peripheral.context.policy.sendsKeypresses = isWanted
      pair.central.user.types = false
      pair.secure(.central)
      pair.answer(.central, .keypress(.passkeyDigitEntered))
      pair.answer(.central, .keypress(.passkeyDigitErased))
      let passkey = pair.peripheral.prompts.compactMap { if case .show(let passkey) = $0 { passkey } else { nil } }
      pair.answer(.central, .passkey(passkey.first ?? 0))
      let keypresses = pair.peripheral.events.compactMap { if case .keypress(let type) = $0 { type } else { nil } }
      #expect(
        keypresses
          == (isWanted
            ? [.passkeyEntryStarted, .passkeyDigitEntered, .passkeyDigitErased, .passkeyEntryCompleted] : []))
      #expect(pair.central.outcomes.map(\.method) == [.passkeyEntry])
    }
  }

  @Test("An answer that does not fit the prompt changes nothing")
  func strayAnswers() {
    var pair = SecurityPair(
      central: PairingPolicy(.keyboardOnly, authenticated: true), peripheral: PairingPolicy(.displayOnly))
    pair.central.user.types = false
    pair.answer(.central, .yes)
    pair.secure(.central)
    let count = pair.central.codes.count
    pair.answer(.central, .yes)
    pair.answer(.peripheral, .yes)
    pair.answer(.peripheral, .passkey(1))
    #expect(pair.central.codes.count == count && pair.central.manager.isPairing && pair.peripheral.manager.isPairing)
    pair.central.user.types = true
    pair.run()
    #expect(pair.central.outcomes.count == 1)
    pair.answer(.central, .no)
    #expect(pair.central.failures.isEmpty)
  }

  @Test("Every reason that a peer gives is reported", arguments: [Link.Role.central, .peripheral], UInt8(0)...0x12)
  func reasons(role: Link.Role, number: UInt8) {
    let reason = SMP.FailureReason(rawValue: number)
    var pair = SecurityPair()
    pair[role].user.allows = nil
    pair.secure(.central)
    pair.deliver(.pairingFailed(reason), to: role)
    pair.run()
    #expect(pair[role].failures == [.refusedByPeer(reason)])
    #expect(pair[role].refusals.isEmpty)
    // The other side counts the failure when the link ends.
    pair.end()
    #expect(pair.stillPairs())
  }
}
