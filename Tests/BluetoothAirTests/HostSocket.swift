import BluetoothAir
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOCore

/// A host at the other end of a socket that sends and reads HCI packets one by one.
final class HostSocket {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let descriptor: Int32
  private var decoder = H4Decoder(for: .host, pool: PacketPool())
  private var octets = ByteSlice()

  /// - Parameter room: The size of the receive buffer in octets; nil uses the system's default.
  init(_ specifier: TransportSpecifier, room: Int32? = nil) throws {
    switch specifier {
    case .tcp(_, let port):
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      if var room {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      try Self.connect(descriptor, &address)
    case .unix(let path):
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      try Self.connect(descriptor, &address)
    case .serial, .hci: throw Failure(description: "no socket")
    }
    // A server that hangs must not hang the test. Beside thousands of other tests it may answer late.
    var limit = timeval(tv_sec: 600, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  static func connect<Address>(_ descriptor: Int32, _ address: inout Address) throws {
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard result == 0 else { throw Failure(description: String(cString: strerror(errno))) }
  }

  /// Limits the time after which a blocked send fails.
  func limitSending(milliseconds: Int) {
    var limit = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func send(_ octets: [UInt8]) throws {
    var sent = 0
    while sent < octets.count {
      let count = octets[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(description: String(cString: strerror(errno))) }
      sent += count
    }
  }

  func send(_ packet: HCI.Packet) throws {
    try send(packet.h4(in: PacketPool()).withUnsafeBytes { Array($0) })
  }

  /// Returns the next packet, or nil if the other end has closed.
  func next() throws -> HCI.Packet? {
    while true {
      if case .packet(let packet)? = decoder.next(&octets) { return packet }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { return nil }
      guard count > 0 else { throw Failure(description: String(cString: strerror(errno))) }
      octets = ByteSlice(buffer[..<count])
    }
  }

  /// Returns the parameters of the next event with this code for which `isRight` returns true, and skips other packets.
  func event(_ code: UInt8, where isRight: (ByteSlice) -> Bool = { _ in true }) throws -> ByteSlice {
    while let packet = try next() {
      if case .event(code, let parameters) = packet, isRight(parameters) { return parameters }
    }
    throw Failure(description: "the other end has closed")
  }

  /// Sends a command and returns its return parameters, with the status first.
  @discardableResult
  func command(_ opcode: UInt16, _ parameters: [UInt8] = []) throws -> [UInt8] {
    try send(.command(opcode: HCI.Opcode(rawValue: opcode), parameters: ByteSlice(parameters)))
    while let packet = try next() {
      switch packet {
      case .event(0x0E, let answer) where answer.count >= 4 && answer.uint16(at: 1) == opcode:
        return answer.dropFirst(3).withUnsafeBytes { Array($0) }
      case .event(0x0F, let answer) where answer.count == 4 && answer.uint16(at: 2) == opcode: return [answer[0]]
      default: continue
      }
    }
    throw Failure(description: "the other end has closed")
  }

  func reset() throws {
    try command(0x0C03)
    // Enables all events, including all LE events.
    try command(0x0C01, [UInt8](repeating: 0xFF, count: 8))
    try command(0x2001, [UInt8](repeating: 0xFF, count: 8))
  }

  /// Makes `peripheral` advertise and connects to it at an interval of 7.5 ms. Returns the octets of the handle.
  func connect(to peripheral: HostSocket) throws -> [UInt8] {
    let address = try peripheral.address()
    try peripheral.command(0x2006, [0x20, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0])
    try peripheral.command(0x200A, [1])
    try command(0x200D, [0x30, 0, 0x30, 0, 0, 0] + address + [0, 6, 0, 6, 0, 0, 0, 0xC8, 0, 0, 0, 0, 0])
    let complete = try event(0x3E) { [0x01, 0x0A].contains($0[0]) }
    _ = try peripheral.event(0x3E) { [0x01, 0x0A].contains($0[0]) }
    return [complete[2], complete[3]]
  }

  /// The controller's public address, least significant octet first.
  func address() throws -> [UInt8] { Array(try command(0x1009).dropFirst()) }
}

extension ByteSlice {
  fileprivate func uint16(at index: Int) -> UInt16 { UInt16(self[index]) | UInt16(self[index + 1]) << 8 }
}

extension ControlSocket {
  /// Sends a request to the air at `path`, and returns its answer. Beside thousands of other tests it may come late.
  static func answer(to request: ControlRequest, at path: String) throws -> ControlAnswer {
    try ask(request, at: path, within: .minutes(10))
  }
}

/// A connection to a control socket that sends and reads lines.
final class LineSocket {
  private let descriptor: Int32
  private var octets: [UInt8] = []

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    try HostSocket.connect(descriptor, &address)
  }

  deinit { close(descriptor) }

  func ask(_ line: String) throws -> String {
    _ = Array((line + "\n").utf8).withUnsafeBytes {
      Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    return try self.line()
  }

  /// Sends `text` on another thread, because the other end may read only after this end has read its answers.
  func sendInBackground(_ text: String) {
    let (descriptor, octets) = (dup(descriptor), Array(text.utf8))
    Thread.detachNewThread {
      var sent = 0
      while sent < octets.count {
        let count = octets[sent...].withUnsafeBytes {
          Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { break }
        sent += count
      }
      close(descriptor)
    }
  }

  func line() throws -> String {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let end = octets.firstIndex(of: UInt8(ascii: "\n")) {
        defer { octets.removeSubrange(...end) }
        return String(decoding: octets[..<end], as: UTF8.self)
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw HostSocket.Failure(description: "the other end has closed") }
      octets += buffer.prefix(count)
    }
  }
}
