import BluetoothAir
import BluetoothTransport
import Foundation

/// Hosts that join one air in this process, one after the other, over a Unix socket.
///
/// A cost that grows with the number of hosts is in the count of `Counts.Work.joiningHost`.
enum JoinedHosts {
  /// HCI_Read_BD_ADDR as an H4 packet, and the length of its Command Complete event.
  private static let (command, answerLength): ([UInt8], Int) = ([0x01, 0x09, 0x10, 0x00], 13)

  /// Joins `count` hosts. Each reads its controller's address before the next one joins, and stays until the end.
  static func join(_ count: Int) throws {
    var options = AirOptions()
    options.hostLimit = count
    let air = AirServer(options)
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(getpid()).socket").path
    var sockets: [Int32] = []
    defer {
      for socket in sockets { close(socket) }
      try? air.stop()
    }
    _ = try air.listen(at: .unix(path: path))
    for _ in 0..<count {
      let descriptor = try connect(to: path)
      sockets.append(descriptor)
      guard write(descriptor, command, command.count) == command.count else { throw DidNotHappen() }
      var answer = [UInt8](repeating: 0, count: answerLength)
      guard recv(descriptor, &answer, answerLength, Int32(MSG_WAITALL)) == answerLength else {
        throw DidNotHappen()
      }
    }
  }

  private static func connect(to path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw DidNotHappen() }
    return descriptor
  }
}
