import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

@Suite("Pending requests")
struct OperationTableTests {
  let link = HCI.ConnectionHandle(rawValue: 0x40)
  let other = HCI.ConnectionHandle(rawValue: 0x41)
  let id = RemoteAttributeID(3)
  var table = OperationTable()

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
    #expect(abandoned == [first])
    #expect(table.remove(first)?.session == nil)
    #expect(table.remove(second)?.session == two)
  }

  @Test("The number of requests never exceeds the number of tokens")
  mutating func full() {
    for _ in 0...Int(UInt16.max) { #expect(table.add(.abandoned, on: link, at: .zero) != nil) }
    #expect(table.add(.abandoned, on: link, at: .zero) == nil)
  }
}
