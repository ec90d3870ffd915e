import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// Fuzzes a server's PDUs to a client with pending procedures.
///
/// Octet 0 selects the MTU and whether a cache is offered. Each step that follows is an octet for the action, one for a
/// length, and that number of octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzATTClient(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = UnsafeBufferPointer(start: start, count: count)[...]
  guard let mode = input.popFirst() else { return 0 }
  var client = Client(mode: mode)
  while let kind = input.popFirst(), let length = input.popFirst() {
    let octets = ByteSlice(input.prefix(Int(length)))
    input = input.dropFirst(Int(length))
    client.step(kind, octets)
  }
  client.finish()
  return 0
}

/// One bearer, and the record of its requests and responses.
private struct Client {
  private let pool = PacketPool()
  private var bearer: GATTBearer
  private var database = GATTDatabase(deviceName: "fuzz", appearance: 0)
  private var now = Instant.zero
  /// The request in progress.
  private var outstanding: ATT.Opcode?
  private var owedConfirmations = 0
  private var token: GATTToken = 0
  private var open: Set<GATTToken> = []
  /// The security that the client waits for.
  private var pendingDemand: SecurityDemand?

  init(mode: UInt8) {
    bearer = Self.bearer(mode, pool)
    bearer.start(at: now)
    take()
    if mode & 0x10 != 0 { respond([0x03, mode & 0x20 == 0 ? 0x17 : 0x40, 0x00]) }
    if mode & 4 != 0 { secure(HostLinkSecurity(hasKey: true)) }
  }

  private static func bearer(_ mode: UInt8, _ pool: PacketPool) -> GATTBearer {
    var bearer = GATTBearer(role: .central, maximumMTU: mode & 1 == 0 ? 517 : 23, pool: pool)
    if mode & 2 != 0 { bearer.signatureMaker = Signer(key: .zero) }
    return bearer
  }

  mutating func step(_ kind: UInt8, _ octets: ByteSlice) {
    switch kind & 0x0F {
    case 0...3: respond(octets)
    // The matching response to the request, so that the fuzzer need not know the opcode.
    case 4...7:
      if let response = outstanding?.response { respond([response.rawValue] + octets.bytes) }
    case 8:
      if let request = outstanding { respond([0x01, request.rawValue, 0, 0, octets.isEmpty ? 0x0A : octets[0]]) }
    case 9, 10, 11: request(kind >> 4, octets)
    case 12: reconnect()
    case 13 where pendingDemand != nil: settle(kind >> 4)
    case 13: pass(.milliseconds(Int64(kind >> 4) * 20))
    case 14: pass(.seconds(Int64(kind >> 4) * 3))
    default: respond([kind & 0x10 == 0 ? 0x1B : 0x1D] + octets.bytes)
    }
  }

  private mutating func respond(_ octets: [UInt8]) { respond(ByteSlice(octets)) }

  private mutating func respond(_ octets: ByteSlice) {
    let wasClosed = bearer.isClosed
    if !octets.isEmpty, let opcode = ATT.Opcode(rawValue: octets[0]), !wasClosed {
      if octets.count <= bearer.mtu, opcode == outstanding?.response { outstanding = nil }
      if opcode == .errorResponse, octets.count == 5, octets[1] == outstanding?.rawValue { outstanding = nil }
      if opcode == .handleValueIndication { owedConfirmations += 1 }
    }
    bearer.receive(octets, database: &database, at: now)
    take()
  }

