import BluetoothAir
import BluetoothLab
import Foundation
import TestSupport
import Testing

/// A connection of a test to the server of a page.
final class PageConnection {
  let descriptor: Int32
  private var octets: [UInt8] = []

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    try HostSocket.connect(descriptor, &address)
  }

  deinit { close(descriptor) }

  func send(_ octets: [UInt8]) {
    _ = octets.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Returns the next octets; fewer at the end of the connection.
  func read(_ count: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while octets.count < count {
      let received = recv(descriptor, &buffer, buffer.count, 0)
      guard received > 0 else { break }
      octets += buffer.prefix(received)
    }
    defer { octets.removeFirst(min(count, octets.count)) }
    return Array(octets.prefix(count))
  }

  /// Returns the text up to an empty line, with it; empty at the end of the connection.
  func readHead() -> String {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      let next = read(1)
      guard !next.isEmpty else { break }
      head += next
    }
    return String(decoding: head, as: UTF8.self)
  }

  /// Returns everything up to the end of the connection.
  func readToEnd() -> [UInt8] {
    var all: [UInt8] = []
    while case let next = read(65_536), !next.isEmpty { all += next }
    return all
  }
}

/// A page under test, by its URL.
struct PageUnderTest: Sendable {
  let url: String
  let port: UInt16
  let path: String

  init(_ url: String) throws {
    self.url = url
    let match = try #require(try /^http:\/\/127\.0\.0\.1:(\d+)(\/.+\/)$/.firstMatch(in: url))
    port = try #require(UInt16(match.1))
    path = String(match.2)
  }

  var host: String { "127.0.0.1:\(port)" }

  /// Sends a request, and returns the whole answer.
  func get(_ target: String, method: String = "GET", _ fields: [(String, String)]? = nil) throws -> String {
    String(decoding: try octets(target, method: method, fields), as: UTF8.self)
  }

  func octets(_ target: String, method: String = "GET", _ fields: [(String, String)]? = nil) throws -> [UInt8] {
    let connection = try PageConnection(port: port)
    let lines = (fields ?? [("Host", host)]).map { "\($0.0): \($0.1)\r\n" }.joined()
    connection.send(Array("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n".utf8))
    return connection.readToEnd()
  }

  /// Opens a WebSocket. Returns it with the head of the answer.
  func upgrade(_ target: String, _ fields: [(String, String)]) throws -> (PageConnection, String) {
    let connection = try PageConnection(port: port)
    let all =
      fields + [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
      ]
    let lines = all.map { "\($0.0): \($0.1)\r\n" }.joined()
    connection.send(Array("GET \(target) HTTP/1.1\r\n\(lines)\r\n".utf8))
    return (connection, connection.readHead())
  }

  func viewer() throws -> PageViewer {
    let (connection, head) = try upgrade(path + "events", [("Host", host), ("Origin", "http://\(host)")])
    try #require(head.hasPrefix("HTTP/1.1 101 "), "\(head)")
    return PageViewer(connection)
  }
}

/// A value of JSON. What is not there is null.
enum PageValue: Decodable, Hashable, Sendable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([PageValue])
  case object([String: PageValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([PageValue].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: PageValue].self))
    }
  }

  subscript(name: String) -> PageValue { if case .object(let fields) = self { fields[name] ?? .null } else { .null } }
  subscript(index: Int) -> PageValue { list.indices.contains(index) ? list[index] : .null }

  var isThere: Bool { self != .null }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  var list: [PageValue] { if case .list(let list) = self { list } else { [] } }
  var numbers: [Double] { list.compactMap(\.number) }
  var texts: [String] { list.compactMap(\.text) }
}

/// A viewer of a page: a WebSocket whose messages are JSON objects.
final class PageViewer {
  typealias Message = PageValue

  let connection: PageConnection
  private var lastID = 0
  /// What came before the last answer: the effect of a request may be told before its answer.
  private var before: ArraySlice<Message> = []

  init(_ connection: PageConnection) { self.connection = connection }

  /// Returns the text of the next message; nil: the server has closed the connection.
  func text() -> String? {
    while true {
      let head = connection.read(2)
      guard head.count == 2 else { return nil }
      var length = Int(head[1] & 0x7F)
      if length == 126 { length = connection.read(2).reduce(0) { $0 << 8 | Int($1) } }
      if length == 127 { length = connection.read(8).reduce(0) { $0 << 8 | Int($1) } }
      let payload = connection.read(length)
      switch head[0] & 0x0F {
      case 1: return String(decoding: payload, as: UTF8.self)
      case 8: return nil
      default: continue
      }
    }
  }

  func message() throws -> Message {
    if let first = before.popFirst() { return first }
    guard let text = text() else { throw HostSocket.Failure(description: "the server has closed the connection") }
    return try JSONDecoder().decode(PageValue.self, from: Data(text.utf8))
  }

  /// Returns the next message that fits.
  func message(_ type: String, where fits: (Message) -> Bool = { _ in true }) throws -> Message {
    while true {
      let message = try message()
      if message["type"].text == type, fits(message) { return message }
    }
  }

  func send(_ text: String) {
    let payload = Array(text.utf8)
    var frame: [UInt8] = [0x81]
    if payload.count < 126 {
      frame.append(0x80 | UInt8(payload.count))
    } else if payload.count < 65_536 {
      frame += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    } else {
      frame += [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    // The mask 0 leaves the octets as they are.
    connection.send(frame + [0, 0, 0, 0] + payload)
  }

  /// Sends a message with these fields, and returns the answer.
  @discardableResult
  func ask(_ fields: String) throws -> Message {
    lastID += 1
    let id = lastID
    before = []
    send(#"{"id":\#(id),\#(fields)}"#)
    var passed: [Message] = []
    while true {
      let message = try message()
      if message["type"].text == "answer", message["id"].number == Double(id) {
        before = passed[...]
        return message
      }
      passed.append(message)
    }
  }

  /// Sends a request of the control socket, and returns the answer, which must be no error.
  @discardableResult
  func request(_ fields: String) throws -> Message {
    let answer = try ask(#""request":{\#(fields)}"#)
    #expect(answer["error"] == .null, "\(answer)")
    return answer
  }

  /// Returns the next state of a device that fits.
  func device(_ name: String, where fits: (Message) -> Bool = { _ in true }) throws -> Message {
    while true {
      let devices = try message()["devices"].list
      if let device = devices.first(where: { $0["name"].text == name }), fits(device) { return device }
    }
  }
}

/// Calls `body` with an air of a world file and its page, on a thread that may wait.
func withPage(
  _ world: String = "{}", speed: Double = 1, _ body: @escaping @Sendable (AirServer, PageUnderTest) throws -> Void
) async throws {
  try await onOwnThread {
    var options = AirOptions()
    options.file = try WorldFile(text: world)
    options.speed = .times(speed)
    let air = AirServer(options)
    defer { try? air.stop() }
    try body(air, try PageUnderTest(try air.openPage()))
  }
}

/// Calls `body` with the page of a world that is no air, on a thread that may wait.
func withPage(
  of world: World, _ body: @escaping @Sendable (AirPage, PageUnderTest) throws -> Void
) async throws {
  try await onOwnThread {
    let page = try AirPage(of: world, PageOptions())
    defer { page.close() }
    try body(page, try PageUnderTest(page.url))
  }
}
