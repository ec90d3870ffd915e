import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import TestSupport
import Testing

@Suite("Tags")
struct FinderTagTests {
  private static let light = FinderTag.lightState.path.characteristic.description

  @Test("An app makes a tag light up, flash and sound, until it disconnects")
  func lightAndBuzzer() async throws {
    let meeting = Encounter(FinderTag())
    try #require(await meeting.prepare(subscribing: [Self.light]))
    let initial = meeting.accessory.accessory
    #expect(initial.light == .off && initial.buzzer == .noAlert)
    meeting.app.write([1], to: Self.light, .withoutResponse)
    meeting.app.write([2], to: "2A06", .withoutResponse)
    meeting.app.read("2A07")
    await meeting.world.run(for: .milliseconds(500))
    let lit = meeting.accessory.accessory
    #expect(lit.light == .on && lit.buzzer == .highAlert)
    #expect(meeting.app.values(of: "2A07") == [[0]])
    #expect(await meeting.command([2], to: Self.light) == .response(2))
    #expect(meeting.accessory.accessory.light == .flashing)
    // The same state again is no news.
    #expect(await meeting.command([2], to: Self.light) == .accepted)
    #expect(await meeting.command([3], to: Self.light) == .rejected(0x13))
    #expect(await meeting.command([1, 1], to: Self.light) == .rejected(0x0D))
    meeting.app.write([3], to: "2A06", .withoutResponse)
    await meeting.world.run(for: .milliseconds(500))
    #expect(meeting.accessory.accessory.buzzer == .highAlert, "Reserved levels are ignored.")
    meeting.app.read(Self.light)
    await meeting.world.run(for: .milliseconds(500))
    #expect(meeting.app.values(of: Self.light) == [[1], [2], [2]])
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    await meeting.world.run(for: .seconds(1))
    let left = meeting.accessory.accessory
    #expect(left.light == .off && left.buzzer == .noAlert)
  }

  @Test("A tag advertises its transmit power and the service of its buzzer")
  func advertising() async throws {
    let meeting = Encounter(FinderTag(transmitPower: -8), plan: .listen)
    await meeting.world.run(for: .seconds(1))
    let data = meeting.app.advertisement
    #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -8)
    let services = try #require(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])
    #expect(services.map(\.uuidString) == ["1802", "1804"])
  }
}