  private mutating func request(_ number: UInt8, _ octets: ByteSlice) {
    guard open.count < 40 else { return }
    let first = octets.isEmpty ? 1 : UInt16(octets[0])
    let range = first...(first | 0x3F)
    let uuid: BluetoothUUID = number & 1 == 0 ? 0x1801 : 0x2A37
    let request: GATTRequest
    switch number & 0x0F {
    case 0: request = .discoverPrimaryServices
    case 1: request = .readMultipleVariable(octets.bytes.map { UInt16($0) })
    case 2, 3: request = .discoverPrimaryService(uuid)
    case 4: request = .findIncludedServices(in: range)
    case 5: request = .discoverCharacteristics(in: range)
    case 6: request = .discoverCharacteristic(uuid, in: range)
    case 7: request = .discoverDescriptors(in: range)
    case 8: request = .read(first)
    case 9: request = .readByType(uuid, in: range)
    case 10: request = .readMultiple(octets.bytes.map { UInt16($0) })
    case 11: request = .write(first, octets)
    case 12: request = .write(first, ByteSlice([UInt8](repeating: 7, count: 2 * octets.count)))
    case 13: request = .writeWithoutResponse(first, octets)
    case 14: request = .signedWriteWithoutResponse(first, octets)
    default:
      request = .reliableWrite(octets.bytes.map { GATTWritePart(handle: UInt16($0), offset: Int($0), value: octets) })
    }
    token += 1
    open.insert(token)
    bearer.request(request, token: token, at: now)
    take()
  }

  private mutating func pass(_ time: TimeSpan) {
    now += time
    bearer.timeReached(now)
    take()
  }

  /// Completes pairing or encryption: with the security that the client demands, with less, or with a failure.
  private mutating func settle(_ outcome: UInt8) {
    guard let demand = pendingDemand else { return }
    let weak = HostLinkSecurity(level: .encrypted, keySize: 7, hasKey: outcome & 4 == 0)
    switch outcome & 3 {
    case 0:
      pendingDemand = nil
      secure(HostLinkSecurity(level: demand.level, keySize: max(demand.keySize, 7), hasKey: true, isBonded: true))
    case 1 where outcome & 8 == 0 || demand.isMet(by: weak):
      pendingDemand = nil
      secure(weak)
      if !demand.isMet(by: weak) { fail() }
    case 1: secure(weak)
    default:
      pendingDemand = nil
      fail()
    }
  }

  private mutating func fail() {
    bearer.securityFailed(at: now)
    take()
  }

  private mutating func secure(_ security: HostLinkSecurity) {
    bearer.securityChanged(security, at: now)
    take()
  }

  /// Ends the link; the next one starts with the cache of this one.
  private mutating func reconnect() {
    let cache = bearer.cache
    precondition((cache?.count ?? 0) <= GATTCache.maximumCount, "too much is kept")
    bearer = Self.bearer(0, pool)
    if let cache { bearer.offer(cache) }
    (outstanding, owedConfirmations, open, pendingDemand) = (nil, 0, [], nil)
    bearer.start(at: now)
    take()
  }

  /// Checks the PDUs and events of the client against the requests.
  private mutating func take() {
    takeEvents()
    var steps = 0
    while let pdu = bearer.takePDU(at: now) {
      steps += 1
      precondition(steps < 200, "the client does not come to an end")
      let octets = pdu.encoded(in: pool)
      precondition(octets.count <= bearer.mtu, "\(octets) is longer than the MTU of \(bearer.mtu)")
      precondition((try? ATT.PDU.decode(octets)) != nil, "\(octets) can't be read")
      switch pdu.opcode.kind {
      case .request:
        precondition(outstanding == nil, "\(octets) is a second request")
        outstanding = pdu.opcode
      case .confirmation:
        precondition(owedConfirmations > 0, "a confirmation of nothing")
        owedConfirmations -= 1
      case .command, .response: break
      case .notification, .indication: preconditionFailure("a client does not send \(octets)")
      }
      takeEvents()
    }
    precondition(bearer.isClosed || outstanding == nil || bearer.deadline != nil, "a request without an end")
  }

  private mutating func takeEvents() {
    while let event = bearer.takeEvent() {
      switch event {
      case .completed(let token, _): precondition(open.remove(token) != nil, "\(token) completes that is not open")
      case .securityRequired(let demand): pendingDemand = demand
      default: break
      }
    }
  }

  /// Checks that a server without answers is disconnected, and that every request ends.
  mutating func finish() {
    // Each open request may first demand more security.
    for _ in 0..<44 where !bearer.isClosed {
      settle(2)
      pass(.seconds(30))
    }
    precondition(open.isEmpty, "\(open) do not end")
  }
}
