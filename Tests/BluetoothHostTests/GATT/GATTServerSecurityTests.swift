import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// Permissions in every request that accesses a value.
@Suite("Permissions of the GATT server")
struct GATTServerSecurityTests {
  /// Returns a client of a server with a value at handle 22 and its configurations at 23 and 24; 25 and 26 are another
  /// characteristic, which needs no security.
  private static func client(_ permissions: AttributePermissions, keySize: UInt8 = 0) -> HostileClient {
    HostileClient(
      GATTCharacteristicDefinition(
        uuid: 0x2A39,
        properties: [
          .read, .write, .writeWithoutResponse, .authenticatedSignedWrites, .notify, .indicate, .broadcast,
        ],
        permissions: permissions, minimumKeySize: keySize, value: [7]),
      .stored([9]))
  }

  /// The read requests, each with the handle that its refusal names.
  private static let reads = ["0a1600", "0c16000000", "080100ffff392a", "0e05001600"]
  private static let writes = ["12160001", "161600000001"]
  private static let configurations = ["1217000100", "1218000100", "16170000000100", "16180000000100"]

  private static let needs: [(String, AttributePermissions, UInt8)] = [
    ("encryption", [.readEncryptionRequired, .writeEncryptionRequired], 0),
    ("authentication", [.readAuthenticationRequired, .writeAuthenticationRequired], 0),
    ("authorization", [.readAuthorizationRequired, .writeAuthorizationRequired], 0),
    ("a long key", [.readable, .writeable], 16),
  ]

