import BluetoothHost
import BluetoothWire
import Requirements
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
    #expect(content?.services == [0x180D, 0x1816, 0x1818])
    #expect(content?.localName == "One")
    _ = advertising.stop(one)
    #expect(content?.services == [0x1816, 0x1818])
    #expect(content?.localName == nil)
    #expect(advertising.isWanted)
  }

  @Test("Users take turns with their services, and no advertising of one user's own keeps others from advertising")
  mutating func users() {
    let (mallory, bob) = (ClientUser(3), ClientUser(2))
    let services = (0..<20 as Range<UInt16>).map { BluetoothUUID(0x1100 + $0) }
    let custom = HostAdvertising(data: [2, 1, 6], scanResponse: [])
    #expect(
      advertising.start(.init(session: one, user: mallory, localName: nil, services: [], custom: custom)) == true)
    #expect(content?.custom == custom)
    #expect(advertising.start(.init(session: two, user: bob, localName: "Bob", services: [0x180D, 0x1816])) == true)
    #expect(content?.custom == nil && content?.services == [0x180D, 0x1816])
    _ = advertising.stop(two)
    #expect(content?.custom == custom)
    _ = advertising.stop(one)
    #expect(advertising.start(.init(session: one, user: mallory, localName: nil, services: services)) == true)
    #expect(advertising.start(.init(session: two, user: bob, localName: "Bob", services: [0x180D, 0x1816])) == true)
    #expect(content?.services == [services[0], 0x180D, services[1], 0x1816] + services[2...])
    // One user's advertising that is complete excludes other advertising of that user.
    _ = advertising.stop(two)
    #expect(
      advertising.start(.init(session: two, user: mallory, localName: nil, services: [], custom: custom)) == false)
  }

  /// The advertising if all apps are in the foreground.
  private var content: AdvertisingState.Content? { advertising.content { _ in .full } }

  @Test("K040 Apps in the background add no name, and their services are in the overflow area", .requirement("K040"))
  mutating func background() {
    _ = advertising.start(.init(session: one, localName: "One", services: [0x180D, 0x1816]))
    _ = advertising.start(.init(session: two, localName: "Two", services: [0x1816, 0x1818]))
    let (one, two) = (one, two)
    let mixed = advertising.content { $0 == one ? .reduced : .full }
    #expect(mixed == .init(localName: "Two", services: [0x1816, 0x1818], overflowServices: [0x180D], isSlow: false))
    let background = advertising.content { _ in .reduced }
    #expect(background == .init(overflowServices: [0x180D, 0x1816, 0x1818], isSlow: true))
    #expect(advertising.content { $0 == two ? .reduced : .none }?.overflowServices == [0x1816, 0x1818])
    #expect(advertising.content { _ in .none } == nil)
  }

  @Test("Complete advertising excludes the requests of all other sessions")
  mutating func complete() {
    let custom = HostAdvertising(data: [2, 1, 6], scanResponse: [])
    #expect(advertising.start(.init(session: one, localName: nil, services: [], custom: custom)) == true)
    #expect(advertising.start(.init(session: two, localName: nil, services: [])) == false)
    #expect(content?.custom == custom)
    _ = advertising.stop(one)
    #expect(advertising.start(.init(session: two, localName: nil, services: [])) == true)
    #expect(advertising.start(.init(session: one, localName: nil, services: [], custom: custom)) == false)
    #expect(content?.custom == nil)
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
