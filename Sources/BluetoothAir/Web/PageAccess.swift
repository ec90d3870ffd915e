/// The rules by which a page answers a request: who knows the token, from where, and under which name of the server.
///
/// A web site that a user of this machine visits can send requests to addresses on this machine. It does not know the
/// token; its `Origin` differs; and if it has bound its own name to this machine (DNS rebinding), its `Host` does.
struct PageAccess: Sendable {
  /// The number of octets of a token: 128 bits.
  private static let tokenOctets = 16
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The token, in the alphabet of base64url.
  let token: String
  /// The address at which the user opens the page, as in its URL.
  let host: String
  let port: Int
  /// True if the server has another address than those of the loopback: every numeric address may name it.
  let isPublic: Bool

  init(host: String, port: Int, isPublic: Bool) {
    (self.host, self.port, self.isPublic) = (host, port, isPublic)
    token = Self.makeToken()
  }

  private static func makeToken() -> String {
    var generator = SystemRandomNumberGenerator()
    var (bits, count, text) = (0, 0, [UInt8]())
    for _ in 0..<tokenOctets {
      bits = bits << 8 | Int(generator.next() as UInt8)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[bits >> count & 63])
      }
    }
    text.append(alphabet[bits << (6 - count) & 63])
    return String(decoding: text, as: UTF8.self)
  }

  /// The URL of the page.
  var url: String { "http://\(authority(of: host))/\(token)/" }

  private func authority(of host: String) -> String {
    (host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host) + ":\(port)"
  }

  /// The answer to a request.
  enum Decision: Equatable {
    /// The request is for this path below the token.
    case allowed(String)
    /// The URL has no token of this server.
    case notFound
    /// The request comes from another site, or names another server.
    case forbidden
  }

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - target: the request target: path and query.
  ///   - hosts: the values of the header fields `Host`.
  ///   - origins: those of `Origin`.
  ///   - needsOrigin: true for a WebSocket, for which browsers always send `Origin`.
  ///   - site: the value of `Sec-Fetch-Site`, which only browsers send; nil: there is none.
  func decide(
    _ target: String, hosts: [String], origins: [String], needsOrigin: Bool, site: String? = nil
  ) -> Decision {
    guard hosts.count == 1, let name = hosts.first, isOwn(name) else { return .forbidden }
    guard origins.count <= 1, !needsOrigin || origins.count == 1 else { return .forbidden }
    if let origin = origins.first, origin.lowercased() != "http://\(name.lowercased())" { return .forbidden }
    if site == "cross-site", needsOrigin { return .forbidden }
    let path = target.prefix { $0 != "?" && $0 != "#" }
    guard path.first == "/" else { return .notFound }
    let parts = path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, isToken(parts[0]) else { return .notFound }
    return .allowed(String(parts[1]))
  }

  /// Compares in a time that does not depend on the octets.
  private func isToken(_ text: Substring) -> Bool {
    let (given, own) = (Array(text.utf8), Array(token.utf8))
    guard given.count == own.count else { return false }
    return zip(given, own).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func isOwn(_ name: String) -> Bool {
    let name = name.lowercased()
    let names = ["127.0.0.1", "localhost", "[::1]", host.lowercased()]
    if names.contains(where: { authority(of: $0) == name }) { return true }
    // A name of DNS could be another site's; a numeric address can't.
    guard isPublic, name.hasSuffix(":\(port)") else { return false }
    let address = name.dropLast("\(port)".count + 1)
    return address.hasPrefix("[")
      ? address.hasSuffix("]") && address.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
      : address.split(separator: ".", omittingEmptySubsequences: false).count == 4
        && address.allSatisfy { $0.isASCII && $0.isNumber || $0 == "." }
  }
}
