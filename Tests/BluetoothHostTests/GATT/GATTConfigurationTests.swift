import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// The values that clients configure: Client and Server Characteristic Configuration, Client Supported Features.
@Suite("Configurations")
struct GATTConfigurationTests {
  private static func broadcaster(_ permissions: AttributePermissions = .readable) -> GATTCharacteristicDefinition {
    GATTCharacteristicDefinition(
      uuid: 0x2A6E, properties: [.read, .broadcast, .notify], permissions: permissions, value: [0x10, 0x20])
  }

  @Test("A13 A configuration with a wrong length or with invalid bits is refused")
  func configurationValues() {
    var client = HostileClient(.dynamic(0x2A37, .notify))
    #expect(client.send("12170001") == [hex("011217000d")])
    #expect(client.send("121700") == [hex("011217000d")])
    #expect(client.send("121700010000") == [hex("011217000d")])
    #expect(client.send("1217000200") == [hex("01121700fd")])
    #expect(client.send("1217000180") == [hex("01121700fd")])
    #expect(client.send("5217000100") == [])
    _ = client.send("16170001000100")
    #expect(client.send("1801") == [hex("0118170007")])
    _ = client.send("161700000001")
    #expect(client.send("1801") == [hex("011817000d")])
    #expect(client.send("0a1700") == [hex("0b0000")])
    #expect(client.events.isEmpty)
    #expect(client.send("1217000100") == [hex("13")])
    #expect(client.send("0a1700") == [hex("0b0100")])
    _ = client.send("16170000000000")
    #expect(client.send("1801") == [hex("19")])
    #expect(client.events == [.subscriptionChanged(22, .notification), .subscriptionChanged(22, [])])
    client.expectUnharmed()
  }

  @Test("A13 Each client has its own configuration", .requirement("L160"))
  func configurationIsolation() {
    let database = GATTDatabase.with(.dynamic(0x2A37, .notify))
    var first = BearerHarness(.peripheral, database)
    var second = BearerHarness(.peripheral, database)
    _ = first.send("1217000100")
    second.database = first.database
    #expect(second.send("0a1700") == [hex("0b0000")])
    second.bearer.update(22, with: [1], at: .zero)
    #expect(second.take() == [])
    first.bearer.update(22, with: [1], at: .zero)
    #expect(first.take() == [hex("1b160001")])
  }

  @Test("A11 Client Supported Features of a wrong length are refused with 0x0D, cleared bits with 0x13")
  func clientFeatures() {
    var client = HostileClient()
    #expect(client.send("0a0f00") == [hex("0b00")])
    #expect(client.send("120f00") == [hex("01120f000d")])
    #expect(client.send("120f000100") == [hex("01120f000d")])
    #expect(client.send(hex("120f00") + pattern(20)) == [hex("01120f000d")])
    #expect(client.send("120f0005") == [hex("13")])
    #expect(client.send("120f0001") == [hex("01120f0013")])
    #expect(client.send("120f0000") == [hex("01120f0013")])
    _ = client.send("160f00000004")
    #expect(client.send("1801") == [hex("01180f0013")])
    _ = client.send("160f00010007")
    #expect(client.send("1801") == [hex("01180f000d")])
    #expect(client.send("520f0007") == [])
    #expect(client.send("0a0f00") == [hex("0b05")])
    // Undefined bits are accepted but not stored.
    #expect(client.send("120f00fd") == [hex("13")])
    #expect(client.send("0a0f00") == [hex("0b05")])
    #expect(client.events.isEmpty)
    client.expectUnharmed()
  }

  @Test("The server does not claim enhanced bearers")
  func serverFeatures() {
    var client = HostileClient()
    #expect(client.send("080100ffff3a2b") == [hex("0903 1300 00")])
  }

  @Test(
    "One client's Server Characteristic Configuration applies to all clients and is reported to the upper layer",
    .requirement("L157"))
  func broadcast() {
    var database = GATTDatabase.with(Self.broadcaster())
    var first = BearerHarness(.peripheral, database)
    #expect(first.send("0418001800") == [hex("0501 1800 0329")])
    #expect(first.send("1218000100") == [hex("13")])
    #expect(first.send("1218000100") == [hex("13")])
    #expect(first.takeEvents() == [.broadcastChanged(22, true)])
    database = first.database
    #expect(database.broadcasts == [GATTBroadcast(service: 0x180D, handle: 22, value: [0x10, 0x20])])
    var second = BearerHarness(.peripheral, database)
    #expect(second.send("0a1800") == [hex("0b0100")])
    _ = second.send("16180000000000")
    #expect(second.send("1801") == [hex("19")])
    #expect(second.takeEvents() == [.broadcastChanged(22, false)])
    #expect(second.database.broadcasts == [])
  }

  @Test("A13 A Server Characteristic Configuration accepts two octets with one valid bit")
  func broadcastValues() {
    var client = HostileClient(Self.broadcaster())
    #expect(client.send("12180001") == [hex("011218000d")])
    #expect(client.send("121800010000") == [hex("011218000d")])
    #expect(client.send("1218000200") == [hex("0112180013")])
    #expect(client.send("1218000101") == [hex("0112180013")])
    #expect(client.send("0a1800") == [hex("0b0000")])
    #expect(client.events.isEmpty)
    #expect(client.bench.host.broadcasts.isEmpty)
    client.expectUnharmed()
  }

  @Test("A value that needs encryption is broadcast only if the configuring client may read it")
  func protectedBroadcast() {
    var client = HostileClient(Self.broadcaster(.readEncryptionRequired))
    #expect(client.send("1218000100") == [hex("0112180005")])
    client.secure(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true))
    #expect(client.send("1218000100") == [hex("13")])
    #expect(client.bench.host.broadcasts.map(\.handle) == [22])
  }

  @Test(
    "A value configured for broadcast is added to the advertising as Service Data, readable by all devices",
    .requirement("L157"))
  func serviceData() {
    var client = HostileClient(Self.broadcaster())
    #expect(client.send("1218000100") == [hex("13")])
    #expect(client.events == [.broadcastChanged(22, true)])
    // The upper layer's part.
    var builder = AdvertisingDataBuilder()
    _ = builder.appendFlags()
    for broadcast in client.bench.host.broadcasts {
      _ = builder.appendServiceData(broadcast.service, broadcast.value?.bytes ?? [])
    }
    let data = builder.data
    client.bench.perform { host, now in host.startAdvertising(data: data, scanResponse: [], at: now) }
    let advertised = client.bench.commands.compactMap { command -> ByteSlice? in
      if case .leSetAdvertisingData(let data) = command { data } else { nil }
    }
    #expect(advertised == [hex("020106 05160d181020")])
  }
}
