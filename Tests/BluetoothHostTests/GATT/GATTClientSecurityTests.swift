import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

/// The client's reaction when the server requires a better protected link · Vol 3, Part C, 10.3.2.
struct GATTClientSecurityTests {
  private func completions(_ client: BearerHarness) -> [Result<GATTResponse, GATTError>] {
    client.events.compactMap { if case .completed(_, let result) = $0 { result } else { nil } }
  }

  private func demands(_ client: BearerHarness) -> [SecurityDemand] {
    client.events.compactMap { if case .securityRequired(let demand) = $0 { demand } else { nil } }
  }

  private let encrypted = HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true)
  private let authenticated = HostLinkSecurity(level: .authenticated, keySize: 16, hasKey: true)

  @Test(
    "A request refused for lack of a key or of encryption is repeated on the encrypted link",
    arguments: ["05", "0f"])
  func retry(_ code: String) {
    var client = BearerHarness(.central)
    #expect(client.request(.read(3)) == [hex("0a0300")])
    #expect(client.send("010a0300" + code) == [])
    #expect(demands(client) == [.encrypted])
    #expect(completions(client) == [])
    client.bearer.securityChanged(encrypted, at: .zero)
    #expect(client.take() == [hex("0a0300")])
    #expect(client.send("0b07") == [])
    #expect(completions(client) == [.success(.value([7]))])
  }

  @Test("Insufficient Authentication demands an authenticated key on an encrypted link; with such a key it is final")
  func authenticate() {
    var client = BearerHarness(.central)
    #expect(client.request(.write(3, [1])) == [hex("12030001")])
    #expect(client.send("0112030005") == [])
    client.bearer.securityChanged(encrypted, at: .zero)
    #expect(client.take() == [hex("12030001")])
    #expect(client.send("0112030005") == [])
    #expect(demands(client) == [.encrypted, .authenticated])
    client.bearer.securityChanged(authenticated, at: .zero)
    #expect(client.take() == [hex("12030001")])
    #expect(client.send("0112030005") == [])
    #expect(completions(client) == [.failure(.att(.insufficientAuthentication))])
  }

  @Test("Insufficient Encryption Key Size demands the longest key")
  func keySize() {
    var client = BearerHarness(.central)
    client.bearer.securityChanged(HostLinkSecurity(level: .encrypted, keySize: 7, hasKey: true), at: .zero)
    _ = client.request(.read(3))
    #expect(client.send("010a03000c") == [])
    #expect(demands(client) == [SecurityDemand(level: .encrypted, keySize: 16)])
    client.bearer.securityChanged(encrypted, at: .zero)
    #expect(client.take() == [hex("0a0300")])
    #expect(client.send("010a03000c") == [])
    #expect(completions(client) == [.failure(.att(.insufficientEncryptionKeySize))])
  }

  @Test("A failed security demand ends the request with the server's error, and the queued requests go on")
  func failure() {
    var client = BearerHarness(.central)
    _ = client.request(.read(3))
    #expect(client.send("010a030005") == [])
    #expect(client.request(.read(4)) == [])
    client.bearer.securityFailed(at: .zero)
    #expect(client.take() == [hex("0a0400")])
    #expect(completions(client) == [.failure(.att(.insufficientAuthentication))])
    #expect(client.send("0b09") == [])
    #expect(completions(client).last == .success(.value([9])))
  }

  @Test("A request during the security procedure keeps its place in the queue")
  func order() {
    var client = BearerHarness(.central)
    _ = client.request(.read(3))
    _ = client.send("010a03000f")
    #expect(client.request(.read(4)) == [])
    client.bearer.securityChanged(encrypted, at: .zero)
    #expect(client.take() == [hex("0a0300")])
    #expect(client.send("0b01") == [hex("0a0400")])
  }

  @Test("A long write refused at its second part is cancelled at the server before it waits for security")
  func longWrite() {
    var client = BearerHarness(.central)
    let parts = [pattern(18), pattern(4)]
    let value = parts[0] + parts[1]
    #expect(client.request(.write(3, value)) == [hex("1603000000") + parts[0]])
    #expect(client.send(hex("1703000000") + parts[0]) == [hex("1603001200") + parts[1]])
    #expect(client.send("0116030005") == [hex("1800")])
    #expect(demands(client) == [])
    #expect(client.send("19") == [])
    #expect(demands(client) == [.encrypted])
    client.bearer.securityChanged(encrypted, at: .zero)
    #expect(client.take() == [hex("1603000000") + parts[0]])
  }

  @Test("When the bearer closes, a request that waits for security fails like all others")
  func closing() {
    var client = BearerHarness(.central, .with(.dynamic(.indicate)))
    #expect(client.send("1217000200") == [hex("13")])
    client.bearer.update(22, with: [1], at: .zero)
    #expect(client.take() == [hex("1d160001")])
    _ = client.request(.read(3))
    _ = client.send("010a030005")
    // The server's indication is never confirmed.
    client.bearer.timeReached(.zero + ATT.transactionTimeout)
    _ = client.take()
    #expect(completions(client) == [.failure(.timeout)])
  }

  @Test("Other refusals are reported at once", arguments: ["02", "03", "06", "08", "80"])
  func others(_ code: String) {
    var client = BearerHarness(.central)
    _ = client.request(.read(3))
    _ = client.send("010a0300" + code)
    #expect(demands(client) == [])
    #expect(completions(client).count == 1)
  }
}
