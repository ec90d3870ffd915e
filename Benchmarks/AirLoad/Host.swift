import Foundation

/// A minimal HCI host over TCP: commands, events and ACL data, without L2CAP and higher layers.
final class Host {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)
  private var (start, end) = (0, 0)

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(description: "127.0.0.1:\(port): \(String(cString: strerror(errno)))") }
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  func write(_ octets: [UInt8]) throws {
    var sent = 0
    while sent < octets.count {
      let count = octets[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failure(description: String(cString: strerror(errno))) }
      sent += count
    }
  }

  /// Reads available octets or waits for some. Returns false if none arrived before the socket's timeout.
  private func fill() throws -> Bool {
    if start > 0 {
      buffer.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
      (start, end) = (0, end - start)
    }
    let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + end, $0.count - end, 0) }
    guard count != 0 else { throw Failure(description: "the peer closed the connection") }
    if count < 0, errno == EAGAIN { return false }
    guard count > 0 else { throw Failure(description: String(cString: strerror(errno))) }
    end += count
    return true
  }

  /// A handler of one packet, H4 packet indicator first. Returns true to stop.
  typealias Visitor = (ArraySlice<UInt8>) throws -> Bool

  /// Passes packets to `visit` until it returns true. Returns false if no packet arrived before the socket's timeout.
  func packets(_ visit: Visitor) throws -> Bool {
    while true {
      while let count = packetLength, end - start >= count {
        let packet = buffer[start..<start + count]
        start += count
        if try visit(packet) { return true }
      }
      guard try fill() else { return false }
    }
  }

  private var packetLength: Int? {
    guard end > start else { return nil }
    switch buffer[start] {
    case 2: return end - start < 5 ? nil : 5 + Int(buffer[start + 3]) + Int(buffer[start + 4]) << 8
    default: return end - start < 3 ? nil : 3 + Int(buffer[start + 2])
    }
  }

  /// Sends a command and waits for its Command Complete or Command Status. Throws if its status is not success.
  func command(_ opcode: UInt16, _ parameters: [UInt8] = []) throws {
    try write([1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters)
    _ = try packets { packet in
      let first = packet.startIndex
      guard packet[first] == 4 else { return false }
      let (code, status): (Int, UInt8)
      switch packet[first + 1] {
      case 0x0E:
        (code, status) = (
          Int(packet[first + 4]) | Int(packet[first + 5]) << 8, packet.count > 6 ? packet[first + 6] : 0
        )
      case 0x0F: (code, status) = (Int(packet[first + 5]) | Int(packet[first + 6]) << 8, packet[first + 3])
      default: return false
      }
      guard code == Int(opcode) else { return false }
      guard status == 0 else { throw Failure(description: "command \(String(opcode, radix: 16)): status \(status)") }
      return true
    }
  }

  /// Returns the controller's public address.
  func address() throws -> [UInt8] {
    try write([1, 0x09, 0x10, 0])
    var address: [UInt8] = []
    _ = try packets { packet in
      let first = packet.startIndex
      guard packet[first] == 4, packet[first + 1] == 0x0E, packet.count == 13 else { return false }
      address = Array(packet[(first + 7)...])
      return true
    }
    return address
  }

  /// Waits for an LE meta event with one of these subevents. Returns its octets from the subevent code on.
  func meta(_ subevents: Set<UInt8>) throws -> [UInt8] {
    var event: [UInt8] = []
    _ = try packets { packet in
      let first = packet.startIndex
      guard packet[first] == 4, packet[first + 1] == 0x3E, subevents.contains(packet[first + 3]) else { return false }
      event = Array(packet[(first + 3)...])
      return true
    }
    return event
  }

  /// Sets the maximum time that `packets` waits.
  func setTimeout(milliseconds: Int) {
    var limit = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }
}
