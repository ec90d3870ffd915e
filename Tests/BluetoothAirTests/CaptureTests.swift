import BluetoothAir
import BluetoothLab
import Foundation
import NIOCore
import Testing

/// Captures of a running air.
@Suite(.timeLimit(.minutes(10))) struct AirCaptureTests {
  /// An air with a control socket and a folder for its files.
  private struct Station {
    let air: ServerFixture
    let folder: URL
    var socket: String { path("control") }

    init() throws {
      folder = URL(fileURLWithPath: "/tmp/air-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      var options = AirOptions()
      options.speed = .times(1_000)
      air = try ServerFixture(options)
      try air.server.openControl(at: socket)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @discardableResult
    func capture(_ path: String?) throws -> ControlAnswer {
      var request = ControlRequest(.capture)
      request.path = path
      return try ControlSocket.answer(to: request, at: socket)
    }

    func devices() throws -> [ControlAnswer.Device] {
      try ControlSocket.answer(to: ControlRequest(.devices), at: socket).devices ?? []
    }

    func end() {
      try? air.server.stop()
      try? FileManager.default.removeItem(at: folder)
    }
  }

  private static let sectionHeader: [UInt8] = [0x0A, 0x0D, 0x0D, 0x0A]

  @Test("A capture to a FIFO without a reader blocks neither the air nor its hosts, and begins when a reader opens it")
  func noReader() throws {
    let station = try Station()
    defer { station.end() }
    let path = station.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    #expect(try station.capture(path).note != nil)
    let host = try station.air.host()
    #expect(try host.address().count == 6)
    #expect(try station.devices().map(\.name) == ["hci-1"])
    let reader = try #require(FileHandle(forReadingAtPath: path))
    // The capture also describes the interface of the host that joined before the reader.
    try host.reset()
    var octets = Data()
    while octets.range(of: Data("hci-1".utf8)) == nil, case let part = reader.availableData, !part.isEmpty {
      octets += part
      try host.reset()
    }
    #expect(Array(octets.prefix(4)) == Self.sectionHeader)
    #expect(octets.range(of: Data("hci-1".utf8)) != nil)
  }

  @Test("A paused reader blocks neither the air nor its hosts, and another capture can replace the first one")
  func pausedReader() throws {
    let station = try Station()
    defer { station.end() }
    let path = station.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try station.capture(path)
    let host = try station.air.host()
    // More than the pipe holds.
    for _ in 0..<1_000 { try host.reset() }
    #expect(try station.devices().count == 1)
    // The capture gives up on the reader after 2 s without progress.
    #expect(try station.capture(station.path("next")).warning?.contains("did not read the end") == true)
    try host.reset()
    #expect(throws: Never.self) { try station.capture(nil) }
    let next = try #require(FileManager.default.contents(atPath: station.path("next")))
    #expect(Array(next.prefix(4)) == Self.sectionHeader)
  }

  @Test("Requests that wait behind a slow one are all answered, however many octets they have together")
  func manyRequestsBehindSlowOne() throws {
    let station = try Station()
    defer { station.end() }
    let path = station.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try station.capture(path)
    let host = try station.air.host()
    for _ in 0..<1_000 { try host.reset() }
    let socket = try LineSocket(path: station.socket)
    // The end of the capture waits 2 s for the paused reader. Blanks are permitted in a request.
    let request = #"{"verb":"devices"}"# + String(repeating: " ", count: 100_000) + "\n"
    socket.sendInBackground(#"{"verb":"capture"}"# + "\n" + String(repeating: request, count: 15))
    let slow = try socket.line()
    #expect(slow.contains("error") && !slow.contains("request too long"), "the capture is not complete")
    for _ in 0..<15 { #expect(try socket.line().contains("hci-1")) }
  }

  @Test("A reader that leaves ends the capture and nothing else")
  func readerGone() throws {
    let station = try Station()
    defer { station.end() }
    let path = station.path("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    try station.capture(path)
    close(reader)
    let host = try station.air.host()
    for _ in 0..<10 { try host.reset() }
    #expect(try station.devices().count == 1)
    #expect(throws: Never.self) { try station.capture(nil) }
  }

  @Test("The failure of a capture is a warning for who starts the next one, and an error for who ends it")
  func failedCapture() throws {
    let station = try Station()
    defer { station.end() }
    let host = try station.air.host()
    try station.capture("/dev/full")
    for _ in 0..<10 { try host.reset() }
    let warning = try #require(try station.capture(station.path("whole.pcapng")).warning)
    #expect(warning.contains("/dev/full: No space left on device"))
    for _ in 0..<10 { try host.reset() }
    #expect(try station.capture("/dev/full").warning == nil)
    for _ in 0..<10 { try host.reset() }
    let error = #expect(throws: AirError.self) { try station.capture(nil) }
    #expect(error?.description.contains("/dev/full: No space left on device") == true)
  }

  @Test("A capture under another name of the file in use is refused, and the file stays whole")
  func link() throws {
    let station = try Station()
    defer { station.end() }
    try station.capture(station.path("capture"))
    let host = try station.air.host()
    try FileManager.default.createSymbolicLink(
      atPath: station.path("link"), withDestinationPath: station.path("capture"))
    #expect(throws: AirError.self) { try station.capture(station.path("link")) }
    try host.reset()
    try station.capture(nil)
    let octets = try #require(FileManager.default.contents(atPath: station.path("capture")))
    #expect(Array(octets.prefix(4)) == Self.sectionHeader)
    // More than 500 octets: LE Set Event Mask of the resets before and after the refusal are in it.
    #expect(octets.count > 500)
  }

  @Test("A switch from one capture to another loses no HCI packet")
  func switching() throws {
    let station = try Station()
    defer { station.end() }
    let host = try station.air.host()
    for number in 0...20 {
      try station.capture(station.path("\(number)"))
      try host.command(0x1009)
    }
    try station.capture(nil)
    var packets = 0
    for number in 0...20 {
      let octets = try #require(FileManager.default.contents(atPath: station.path("\(number)")))
      // Read BD_ADDR without parameters and its Command Complete with success contain these octets once each.
      packets += octets.count(of: [0x09, 0x10, 0x00])
    }
    #expect(packets == 2 * 21)
  }

  @Test("A request to an air that does not answer ends after the time that the user allows")
  func noAnswer() throws {
    let path = "/tmp/deaf-\(UUID().uuidString)"
    let listener = try DeafListener(path: path)
    #expect(throws: ControlSocket.NoAnswer.self) {
      _ = try ControlSocket.ask(ControlRequest(.devices), at: path, within: .milliseconds(20))
    }
    withExtendedLifetime(listener) {}
  }
}

extension Data {
  fileprivate func count(of pattern: [UInt8]) -> Int {
    var (count, start) = (0, startIndex)
    while let found = range(of: Data(pattern), in: start..<endIndex) {
      count += 1
      start = found.upperBound
    }
    return count
  }
}

/// A Unix socket that accepts connections and never answers.
private final class DeafListener {
  private let descriptor: Int32
  private let path: String

  struct Failure: Error {}

  init(path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(descriptor, 8) == 0 else { throw Failure() }
  }

  deinit {
    close(descriptor)
    unlink(path)
  }
}
