import BluetoothHost
import BluetoothWire

/// Fuzzes a client's PDUs and the upper layer's actions against a server with a database of all kinds of attributes.
///
/// Octet 0 selects the link's security and the MTU. Each step that follows is an octet for the action, one for a
/// length, and that number of octets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzATTServer(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = UnsafeBufferPointer(start: start, count: count)[...]
  guard let mode = input.popFirst() else { return 0 }
  var server = Server(mode: mode)
  while let kind = input.popFirst(), let length = input.popFirst(), !server.isClosed {
    let octets = ByteSlice(input.prefix(Int(length)))
    input = input.dropFirst(Int(length))
    server.step(kind, octets)
  }
  server.finish()
  return 0
}

/// One bearer with its database, and the record of requests and answers.
private struct Server {
  private static let secret: [UInt8] = [0xC0, 0xFF, 0xEE, 0x15, 0x5E, 0xC2, 0xE7, 0x99]
  private let pool = PacketPool()
  private var bearer: GATTBearer
  private var database = GATTDatabase(deviceName: "fuzz", appearance: 0x0341)
  private var now = Instant.zero
  /// The opcodes of the unanswered requests.
  private var open: [UInt8] = []
  private var asked: [GATTServerRequest] = []
  private var isIndicated = false
  /// True if the link has ever had the security that the secret needs.
  private var wasSecure = false
  private var services: [AttributeHandle] = []

  init(mode: UInt8) {
    bearer = GATTBearer(role: .peripheral, maximumMTU: mode & 0x10 == 0 ? 517 : 64, pool: pool)
    for definition in Self.definitions { add(definition) }
    secure(mode)
    if mode & 0x20 != 0 { receive([0x12, 0x0F, 0x00, 0x01]) }
    if mode & 0x40 != 0 { receive([0x02, 0x05, 0x02]) }
  }

  var isClosed: Bool { bearer.isClosed }

  mutating func step(_ kind: UInt8, _ octets: ByteSlice) {
    switch kind & 0x0F {
    case 0...8: receive(octets)
    case 9: answer(octets.isEmpty ? .failure(.unlikelyError) : .success(octets))
    case 10: bearer.update(octets.isEmpty ? 22 : UInt16(octets[0]), with: octets, at: now)
    case 11: secure(kind >> 4)
    case 12: add(Self.definitions[Int(kind >> 4) % Self.definitions.count])
    case 13: remove(Int(kind >> 4))
    case 14: reconnect()
    default:
      now += .seconds(Int64(kind >> 4))
      bearer.timeReached(now)
    }
    take()
  }

  private mutating func receive(_ octets: ByteSlice) {
    if !octets.isEmpty, ATT.Opcode(rawValue: octets[0]).map({ $0.kind == .request }) ?? !ATT.Opcode.isCommand(octets[0])
    {
      open.append(octets[0])
    }
    if octets == [0x1E] { isIndicated = false }
    bearer.receive(octets, database: &database, at: now)
    take()
  }

  private mutating func answer(_ result: Result<ByteSlice, ATT.ErrorCode>) {
    guard let request = asked.first else { return }
    bearer.respond(to: request, with: result, database: &database, at: now)
    asked.removeFirst()
    take()
  }

  private mutating func secure(_ bits: UInt8) {
    let level = HostLinkSecurity.Level(rawValue: bits & 3) ?? .none
    let security = HostLinkSecurity(
      level: level, keySize: level == .none ? 0 : bits & 4 == 0 ? 16 : 7, hasKey: bits & 8 != 0, isBonded: bits & 8 != 0
    )
    bearer.securityChanged(security, at: now)
    wasSecure = wasSecure || level > .none
  }

  private mutating func add(_ definition: GATTServiceDefinition) {
    var definition = definition
    definition.includes = services.suffix(2)
    guard services.count < 40, let placement = try? database.add(definition) else { return }
    services.append(placement.range.lowerBound)
    bearer.databaseChanged(placement.range, in: database, at: now)
  }

  private mutating func remove(_ place: Int) {
    guard place < services.count, let range = database.remove(declaration: services[place]) else { return }
    services.remove(at: place)
    bearer.databaseChanged(range, in: database, at: now)
  }

  /// Ends the link and reconnects the same client.
  private mutating func reconnect() {
    let record = bearer.clientRecord(&database)
    let security = bearer.security
    bearer = GATTBearer(role: .peripheral, maximumMTU: 517, pool: pool)
    (open, asked, isIndicated) = ([], [], false)
    bearer.securityChanged(security, at: now)
    bearer.restore(record, database: &database)
  }

