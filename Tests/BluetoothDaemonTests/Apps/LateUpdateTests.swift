import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The updates that an app in the background has sent faster than its platform allows.
@Suite("Late updates")
struct LateUpdateTests {
  let air = DaemonNetwork()
  let phone: Phone
  let lamp = PeripheralRecorder()
  let session: PeripheralSession
  private static let value = LocalAttributeID(number: 2)

  /// Lets an app in the background have a subscriber.
  init() throws {
    phone = Phone(air, air.add("Phone"))
    _ = air.add("Lamp", policy: .ios)
    let manifest = AppManifest(backgroundModes: [.peripheral], usageDescription: "to light the room")
    air.devices[1].sessions.send(.launched(manifest, isInFront: true), ofApp: "app")
    session = PeripheralSession(client: lamp, owner: SessionOwner(app: "app"), in: air.devices[1].sessions)
    air.run()
    session.publishLamp(Self.value, [.notify])
    air.run()
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    let remote = try #require(try phone.discover(peer)[0x2A56]).id
    #expect(phone.send(.setNotify(peer, remote, true)).map(\.text).contains("notifying true ok"))
    send(.becameFrontmost(false))
  }

  private func send(_ request: AppRequest) {
    air.devices[1].sessions.send(request, ofApp: "app")
    air.run()
  }

  /// Takes all credits for updates. Returns their number.
  private func takeCredits() -> Int {
    var count = 0
    while session.updateCredits.take() { count += 1 }
    return count
  }

  @Test("The updates that wait when their app is denied the use of Bluetooth give their credits back")
  func denial() {
    let count = takeCredits()
    #expect(count == session.updateCredits.capacity)
    for number in 0..<count { session.send(.update(Self.value, ByteSlice([UInt8(number)]), nil)) }
    air.run()
    #expect(phone.takeEvents().filter { $0.hasPrefix("value") } == ["value 00"])
    send(.permissionChanged(false))
    #expect(takeCredits() == count)
    air.pass(.seconds(10))
    #expect(!phone.takeEvents().contains { $0.hasPrefix("value") })
  }
}
