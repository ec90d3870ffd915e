/// The address of a controller, or of a socket at which hosts connect, in the form in which users write it.
package enum TransportSpecifier: Hashable, Sendable {
  /// `tcp:HOST:PORT`; an IPv6 address is in brackets.
  case tcp(host: String, port: Int)
  /// `unix:PATH`: a Unix domain socket.
  case unix(path: String)
  /// `serial:DEVICE[,BAUD]`: a serial line with hardware flow control.
  case serial(device: String, baud: Int)
  /// `hci:N`: Bluetooth adapter N of Linux, through its HCI user channel.
  case hci(Int)

  /// The default baud rate of a serial line.
  package static let standardBaud = 115_200

  /// The reason why a text is not a transport specifier.
  package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error and the expected form, as the end of a line.
    package let description: String

    package init(description: String) { self.description = description }
  }

  /// The scheme with which each kind of specifier begins.
  package static let schemes = ["tcp", "unix", "serial", "hci"]

  package init(_ text: String) throws(Problem) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count == 2 ? String(parts[1]) : ""
    switch parts.first {
    case "tcp": self = try Self.tcp(rest)
    case "unix":
      guard !rest.isEmpty else { throw Problem(description: "missing path: expected unix:PATH") }
      guard rest.utf8.count <= Self.longestPath, !rest.utf8.contains(0) else {
        throw Problem(description: "invalid path: expected at most \(Self.longestPath) octets without NUL")
      }
      self = .unix(path: rest)
    case "serial": self = try Self.serial(rest)
    case "hci":
      guard let number = Int(rest), (0...0xFFFE).contains(number) else {
        throw Problem(description: "invalid adapter number \"\(rest)\": expected a number such as hci:0")
      }
      self = .hci(number)
    default:
      throw Problem(
        description: "expected one of: tcp:HOST:PORT, unix:PATH, serial:DEVICE[,BAUD], hci:N")
    }
  }

  /// The maximum length of a socket path in octets: the size of `sun_path` on Linux without the terminating zero.
  static let longestPath = 107

  private static func tcp(_ rest: String) throws(Problem) -> Self {
    guard let colon = rest.lastIndex(of: ":") else {
      throw Problem(description: "missing port: expected tcp:HOST:PORT")
    }
    var host = String(rest[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      throw Problem(description: "invalid host: put an IPv6 address in brackets, such as tcp:[::1]:6402")
    }
    guard !host.isEmpty else { throw Problem(description: "missing host: expected tcp:HOST:PORT") }
    let port = rest[rest.index(after: colon)...]
    guard let number = UInt16(port) else {
      throw Problem(description: "invalid port \"\(port)\": expected a number from 0 to 65535")
    }
    return .tcp(host: host, port: Int(number))
  }

  private static func serial(_ rest: String) throws(Problem) -> Self {
    let parts = rest.split(separator: ",", omittingEmptySubsequences: false)
    guard let device = parts.first, !device.isEmpty, parts.count <= 2 else {
      throw Problem(description: "expected serial:DEVICE[,BAUD], such as serial:/dev/ttyUSB0,1000000")
    }
    guard parts.count == 2 else { return .serial(device: String(device), baud: standardBaud) }
    guard let baud = UInt32(parts[1]), baud > 0 else {
      throw Problem(description: "invalid baud rate \"\(parts[1])\": expected a whole number such as 115200")
    }
    return .serial(device: String(device), baud: Int(baud))
  }
}

extension TransportSpecifier: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .serial(let device, let baud): "serial:\(device),\(baud)"
    case .hci(let number): "hci:\(number)"
    }
  }
}
