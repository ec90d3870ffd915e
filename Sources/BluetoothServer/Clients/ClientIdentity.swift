import BluetoothTransport
import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The process at the other end of a connection, as the system knows it. Nothing of it comes from the client.
package struct ClientIdentity: Hashable, Sendable {
  /// A process of this machine.
  package struct Process: Hashable, Sendable {
    package let id: Int32
    package let user: UInt32
    package let group: UInt32
    /// The path of the program file; nil: the system does not tell it.
    package let program: String?
    /// The program file; nil: the system does not tell it.
    package let file: ProgramFile?
  }

  /// Nil: the client is connected over TCP.
  package let process: Process?
  /// The address of a client over TCP.
  package let address: String?

  /// The client, for a line of the log.
  package var text: String {
    guard let process else { return "the client at \(address ?? "an unknown address")" }
    let name = process.program?.split(separator: "/").last.map(String.init) ?? "a program"
    return "\(name) (process \(process.id), user \(process.user))"
  }

  /// Returns true if the client is a process of the server's user or of the superuser, and so may control the server. The
  /// processes of one user can't be kept apart, because each of them can run any program.
  ///
  /// - Parameter user: the user of the server.
  func mayControl(_ user: UInt32 = geteuid()) -> Bool { process.map { $0.user == user || $0.user == 0 } ?? false }

  /// The client, for the fields of a structured log.
  var logFields: KeyValuePairs<String, String> {
    guard let process else { return ["address": address ?? "unknown"] }
    return ["pid": "\(process.id)", "uid": "\(process.user)", "program": process.program ?? "unknown"]
  }

  /// Returns the origin of the client's connection.
  ///
  /// - Parameter remoteAddress: the address of the other end.
  func origin(at remoteAddress: SocketAddress?) -> ConnectionOrigin {
    process.map { .user($0.user) } ?? ConnectionOrigin(remoteAddress)
  }
}

extension ClientIdentity {
  /// The credentials of the other end of a Unix socket when it was connected: `struct ucred` of Linux.
  private struct Credentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
  }

  /// Returns the identity of the other end of `channel`. Must be called on the channel's event loop.
  static func of(_ channel: any Channel) -> EventLoopFuture<ClientIdentity> {
    #if os(Linux)
      if let local = channel.localAddress, case .unixDomainSocket = local,
        let options = channel as? any SocketOptionProvider
      {
        let credentials: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
          level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return credentials.map { credentials in
          ClientIdentity(
            process: Process(
              id: credentials.process, user: credentials.user, group: credentials.group,
              program: programFile(of: credentials.process),
              file: ProgramFile(path: "/proc/\(credentials.process)/exe")),
            address: nil)
        }
      }
    #endif
    let identity = ClientIdentity(process: nil, address: channel.remoteAddress.map { "\($0)" })
    return channel.eventLoop.makeSucceededFuture(identity)
  }

  /// The path of a process's program file; nil: the process is gone, or belongs to another user.
  private static func programFile(of process: Int32) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