  /// Checks the PDUs of the server against the requests.
  private mutating func take() {
    while let event = bearer.takeEvent() {
      switch event {
      case .readRequested(let request, _, _), .writeRequested(let request?, _): asked.append(request)
      default: break
      }
    }
    precondition(asked.count <= 1, "the service above is asked for several things at once")
    while let pdu = bearer.takePDU(at: now) {
      let octets = pdu.encoded(in: pool)
      precondition(octets.count <= bearer.mtu, "\(octets) is longer than the MTU of \(bearer.mtu)")
      precondition((try? ATT.PDU.decode(octets)) != nil, "\(octets) can't be read")
      precondition(wasSecure || !contains(octets, Self.secret.prefix(4)), "\(octets) gives the secret away")
      switch pdu {
      case .errorResponse(let request, _, _):
        precondition(open.first == request, "\(octets) answers nothing")
        open.removeFirst()
      case .handleValueIndication:
        precondition(!isIndicated, "two indications at once")
        isIndicated = true
      case .handleValueConfirmation, .handleValueNotification: break
      default:
        let request = open.first.flatMap { ATT.Opcode(rawValue: $0) }
        precondition(request?.response == pdu.opcode, "\(octets) answers nothing")
        open.removeFirst()
      }
      // Sending a PDU can complete an update.
      while bearer.takeEvent() != nil {}
    }
  }

  private func contains(_ octets: ByteSlice, _ part: ArraySlice<UInt8>) -> Bool {
    guard octets.count >= part.count else { return false }
    return (0...octets.count - part.count).contains { octets[$0..<$0 + part.count].bytes == Array(part) }
  }

  /// Checks that every request is answered in the end, and that a plain read works: for this client if its bearer is
  /// open, and for another one.
  mutating func finish() {
    while !asked.isEmpty, !isClosed { answer(.success([1])) }
    if !isClosed {
      precondition(open.isEmpty, "\(open) are not answered")
      bearer.receive([0x0A, 0x05, 0x00], database: &database, at: now)
      if read() == [0x01, 0x0A, 0x05, 0x00, 0x12] {
        bearer.receive([0x0A, 0x05, 0x00], database: &database, at: now)
        precondition(read() == [0x0B, 0x41, 0x03], "a read is not answered")
      }
    }
    bearer = GATTBearer(role: .peripheral, maximumMTU: 517, pool: pool)
    bearer.receive([0x0A, 0x05, 0x00], database: &database, at: now)
    precondition(read() == [0x0B, 0x41, 0x03], "another client is not served")
    _ = bearer.clientRecord(&database)
  }

  /// Returns the next response.
  private mutating func read() -> ByteSlice? {
    while let pdu = bearer.takePDU(at: now) {
      if pdu.opcode.kind == .response { return pdu.encoded(in: pool) }
    }
    return nil
  }

  // MARK: The database

  private static let definitions: [GATTServiceDefinition] = [
    service(
      0x180D,
      [
        characteristic(0x2A37, [.read, .write, .writeWithoutResponse, .notify, .indicate], nil),
        characteristic(0x2A38, [.read, .write, .broadcast], [1, 2, 3, 4], extended: .reliableWrite),
        characteristic(
          0x2A39, [.read, .notify, .indicate, .broadcast], ByteSlice(secret), permissions: .readEncryptionRequired),
      ]),
    service(
      0x181A,
      [
        characteristic(
          0x2A6E, [.read, .write, .authenticatedSignedWrites], [1, 2], lengths: 2...2, extended: .writableAuxiliaries,
          descriptors: [
            GATTDescriptorDefinition(
              uuid: 0x2901, content: .stored([0x41]), permissions: [.readable, .writeable], lengths: 0...30),
            GATTDescriptorDefinition(uuid: 0x2904, value: [4, 0, 0, 0x27, 1, 0, 0]),
            GATTDescriptorDefinition(
              uuid: 0x2905, content: .formats([GATTDescriptorPath(characteristic: 0, descriptor: 1)])),
            GATTDescriptorDefinition(uuid: 0x2906, content: .dynamic, permissions: [.readable, .writeable]),
          ]),
        characteristic(
          BluetoothUUID(high: 0x6E40_0002_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E), [.read, .write],
          ByteSlice([UInt8](repeating: 7, count: 512))),
      ]),
    service(BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E), []),
  ]

  private static func service(
    _ uuid: BluetoothUUID, _ characteristics: [GATTCharacteristicDefinition]
  ) -> GATTServiceDefinition {
    GATTServiceDefinition(uuid: uuid, isPrimary: true, includes: [], characteristics: characteristics)
  }

  private static func characteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ value: ByteSlice?,
    permissions: AttributePermissions = [.readable, .writeable], lengths: ClosedRange<Int> = 0...512,
    extended: GATTExtendedProperties = [], descriptors: [GATTDescriptorDefinition] = []
  ) -> GATTCharacteristicDefinition {
    GATTCharacteristicDefinition(
      uuid: uuid, properties: properties, extendedProperties: extended, permissions: permissions, value: value,
      lengths: lengths, descriptors: descriptors)
  }
}
