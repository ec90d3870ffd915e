import BluetoothAir
import BluetoothLab
import Foundation
import TestSupport
import Testing

/// The rules by which the server of a page answers.
@Suite(.timeLimit(.minutes(5))) struct PageAccessTests {
  @Test("The page and its files have the token in their paths, their types, and fields that protect them")
  func files() async throws {
    try await withPage { _, page in
      let answer = try page.get(page.path)
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("<!doctype html>"), "\(answer)")
      for field in [
        "Content-Type: text/html; charset=utf-8", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
        "frame-ancestors 'none'", "default-src 'none'", "connect-src 'self' ws://\(page.host);",
        "Cross-Origin-Resource-Policy: same-origin", "Cache-Control: no-store",
      ] {
        #expect(answer.contains(field), "\(field)")
      }
      #expect(try page.get(page.path + "main.js").contains("Content-Type: text/javascript; charset=utf-8"))
      #expect(try page.get(page.path + "style.css").contains("Content-Type: text/css; charset=utf-8"))
      #expect(try page.get(page.path + "no.js").hasPrefix("HTTP/1.1 404 "))
      #expect(try page.get(page.path + "../secret").hasPrefix("HTTP/1.1 404 "))
      #expect(try page.get(page.path, method: "POST").hasPrefix("HTTP/1.1 405 "))
    }
  }

  @Test("Without the token, or with another one, nothing is served; two pages have two tokens")
  func tokens() async throws {
    try await withPage { air, page in
      // 128 bits in base64url, between slashes.
      #expect(page.path.count == 24)
      let other = try PageUnderTest(try air.openPage())
      #expect(other.path != page.path)
      var wrong = Array(page.path)
      wrong[5] = wrong[5] == "A" ? "B" : "A"
      for path in ["/", "/index.html", String(wrong), other.path, "//", "/" + page.path, String(page.path.dropLast())] {
        #expect(try page.get(path).hasPrefix("HTTP/1.1 404 "), "\(path)")
      }
      let fields = [("Host", page.host), ("Origin", "http://\(page.host)")]
      #expect(try page.upgrade("/events", fields).1.hasPrefix("HTTP/1.1 404 "))
      #expect(try page.upgrade(String(wrong) + "events", fields).1.hasPrefix("HTTP/1.1 404 "))
    }
  }

  @Test("A request to another name of the server (DNS rebinding) or from another site is refused")
  func otherSites() async throws {
    try await withPage { _, page in
      let port = page.port
      let own = ("Host", page.host)
      for host in ["evil.example:\(port)", "evil.example", "127.0.0.1", "127.0.0.1:1", "10.0.0.1:\(port)", ""] {
        let answer = try page.get(page.path, [("Host", host)])
        #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(host)")
      }
      let (none, two) = (try page.get(page.path, []), try page.get(page.path, [own, ("Host", "evil.example")]))
      #expect(none.hasPrefix("HTTP/1.1 403 ") && two.hasPrefix("HTTP/1.1 403 "), "\(none) \(two)")
      let localhost = try page.get(page.path, [("Host", "localhost:\(port)")])
      #expect(localhost.hasPrefix("HTTP/1.1 200 "))
      for origin in [
        "http://evil.example", "null", "https://\(page.host)", "http://127.0.0.1:1", "http://localhost:\(port)",
      ] {
        let answer = try page.get(page.path, [own, ("Origin", origin)])
        let (_, head) = try page.upgrade(page.path + "events", [own, ("Origin", origin)])
        #expect(answer.hasPrefix("HTTP/1.1 403 ") && head.hasPrefix("HTTP/1.1 403 "), "\(origin)")
      }
      // A browser always sends the origin of a WebSocket.
      let (_, head) = try page.upgrade(page.path + "events", [own])
      #expect(head.hasPrefix("HTTP/1.1 403 "))
      let (_, crossSite) = try page.upgrade(
        page.path + "events", [own, ("Origin", "http://\(page.host)"), ("Sec-Fetch-Site", "cross-site")])
      #expect(crossSite.hasPrefix("HTTP/1.1 403 "))
    }
  }

  @Test("A request that is too long ends the connection, and silent connections keep nobody away")
  func longRequests() async throws {
    try await withPage { _, page in
      let long = [("Host", page.host), ("X-Long", String(repeating: "a", count: 20_000))]
      #expect(try page.get(page.path, long).isEmpty)
      let silent = try (0..<16).map { _ in try PageConnection(port: page.port) }
      #expect(try page.get(page.path).hasPrefix("HTTP/1.1 200 "))
      #expect(silent[0].readToEnd().isEmpty)
    }
  }

  @Test("A page that other machines reach answers to each numeric address, to the token only, and to no other name")
  func publicPage() async throws {
    let world = World(seed: 1, time: .real(speed: 1))
    let publicOptions = try options("0.0.0.0:0", isPublic: true)
    try await onOwnThread {
      let page = try AirPage(of: world, publicOptions)
      defer { page.close() }
      #expect(page.url.hasPrefix("http://0.0.0.0:"))
      let local = try PageUnderTest(page.url.replacing("0.0.0.0", with: "127.0.0.1"))
      for (host, status) in [
        ("127.0.0.1:\(local.port)", 200), ("192.168.7.5:\(local.port)", 200), ("[fe80::1]:\(local.port)", 200),
        ("evil.example:\(local.port)", 403), ("192.168.7.5:1", 403), ("192.168.7.evil:\(local.port)", 403),
      ] {
        let answer = try local.get(local.path, [("Host", host)])
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(host): \(answer.prefix(30))")
      }
      #expect(try local.get("/", [("Host", local.host)]).hasPrefix("HTTP/1.1 404 "))
    }
  }

  @Test("An address that other machines reach needs an explicit option")
  func publicAddress() throws {
    #expect(throws: SpecifierProblemText.self) { try options("0.0.0.0:80", isPublic: false) }
    #expect(throws: SpecifierProblemText.self) { try options("example.org:80", isPublic: false) }
    #expect(throws: SpecifierProblemText.self) { try options("127.0.0.1", isPublic: false) }
    #expect(try options("0.0.0.0:80", isPublic: true).isPublic)
    #expect(try !options("localhost:80", isPublic: true).isPublic)
    #expect(try !options("[::1]:0", isPublic: false).isPublic)
  }

  private struct SpecifierProblemText: Error {
    let text: String
  }

  private func options(_ address: String, isPublic: Bool) throws -> PageOptions {
    do { return try PageOptions(address: address, allowsPublic: isPublic, program: "test") } catch {
      throw SpecifierProblemText(text: "\(error)")
    }
  }
}
