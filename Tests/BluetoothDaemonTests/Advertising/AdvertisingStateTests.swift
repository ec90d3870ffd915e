import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

@Suite("The advertising of all apps")
struct AdvertisingStateTests {
  let one: PeripheralSessionID
  let two: PeripheralSessionID
  var advertising = AdvertisingState()

  init() { (one, two) = peripheralSessions() }

  @Test("6.1 A session that advertises can't start again")
  mutating func twice() {
    #expect(advertising.start(.init(session: one, localName: nil, services: [])) == true)
    #expect(advertising.start(.init(session: one, localName: nil, services: [])) == false)
  }

  @Test("The one advertiser carries the services of all sessions, and the name that was set last")
  mutating func merged() {
    _ = advertising.start(.init(session: one, localName: "One", services: [0x180D, 0x1816]))
    _ = advertising.start(.init(session: two, localName: nil, services: [0x1816, 0x1818]))
    #expect(advertising.services == [0x180D, 0x1816, 0x1818])
    #expect(advertising.localName == "One")
    _ = advertising.stop(one)
    #expect(advertising.services == [0x1816, 0x1818])
    #expect(advertising.localName == nil)
    #expect(advertising.isWanted)
  }

  @Test("Complete advertising excludes the requests of all other sessions")
  mutating func complete() {
    let custom = HostAdvertising(data: [2, 1, 6], scanResponse: [])
    #expect(advertising.start(.init(session: one, localName: nil, services: [], custom: custom)) == true)
    #expect(advertising.start(.init(session: two, localName: nil, services: [])) == false)
    #expect(advertising.custom == custom)
    _ = advertising.stop(one)
    #expect(advertising.start(.init(session: two, localName: nil, services: [])) == true)
    #expect(advertising.start(.init(session: one, localName: nil, services: [], custom: custom)) == false)
    #expect(advertising.custom == nil)
  }

  @Test("Each session that started advertising gets one answer")
  mutating func reported() {
    _ = advertising.start(.init(session: one, localName: nil, services: []))
    _ = advertising.start(.init(session: two, localName: nil, services: []))
    #expect(advertising.takeWaiting() == [one, two])
    #expect(advertising.takeWaiting() == [])
  }

  @Test("A start that its stop overtakes still gets an answer")
  mutating func overtaken() {
    _ = advertising.start(.init(session: one, localName: nil, services: []))
    guard case .stopped(wasWaiting: true) = advertising.stop(one) else {
      Issue.record("nobody waits")
      return
    }
    #expect(advertising.takeWaiting() == [])
    guard case .notAdvertising = advertising.stop(one) else {
      Issue.record("stopped twice")
      return
    }
  }
}
