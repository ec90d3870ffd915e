import BluetoothTransport
import NIOCore
import Testing

@Suite struct StrangerTableTests {
  private final class Connection: Equatable {
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (left: Connection, right: Connection) -> Bool { left === right }
  }

  @Test("A further stranger displaces the oldest one of the origin with the most, and nobody else")
  func displacement() {
    var table = StrangerTable<Connection>(limit: 4)
    let all = (0..<10).map(Connection.init)
    let (one, two, three) = (ConnectionOrigin.user(1), ConnectionOrigin.host([10, 0, 0, 1]), ConnectionOrigin.user(3))
    #expect(table.add(all[0], from: two) == nil)
    for number in 1...3 { #expect(table.add(all[number], from: one) == nil) }
    // The greedy origin displaces its own connections, and so does every other one.
    #expect(table.add(all[4], from: one) == all[1])
    #expect(table.add(all[5], from: three) == all[2])
    #expect(table.add(all[6], from: three) == all[3])
    // Two connections of user 3, and one of each other origin.
    #expect(table.connections == [all[0], all[4], all[5], all[6]])
    #expect(table.add(all[7], from: two) == all[0])
    table.remove(all[5])
    #expect(table.add(all[8], from: one) == nil)
    #expect(table.connections == [all[4], all[6], all[7], all[8]])
  }

  @Test("All addresses of an IPv6 network are one origin, and an IPv4 address is one, mapped or not")
  func origins() throws {
    func origin(_ address: String) throws -> ConnectionOrigin {
      ConnectionOrigin(try SocketAddress(ipAddress: address, port: 80))
    }
    #expect(try origin("10.0.0.1") == .host([10, 0, 0, 1]))
    #expect(try origin("::ffff:10.0.0.1") == .host([10, 0, 0, 1]))
    #expect(try origin("2001:db8:1:2:3::4") == origin("2001:db8:1:2:ffff::1"))
    #expect(try origin("2001:db8:1:2::") != origin("2001:db8:1:3::"))
    #expect(try "\(origin("2001:db8:1:2::5"))" == "2001:db8:1:2::/64")
    #expect(try "\(origin("192.0.2.7"))" == "192.0.2.7")
    #expect(ConnectionOrigin(nil) == .host([]))
  }
}
