/// The address of a controller, or of a socket at which hosts connect, in the form in which users write it.
package enum TransportSpecifier: Hashable, Sendable {
  /// `tcp:HOST:PORT`; an IPv6 address is in brackets.
  case tcp(host: String, port: Int)
  /// `unix:PATH`: a Unix domain socket.
  case unix(path: String)
  /// `serial:DEVICE[,BAUD][,h5[,even]]`: a serial line, with hardware flow control if it carries H4.
  case serial(device: String, baud: Int, SerialFraming = .h4)
  /// `hci:N`: Bluetooth adapter N of Linux, through its HCI user channel.
  case hci(Int)

  /// The default baud rate of a serial line.
  package static let standardBaud = 115_200

  /// The kinds of specifiers. The raw value is the text before the first colon.
  package enum Scheme: String, CaseIterable, Sendable {
    case tcp, unix, serial, hci

    /// The form of a specifier.
    package var syntax: String {
      switch self {
      case .tcp: "tcp:HOST:PORT"
      case .unix: "unix:PATH"
      case .serial: "serial:DEVICE[,BAUD][,h5[,even]]"
      case .hci: "hci:N"
      }
    }
  }

  package var scheme: Scheme {
    switch self {
    case .tcp: .tcp
    case .unix: .unix
    case .serial: .serial
    case .hci: .hci
    }
  }

  package init(_ text: String) throws(SpecifierProblem) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count == 2 ? String(parts[1]) : ""
    switch parts.first.flatMap({ Scheme(rawValue: String($0)) }) {
    case .tcp: self = try Self.tcp(rest)
    case .unix:
      guard !rest.isEmpty else { throw SpecifierProblem(description: "missing path: expected \(Scheme.unix.syntax)") }
      guard rest.utf8.count <= Self.longestPath, !rest.utf8.contains(0) else {
        throw SpecifierProblem(description: "invalid path: expected at most \(Self.longestPath) octets without NUL")
      }
      self = .unix(path: rest)
    case .serial: self = try Self.serial(rest)
    case .hci:
      guard let number = Int(rest), (0...0xFFFE).contains(number) else {
        throw SpecifierProblem(description: "invalid adapter number \"\(rest)\": expected a number such as hci:0")
      }
      self = .hci(number)
    case nil:
      let forms = Scheme.allCases.map(\.syntax).joined(separator: ", ")
      throw SpecifierProblem(description: "expected one of: \(forms)", hasUnknownScheme: true)
    }
  }

  /// The maximum length of a socket path in octets: the size of `sun_path` on Linux without the terminating zero.
  static let longestPath = 107

  private static func tcp(_ rest: String) throws(SpecifierProblem) -> Self {
    guard let colon = rest.lastIndex(of: ":") else {
      throw SpecifierProblem(description: "missing port: expected \(Scheme.tcp.syntax)")
    }
    var host = String(rest[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      throw SpecifierProblem(description: "invalid host: put an IPv6 address in brackets, such as tcp:[::1]:6402")
    }
    guard !host.isEmpty else { throw SpecifierProblem(description: "missing host: expected \(Scheme.tcp.syntax)") }
    let port = rest[rest.index(after: colon)...]
    guard let number = UInt16(port) else {
      throw SpecifierProblem(description: "invalid port \"\(port)\": expected a number from 0 to 65535")
    }
    return .tcp(host: host, port: Int(number))
  }

  private static func serial(_ rest: String) throws(SpecifierProblem) -> Self {
    var options = rest.split(separator: ",", omittingEmptySubsequences: false)[...]
    guard let device = options.popFirst(), !device.isEmpty else { throw serialProblem }
    var baud = standardBaud
    if let text = options.first, text != "h5" {
      guard let number = UInt32(text), number > 0 else {
        throw SpecifierProblem(description: "invalid baud rate \"\(text)\": expected a whole number such as 115200")
      }
      baud = Int(number)
      options.removeFirst()
    }
    switch options {
    case []: return .serial(device: String(device), baud: baud)
    case ["h5"]: return .serial(device: String(device), baud: baud, .h5(hasEvenParity: false))
    case ["h5", "even"]: return .serial(device: String(device), baud: baud, .h5(hasEvenParity: true))
    default: throw serialProblem
    }
  }
}

extension TransportSpecifier {
  private static var serialProblem: SpecifierProblem {
    SpecifierProblem(description: "expected \(Scheme.serial.syntax), such as serial:/dev/ttyUSB0,1000000")
  }
}

extension SerialFraming {
  /// The end of a specifier of a line with this framing.
  fileprivate var suffix: String {
    switch self {
    case .h4: ""
    case .h5(let hasEvenParity): hasEvenParity ? ",h5,even" : ",h5"
    }
  }
}

extension TransportSpecifier: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .serial(let device, let baud, let framing): "serial:\(device),\(baud)\(framing.suffix)"
    case .hci(let number): "hci:\(number)"
    }
  }
}