  private static let links: [(HostLinkSecurity, [UInt8])] = [
    (.none, [0x05, 0x05, 0x08, 0x05]),
    (HostLinkSecurity(hasKey: true), [0x0F, 0x0F, 0x08, 0x0F]),
    (HostLinkSecurity(level: .encrypted, keySize: 7, hasKey: true), [0, 0x05, 0x08, 0x0C]),
    (HostLinkSecurity(level: .authenticated, keySize: 15, hasKey: true), [0, 0, 0x08, 0x0C]),
    (HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isAuthorized: true), [0, 0x05, 0, 0]),
    (HostLinkSecurity(level: .authenticated, keySize: 16, hasKey: true, isAuthorized: true), [0, 0, 0, 0]),
  ]

  @Test(
    "A12 Every access without the required security gets 0x05, 0x08, 0x0C or 0x0F and has no effect",
    .requirement("A049", "L037"),
    arguments: Array(links.indices), Array(needs.indices))
  func everyPath(link: Int, need: Int) {
    let (security, codes) = Self.links[link]
    let (_, permissions, keySize) = Self.needs[need]
    var client = Self.client(permissions, keySize: keySize)
    client.secure(security)
    for request in Self.reads + Self.writes + Self.configurations {
      let octets = hex(request)
      let sent = client.send(request)
      guard codes[need] > 0 else {
        #expect(sent.first?[0] == octets[0] + 1, "\(request)")
        continue
      }
      let handle = [0x08, 0x0E].contains(octets[0]) ? 0x16 : octets[1]
      #expect(sent == [ByteSlice([0x01, octets[0], handle, 0x00, codes[need]])], "\(request)")
    }
    #expect(client.send("1800") == [hex("19")])
    _ = client.send("521600aa")
    client.secure(HostLinkSecurity(level: .authenticated, keySize: 16, isAuthorized: true))
    #expect(client.send("0a1600") == [codes[need] > 0 ? hex("0b07") : hex("0baa")])
    client.expectUnharmed()
  }

  @Test("A12 A part prepared on a protected link is not written after the protection is lost")
  func executeAfterLoss() {
    var client = Self.client([.readable, .writeEncryptionRequired])
    client.secure(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true))
    #expect(client.send("1616000000aa") == [hex("1716000000aa")])
    client.secure(HostLinkSecurity(hasKey: true))
    #expect(client.send("1801") == [hex("011816000f")])
    #expect(client.send("0a1600") == [hex("0b07")])
    client.expectUnharmed()
  }

  @Test(
    "A9 A value that requires encryption is neither notified nor indicated on an unencrypted link",
    .requirement("L037"),
    arguments: [1, 2])
  func notificationOfProtected(configuration: UInt8) {
    var client = Self.client([.readEncryptionRequired])
    #expect(client.send("1217000100") == [hex("0112170005")])
    #expect(client.update(22, [1]) == [])
    let encrypted = HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true)
    client.secure(encrypted)
    #expect(client.send(hex("121700") + [configuration, 0]) == [hex("13")])
    client.events = []
    // The subscription exists, the protection does not.
    client.secure(HostLinkSecurity(hasKey: true))
    #expect(client.update(22, [2]) == [])
    #expect(client.events == [.updateSent(22)])
    client.secure(encrypted)
    #expect(client.update(22, [3]) == [configuration == 1 ? hex("1b160003") : hex("1d160003")])
    client.expectUnharmed()
  }

  @Test("A9 A pending value is not sent after the link has lost its protection")
  func waitingUpdate() {
    var server = BearerHarness(
      .peripheral,
      .with(
        GATTCharacteristicDefinition(
          uuid: 0x2A39, properties: [.indicate], permissions: [.readEncryptionRequired], value: nil)))
    server.bearer.securityChanged(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true), at: .zero)
    #expect(server.send("1217000200") == [hex("13")])
    server.bearer.update(22, with: [1], at: .zero)
    server.bearer.update(22, with: [2], at: .zero)
    #expect(server.take() == [hex("1d160001")])
    server.bearer.securityChanged(.none, at: .zero)
    #expect(server.send("1e") == [])
    #expect(server.takeEvents().filter { $0 == .updateSent(22) }.count == 2)
  }

  @Test("A12 An unreadable value is not readable by any request, nor found by its value", .requirement("L141"))
  func readPermissionOnEveryPath() {
    var client = HostileClient(
      GATTCharacteristicDefinition(
        uuid: 0x2A39, properties: .write, permissions: [.readable, .writeable], value: [7]))
    for (request, refusal) in [
      ("0a1600", "010a160002"), ("0c16000000", "010c160002"), ("080100ffff392a", "0108160002"),
      ("0e05001600", "010e160002"), ("060100ffff392a07", "010601000a"),
    ] {
      #expect(client.send(request) == [hex(refusal)])
    }
    client.expectUnharmed()
  }

  @Test("A12 A protected value is not found by its value on a link that may not read it")
  func findByProtectedValue() {
    var client = Self.client([.readEncryptionRequired])
    #expect(client.send("060100ffff392a07") == [hex("010601000a")])
    client.secure(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true))
    #expect(client.send("060100ffff392a07") == [hex("0716001600")])
    client.expectUnharmed()
  }

  @Test("A15 A value of fixed length rejects other lengths, by request, by command or in parts")
  func fixedLength() {
    var client = HostileClient(
      GATTCharacteristicDefinition(
        uuid: 0x2A39, properties: [.read, .write, .writeWithoutResponse], permissions: [.readable, .writeable],
        value: [1, 2], lengths: 2...2),
      GATTCharacteristicDefinition(
        uuid: 0x2A3A, properties: .write, permissions: .writeable, value: nil, lengths: 1...4))
    #expect(client.send("12160003") == [hex("011216000d")])
    #expect(client.send("1216000304") == [hex("13")])
    #expect(client.send("52160005") == [])
    _ = client.send("161600010005060708")
    #expect(client.send("1801") == [hex("011816000d")])
    _ = client.send("161600010005")
    #expect(client.send("1801") == [hex("19")])
    #expect(client.send("0a1600") == [hex("0b0305")])
    #expect(client.send("121800") == [hex("011218000d")])
    #expect(client.send("1218000102030405") == [hex("011218000d")])
    _ = client.send("161800050001")
    #expect(client.send("1801") == [hex("0118180007")])
    #expect(client.events.isEmpty)
    client.expectUnharmed()
  }
}
