import Requirements
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

@Suite struct ErrorTests {
  @Test(
    "9 Errors have Apple's texts", .requirement("A067"),
    .symbol("CBError.init(_:userInfo:)", "CBError.errorUserInfo", "CBError.localizedDescription"),
    arguments: [
      (CBError.Code.unknown, "Unknown error."),
      (.connectionTimeout, "The connection has timed out unexpectedly."),
      (.peripheralDisconnected, "The specified device has disconnected from us."),
      (.uuidNotAllowed, "The specified UUID is not allowed for this operation."),
      (.alreadyAdvertising, "Advertising has already started."),
      (.peerRemovedPairingInformation, "Peer removed pairing information"),
    ])
  func texts(code: CBError.Code, text: String) {
    let error: any Error = CBError(code)
    #expect(error.localizedDescription == text)
    #expect(CBError(code).localizedDescription == text)
    #expect(CBError(code).userInfo.isEmpty)
    #expect(CBError(code, userInfo: [NSLocalizedDescriptionKey: "mine"]).localizedDescription == "mine")
  }

  @Test(
    "9 ATT errors have Apple's texts", .symbol("CBATTError.init(_:userInfo:)", "CBATTError.localizedDescription"),
    arguments: [
      (CBATTError.Code.readNotPermitted, "Reading is not permitted."),
      (.writeNotPermitted, "Writing is not permitted."),
      (.insufficientAuthentication, "Authentication is insufficient."),
      (.insufficientEncryption, "Encryption is insufficient."),
    ])
  func attTexts(code: CBATTError.Code, text: String) {
    let error: any Error = CBATTError(code)
    #expect(error.localizedDescription == text)
  }

  @Test(
    "9 Errors are structs that hash, compare, match patterns and become NSErrors",
    .symbol("CBError", "CBError.code", "CBError.errorCode", "CBError.errorUserInfo", "CBATTError"))
  func shape() {
    #expect(Set([CBError(.unknown), CBError(.unknown), CBError(.outOfSpace)]).count == 2)
    #expect(CBError(.unknown) != CBError(.unknown, userInfo: ["a": 1]))
    #expect(CBError(.unknown, userInfo: ["a": 1]) == CBError(.unknown, userInfo: ["a": 1]))
    #expect(CBError(.unknown, userInfo: ["a": 1]) != CBError(.unknown, userInfo: ["a": 2]))
    let error: any Error = CBError(.connectionTimeout)
    #expect((error as NSError).domain == CBErrorDomain)
    #expect((error as NSError).code == 6)
    guard case CBError.connectionTimeout = error else {
      Issue.record("does not match its code")
      return
    }
    #expect(CBError(_nsError: NSError(domain: CBErrorDomain, code: 7)).code == .peripheralDisconnected)
    #expect(CBError(_nsError: NSError(domain: CBErrorDomain, code: 4711)).errorCode == 4711)
    #expect(CBATTError(.invalidOffset)._nsError.code == 7)
    #expect(CBATTError(_nsError: NSError(domain: CBATTErrorDomain, code: 0x80)).errorCode == 0x80)
  }

  @Test("9 Errors print as on Apple's systems, with the keys of userInfo in a fixed order")
  func printing() {
    let refused = SessionError.att(ATT.ErrorCode.readNotPermitted).appError()
    let text =
      #"Error Domain=CBATTErrorDomain Code=2 "Reading is not permitted." "#
      + "UserInfo={\(CBErrorATTErrorCodeKey)=2, NSLocalizedDescription=Reading is not permitted.}"
    #expect("\(refused)" == text)
    #expect(String(reflecting: refused) == text)
    #expect(refused.localizedDescription == "Reading is not permitted.")
    let userInfo: [String: Any] = ["c": 3, "b": ["y": 2, "x": 1], "a": "1", NSLocalizedDescriptionKey: "mine"]
    #expect(
      "\(CBError(.peripheralDisconnected, userInfo: userInfo))"
        == #"Error Domain=CBErrorDomain Code=7 "mine" "#
        + "UserInfo={NSLocalizedDescription=mine, a=1, b={x=1, y=2}, c=3}")
    #expect("\(CBError(.unknown))" == #"Error Domain=CBErrorDomain Code=0 "Unknown error.""#)
  }

  @Test(
    "6.11 Every octet is an ATT error code", .requirement("A062", "K053"), .symbol("CBATTError.Code.init(rawValue:)"))
  func codes() {
    let codes = (0...0xFF).compactMap { CBATTError.Code(rawValue: $0) }
    #expect(Set(codes).count == 256)
    for (raw, code) in codes.enumerated() {
      #expect(CBATTError(code).errorCode == raw)
      let received = SessionError.att(ATT.ErrorCode(rawValue: UInt8(raw))).appError() as? CBATTError
      #expect(received?.code == code, "a peer's \(raw) arrives as it was sent")
    }
  }

  @Test(
    "9 Link errors become CBErrors that carry the HCI code", .requirement("A067", "A070", "G047"),
    .symbol("CBError.Code.notConnected", "CBError.userInfo"),
    arguments: [
      (HCI.ErrorCode.connectionTimeout, CBError.Code.connectionTimeout),
      (.remoteUserTerminatedConnection, .peripheralDisconnected),
      (.remoteDeviceTerminatedPowerOff, .peripheralDisconnected),
      (.connectionFailedToBeEstablished, .connectionFailed),
      (.connectionLimitExceeded, .connectionLimitReached),
      (.pinOrKeyMissing, .peerRemovedPairingInformation),
      (.unknownConnectionIdentifier, .notConnected),
      (.instantPassed, .unknown),
    ])
  func linkErrors(reason: HCI.ErrorCode, code: CBError.Code) throws {
    let error = try #require(SessionError.link(reason).appError() as? CBError)
    #expect(error.code == code)
    #expect(error.userInfo[CBErrorHCIErrorCodeKey] as? Int == Int(reason.rawValue))
  }

  @Test(
    "9 A peer's ATT error becomes a CBATTError with the raw code, even for application codes", .requirement("G047"),
    .symbol("CBATTError.errorUserInfo", "CBATTError.userInfo"))
  func peerErrors() throws {
    let error = try #require(SessionError.att(ATT.ErrorCode(rawValue: 0x85)).appError() as? CBATTError)
    #expect(error.errorCode == 0x85)
    #expect(error.userInfo[CBErrorATTErrorCodeKey] as? Int == 0x85)
  }

  @Test(
    "9 Errors from the daemon become the corresponding CBErrors", .symbol("CBError.Code.invalidHandle"),
    arguments: [
      (SessionError.notSupported, CBError.Code.operationNotSupported), (.outOfSpace, .outOfSpace),
      (.alreadyAdvertising, .alreadyAdvertising), (.uuidNotAllowed, .uuidNotAllowed),
      (.invalidParameters, .invalidParameters), (.invalidHandle, .invalidHandle),
      (.connectionLimitReached, .connectionLimitReached),
      (.encryptionTimedOut, .encryptionTimedOut), (.tooManyPairedDevices, .tooManyLEPairedDevices),
    ])
  func ownErrors(error: SessionError, code: CBError.Code) {
    #expect((error.appError() as? CBError)?.code == code)
  }
}
