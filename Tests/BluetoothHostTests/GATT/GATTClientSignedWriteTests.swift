import BluetoothCrypto
import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

/// The client's signed writes · Vol 3, Part G, 4.9.2; Vol 3, Part C, 10.4.
@Suite("Signed writes of the client")
struct GATTClientSignedWriteTests {
  private static let key = Block(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
  private let encrypted = HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true)

  /// Returns a client on an unencrypted link to a server that it has a bond with.
  private func client(guarded requiresEncryption: Bool = true, signs: Bool = true) -> BearerHarness {
    var client = BearerHarness(.central)
    client.bearer.guardsBondedLink = requiresEncryption
    client.bearer.signatureMaker = signs ? Signer(key: Self.key) : nil
    client.bearer.securityChanged(HostLinkSecurity(hasKey: true), at: .zero)
    return client
  }

  private func demands(_ client: BearerHarness) -> [SecurityDemand] {
    client.events.compactMap { if case .securityRequired(let demand) = $0 { demand } else { nil } }
  }

  private func failures(_ client: BearerHarness) -> [GATTError] {
    client.events.compactMap { if case .completed(_, .failure(let error)) = $0 { error } else { nil } }
  }

  private func signed(_ value: ByteSlice, counter: UInt32 = 0) -> ByteSlice {
    let message = hex("d20300") + value
    return message + ByteSlice(Toolbox.signature(of: message.bytes, csrk: Self.key, counter: counter))
  }

  @Test("On an unencrypted link to a bonded server a value is sent signed, whether the link is guarded or not")
  func inClear() {
    for requiresEncryption in [true, false] {
      var client = client(guarded: requiresEncryption)
      #expect(client.request(.signedWriteWithoutResponse(3, [7])) == [signed([7])])
      #expect(client.request(.signedWriteWithoutResponse(3, pattern(8))) == [signed(pattern(8), counter: 1)])
      #expect(client.bearer.signatureMaker?.nextCounter == 2 && demands(client) == [])
    }
  }

  @Test("While the host encrypts the link a value waits, and is sent unsigned on the encrypted link")
  func whileEncrypting() {
    var client = client()
    client.bearer.client.willBeEncrypted()
    #expect(client.request(.signedWriteWithoutResponse(3, [7])) == [])
    client.bearer.securityChanged(encrypted, at: .zero)
    #expect(client.take() == [hex("52030007")])
    #expect(client.bearer.signatureMaker?.nextCounter == 0)
  }

  @Test("If encryption fails, pending values fail, and later ones are sent signed")
  func notEncrypted() {
    var client = client()
    client.bearer.client.willBeEncrypted()
    #expect(client.request(.signedWriteWithoutResponse(3, [7])) == [])
    client.bearer.securityFailed(at: .zero)
    #expect(client.take() == [] && failures(client) == [.att(.insufficientEncryption)])
    #expect(client.request(.signedWriteWithoutResponse(3, [8])) == [signed([8])])
  }

  @Test("A value too long for a signature, or without a signer, demands encryption and is sent unsigned")
  func tooLong() {
    for requiresEncryption in [true, false] {
      for (signs, value) in [(true, pattern(9)), (true, pattern(20)), (false, pattern(1))] {
        var client = client(guarded: requiresEncryption, signs: signs)
        #expect(client.request(.signedWriteWithoutResponse(3, value)) == [])
        #expect(demands(client) == [.encrypted] && failures(client) == [])
        client.bearer.securityChanged(encrypted, at: .zero)
        #expect(client.take() == [hex("520300") + value])
      }
    }
  }

  @Test("A value too long even without a signature fails at once, unless a request waits for encryption")
  func muchTooLong() {
    var client = client(guarded: false)
    #expect(client.request(.signedWriteWithoutResponse(3, pattern(21))) == [])
    #expect(failures(client) == [.att(.invalidAttributeValueLength)] && demands(client) == [])
  }

  @Test("On an unguarded link a bonded server's values are read and accepted in clear")
  func unguarded() {
    var client = client(guarded: false)
    #expect(client.request(.read(3)) == [hex("0a0300")])
    #expect(client.send("0b01") == [])
    #expect(client.send("1b030009") == [] && client.events.contains(.valueReceived(3, [9])))
    #expect(demands(client) == [])
    // The client demands encryption once the server requires it.
    #expect(client.request(.read(4)) == [hex("0a0400")])
    #expect(client.send("010a04000f") == [] && demands(client) == [.encrypted])
  }
}
