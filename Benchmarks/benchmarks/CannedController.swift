import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOCore

/// A controller with HCI over TCP that answers at once. The peer of its only link is a GATT server with one value of 20
/// octets. For each input, its thread makes one read and one write system call.
final class CannedController: @unchecked Sendable {
  static let service: BluetoothUUID = 0x180D
  private static let client = DeviceAddress(0xC000_0000_0001, .random)

  let port: Int
  private let listener: Int32
  private let pool = PacketPool()

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw DidNotHappen() }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  /// Serves connections, one after the other, until the process ends.
  func start() {
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        var isOn: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        serve(connection)
        close(connection)
      }
    }
  }

  private func serve(_ connection: Int32) {
    guard var server = makeServer() else { return }
    var decoder = H4Decoder(for: .controller, pool: pool)
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var output = ByteBuffer()
    var packets: [HCI.Packet] = []
    while true {
      let count = read(connection, &buffer, buffer.count)
      guard count > 0 else { return }
      var octets = buffer.withUnsafeBytes { ByteSlice(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), in: pool) }
      while case .packet(let packet)? = decoder.next(&octets) { take(packet, &server, &packets) }
      repeat {
        server.run()
        while server.host.takeEvent() != nil {}
        server.takePackets()
        server.serve(&packets)
      } while !server.incoming.isEmpty
      output.clear()
      for packet in packets { output.writeHCIPacket(packet) }
      packets.removeAll(keepingCapacity: true)
      guard output.readableBytes > 0 else { continue }
      guard output.withUnsafeReadableBytes({ write(connection, $0.baseAddress, $0.count) }) > 0 else { return }
    }
  }

  private func makeServer() -> HostInMemory? {
    var server = HostInMemory(pool, 0xC000_0000_0002)
    let definition = GATTServiceDefinition(
      uuid: Self.service, isPrimary: true, includes: [],
      characteristics: [
        GATTCharacteristicDefinition(
          uuid: 0x2A38, properties: [.read], permissions: [.readable],
          value: ByteSlice([UInt8](repeating: 0x5A, count: 20)))
      ])
    guard case .success = server.host.addService(definition, at: .zero) else { return nil }
    server.powerOn()
    return server
  }

  private func take(_ packet: HCI.Packet, _ server: inout HostInMemory, _ packets: inout [HCI.Packet]) {
    switch packet {
    case .command(let opcode, _):
      HostInMemory.answer(opcode, server.handle, pool, into: &packets)
      switch opcode {
      case .leSetScanEnable: packets.append(report(of: server.address))
      case .leCreateConnection:
        packets.append(HostInMemory.connection(server.handle, .central, to: server.address).packet(in: pool))
        server.connected(.peripheral, to: Self.client)
      default: break
      }
    case .acl(let data):
      let boundary: HCI.ACLData.Boundary = data.boundary == .continuing ? .continuing : .firstFlushable
      server.incoming.append(.acl(HCI.ACLData(handle: server.handle, boundary: boundary, payload: data.payload)))
      let completed = HCI.CompletedPackets(server.handle, count: 1, in: pool)
      packets.append(HCI.Event.numberOfCompletedPackets(completed).packet(in: pool))
    case .event: break
    }
  }

  private func report(of address: DeviceAddress) -> HCI.Packet {
    let report = HCI.AdvertisingReport(
      type: .connectableScannable, address: HCI.PeerAddress(address), data: [2, 1, 6, 3, 3, 0x0D, 0x18], rssi: -40)
    return HCI.Event.leAdvertisingReport(HCI.AdvertisingReports(report, in: pool)).packet(in: pool)
  }
}
