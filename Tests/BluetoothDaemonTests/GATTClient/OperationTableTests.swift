import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

@Suite("Pending requests")
struct OperationTableTests {
  let link = HCI.ConnectionHandle(rawValue: 0x40)
  let other = HCI.ConnectionHandle(rawValue: 0x41)
  let id = RemoteAttributeID(3)
  var table = GATTOperationTable()

  @Test("A token identifies its request once")
  mutating func once() throws {
    let (one, _) = centralSessions()
    let token = try unwrapped(table.add(.read(one, id), on: link, at: .zero))
    #expect(table.remove(token)?.session == one)
    #expect(table.remove(token) == nil)
  }

  @Test("The token of an earlier request in the same slot identifies no request")
  mutating func stale() throws {
    let (one, _) = centralSessions()
    let stale = try unwrapped(table.add(.read(one, id), on: link, at: .zero))
    _ = table.remove(stale)
    let token = try unwrapped(table.add(.write(one, id), on: link, at: .zero))
    #expect(token != stale)
    #expect(table.remove(stale) == nil)
    #expect(table.remove(token) != nil)
  }

  @Test("The end of a link returns its open requests; those of other links stay")
  mutating func linkEnds() throws {
    let (one, _) = centralSessions()
    let gone = try unwrapped(table.add(.read(one, id), on: link, at: .zero))
    let staying = try unwrapped(table.add(.read(one, id), on: other, at: .zero))
    var count = 0
    table.removeAll(on: link) { _ in count += 1 }
    #expect(count == 1)
    #expect(table.remove(gone) == nil)
    #expect(table.remove(staying) != nil)
  }

  @Test("An abandoned request completes without a recipient")
  mutating func abandoned() throws {
    let (one, two) = centralSessions()
    let first = try unwrapped(table.add(.read(one, id), on: link, at: .zero))
    let second = try unwrapped(table.add(.read(two, id), on: link, at: .zero))
    let abandoned = table.abandon(of: one, on: link) { _ in }
    #expect(abandoned.all == [first])
    #expect(abandoned.needless == [first])
    #expect(table.remove(first)?.session == nil)
    #expect(table.remove(second)?.session == two)
  }

  @Test("Of abandoned writes without response, which apps take for sent, 1,024 need to be sent")
  mutating func abandonedWrites() throws {
    let (one, two) = centralSessions()
    let credits = TransmitCredits(capacity: 20)
    for session in [one, two] {
      for _ in 0..<600 { _ = table.add(.writeWithoutResponse(session, credits), on: link, at: .zero) }
    }
    let few = table.abandon(of: one, on: link) { _ in }
    #expect(few.needless.isEmpty)
    let abandoned = table.abandon(of: two, on: link) { _ in }
    #expect(abandoned.all.count == 600)
    #expect(abandoned.needless.count == 176)
    for token in abandoned.all { _ = table.remove(token) }
    _ = table.add(.writeWithoutResponse(two, credits), on: link, at: .zero)
    let later = table.abandon(of: two, on: link) { _ in }
    #expect(later.needless.isEmpty)
  }

  @Test("Each session has a bound of its own, which answered requests and a later session do not use up")
  mutating func full() throws {
    let (one, two) = centralSessions()
    let token = try unwrapped(table.add(.read(one, id), on: link, at: .zero))
    for _ in 1..<SessionLimits.requests { #expect(table.add(.read(one, id), on: other, at: .zero) != nil) }
    #expect(table.add(.write(one, id), on: other, at: .zero) == nil)
    #expect(table.add(.read(two, id), on: link, at: .zero) != nil)
    #expect(table.add(.discovery(.services), on: link, at: .zero) != nil)
    let later = CentralSessionID(key: SlotKey(index: one.key.index, generation: one.key.generation + 1))
    _ = table.remove(token)
    #expect(table.add(.read(one, id), on: link, at: .zero) != nil)
    #expect(table.add(.read(one, id), on: link, at: .zero) == nil)
    #expect(table.add(.read(later, id), on: link, at: .zero) != nil)
    table.removeAll(on: other) { _ in }
    for _ in 1..<SessionLimits.requests { #expect(table.add(.read(later, id), on: other, at: .zero) != nil) }
    #expect(table.add(.read(later, id), on: other, at: .zero) == nil)
  }
}
