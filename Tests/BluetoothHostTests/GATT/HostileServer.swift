import BluetoothHost
import BluetoothWire
import Testing

/// A host whose peer is a server that the test plays, and a second peer, a client that the host serves.
struct HostileServer {
  var bench = HostHarness()
  private(set) var handle: HCI.ConnectionHandle
  private let client: HCI.ConnectionHandle
  private var newcomers: UInt16 = 0

  /// A read of the host's Device Name by its handle, and the response.
  private static let nameRequest: [UInt8] = [0x0A, 0x03, 0x00]
  private static let nameResponse = [0x0B] + [UInt8]("Bench".utf8)

  init() {
    bench.powerOn()
    client = bench.link(.peripheral, handle: 0x30, to: DeviceAddress(0xC000_0000_0CCC, .random))
    handle = bench.link(.central, handle: 0x40)
    say("0302")
    say("031700")
  }

  /// Sends an ATT PDU as the server. Returns the host's answers; the host may send again afterwards.
  @discardableResult
  mutating func say(_ text: String, on link: HCI.ConnectionHandle? = nil) -> [[UInt8]] {
    say(hex(text).bytes, on: link)
  }

  @discardableResult
  mutating func say(_ octets: [UInt8], on link: HCI.ConnectionHandle? = nil) -> [[UInt8]] {
    bench.completeAll()
    bench.receive(.attribute, octets, on: link ?? handle)
    return takeSent(on: link)
  }

  mutating func ask(
    _ request: GATTRequest, token: GATTToken = 1, on link: HCI.ConnectionHandle? = nil
  ) -> [[UInt8]] {
    let link = link ?? handle
    bench.completeAll()
    bench.perform { host, now in host.request(request, token: token, on: link, at: now) }
    return takeSent(on: link)
  }

  mutating func takeSent(on link: HCI.ConnectionHandle? = nil) -> [[UInt8]] {
    let sent = try? bench.payloads(on: link ?? handle, .attribute)
    bench.completeAll()
    return sent ?? []
  }

  /// Returns the result of a request.
  func result(_ token: GATTToken = 1) -> Result<GATTResponse, GATTError>? {
    for case .gatt(_, .completed(token, let result)) in bench.events { return result }
    return nil
  }

  mutating func refusePairing() {
    bench.receive(.securityManager, [0x05, 0x05], on: handle)
    bench.completeAll()
  }

  mutating func disconnect() {
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
  }

  mutating func connect() {
    handle = bench.link(.central, handle: 0x40)
    say("031700")
  }

  /// Checks the general oracle: the client is still served; the device advertises, accepts a connection and answers a
  /// read.
  mutating func expectUnharmed() {
    let isUnharmed = isUnharmed()
    #expect(isUnharmed)
  }

  private mutating func isUnharmed() -> Bool {
    guard answersRead(on: client) else { return false }
    bench.events.removeAll()
    bench.perform { host, now in host.startAdvertising(data: [], scanResponse: [], at: now) }
    guard bench.advertisingAnswers == [nil] else { return false }
    newcomers += 1
    let newcomer = bench.link(
      .peripheral, handle: 0x50 + newcomers, to: DeviceAddress(0xC000_0000_0D00 + UInt64(newcomers), .random))
    defer { bench.receive(.disconnectionComplete(.success, newcomer, reason: .remoteUserTerminatedConnection)) }
    return answersRead(on: newcomer)
  }

  private mutating func answersRead(on link: HCI.ConnectionHandle) -> Bool {
    say(Self.nameRequest, on: link) == [Self.nameResponse]
  }
}
