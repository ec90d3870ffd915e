import BluetoothHost
import Testing

@testable import BluetoothDaemon

@Suite("Subscriptions of several sessions")
struct NotificationTableTests {
  let one: CentralSessionID
  let two: CentralSessionID
  var table = NotificationTable()

  init() { (one, two) = centralSessions() }

  /// Confirms the configuration as the peer.
  mutating func configure(_ isOn: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(table.decide(0) == .configure(isOn: isOn), sourceLocation: sourceLocation)
    table.beginWriting(0)
    _ = table.configured(0, succeeded: true)
  }

  @Test("4.12 The first session's subscription is written to the peer, the second one's is not")
  mutating func shared() {
    table.append(.init(session: one, isOn: true), for: 3)
    configure(true)
    table.append(.init(session: two, isOn: true), for: 3)
    #expect(table.decide(0) == .settled(two, isOn: true))
    #expect(table[0].subscribers == [one, two])
  }

  @Test("The peer's configuration is disabled when the last session unsubscribes")
  mutating func lastOff() {
    table.append(.init(session: one, isOn: true), for: 3)
    configure(true)
    table.append(.init(session: two, isOn: true), for: 3)
    table.append(.init(session: one, isOn: false), for: 3)
    table.append(.init(session: two, isOn: false), for: 3)
    #expect(table.decide(0) == .settled(two, isOn: true))
    #expect(table.decide(0) == .settled(one, isOn: false))
    configure(false)
    #expect(table[0].subscribers.isEmpty)
    #expect(table.decide(0) == nil)
  }

  @Test("Changes are sent to the peer one at a time, in order")
  mutating func order() {
    table.append(.init(session: one, isOn: true), for: 3)
    table.append(.init(session: one, isOn: false), for: 3)
    #expect(table.decide(0) == .configure(isOn: true))
    table.beginWriting(0)
    #expect(table.decide(0) == nil)
    _ = table.configured(0, succeeded: true)
    #expect(table.decide(0) == .configure(isOn: false))
  }

  @Test("A refused change leaves the state as it was")
  mutating func refused() {
    table.append(.init(session: one, isOn: true), for: 3)
    #expect(table.decide(0) == .configure(isOn: true))
    table.beginWriting(0)
    #expect(table.configured(0, succeeded: false)?.session == one)
    #expect(table[0].subscribers.isEmpty)
  }

  @Test("Unsubscribing without a subscription sends the peer nothing")
  mutating func offWithoutOn() {
    table.append(.init(session: one, isOn: false), for: 3)
    #expect(table.decide(0) == .settled(one, isOn: false))
  }

  @Test("A session that ends is unsubscribed without an event")
  mutating func leaves() {
    table.append(.init(session: one, isOn: true), for: 3)
    configure(true)
    table.leave(one)
    configure(false)
    #expect(table.decide(0) == nil)
  }

  @Test("A session that ends while its subscription is being written is unsubscribed afterwards")
  mutating func leavesWhileBusy() {
    table.append(.init(session: one, isOn: true), for: 3)
    #expect(table.decide(0) == .configure(isOn: true))
    table.beginWriting(0)
    table.leave(one)
    #expect(table.configured(0, succeeded: true)?.session == nil)
    #expect(table[0].subscribers.isEmpty)
    configure(false)
  }

  @Test("A session that ends before its subscription was written causes no request")
  mutating func leavesBefore() {
    table.append(.init(session: one, isOn: true), for: 3)
    table.leave(one)
    #expect(table.decide(0) == nil)
  }
}
