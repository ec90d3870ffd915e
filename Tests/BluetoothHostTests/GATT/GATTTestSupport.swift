import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

/// The octets of `text`, which the test writes in hexadecimal.
func hex(_ text: String) -> ByteSlice { ByteSlice([UInt8](hexadecimal: text) ?? []) }

/// `count` octets that differ from their neighbours.
func pattern(_ count: Int) -> ByteSlice { ByteSlice((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }) }

/// Both, one behind the other.
func + (left: ByteSlice, right: ByteSlice) -> ByteSlice { ByteSlice(left.bytes + right.bytes) }

extension BluetoothUUID {
  /// 6E400001-B5A3-F393-E0A9-E50E24DCCA9E with another number in place of the 1.
  static func custom(_ number: UInt64) -> BluetoothUUID {
    BluetoothUUID(high: 0x6E40_0000_B5A3_F393 | number << 32, low: 0xE0A9_E50E_24DC_CA9E)
  }
}

extension GATTDatabase {
  static func named(_ name: String = "Sensor") -> GATTDatabase { GATTDatabase(deviceName: name, appearance: 0x0341) }

  /// A database with one more service, from handle 20 on, that holds these characteristics.
  static func with(_ characteristics: GATTCharacteristicDefinition...) -> GATTDatabase {
    var database = named()
    _ = try? database.add(
      GATTServiceDefinition(uuid: 0x180D, isPrimary: true, includes: [], characteristics: characteristics))
    return database
  }
}

extension GATTCharacteristicDefinition {
  static func stored(_ value: ByteSlice) -> GATTCharacteristicDefinition { stored(0x2A38, value) }

  static func stored(_ uuid: BluetoothUUID, _ value: ByteSlice) -> GATTCharacteristicDefinition {
    GATTCharacteristicDefinition(uuid: uuid, properties: .read, permissions: .readable, value: value)
  }

  /// A value that whoever stands above the host has.
  static func dynamic(_ properties: GATTProperties) -> GATTCharacteristicDefinition { dynamic(0x2A39, properties) }

  static func dynamic(
    _ uuid: BluetoothUUID, _ properties: GATTProperties,
    _ permissions: GATTPermissions = [.readable, .writeable]
  ) -> GATTCharacteristicDefinition {
    GATTCharacteristicDefinition(uuid: uuid, properties: properties, permissions: permissions, value: nil)
  }
}

/// One bearer whose peer is the test: PDUs in hexadecimal in, PDUs and events out.
struct Scripted {
  var bearer: GATTBearer
  var database: GATTDatabase
  var now = Instant.zero
  var events: [GATTEvent] = []

  init(_ role: Link.Role = .peripheral, _ database: GATTDatabase = .named(), maximumMTU: Int = 517) {
    bearer = GATTBearer(role: role, maximumMTU: maximumMTU, pool: PacketPool())
    self.database = database
  }

  /// What the bearer sends after it has received `text`.
  mutating func send(_ text: String) -> [ByteSlice] { send(hex(text)) }

  mutating func send(_ octets: ByteSlice) -> [ByteSlice] {
    bearer.receive(octets, database: &database, at: now)
    return take()
  }

  /// The link does not become as secure as the client wanted; the result is what that was, nil: nothing.
  mutating func refuseSecurity() -> SecurityDemand? {
    guard case .securityWanted(let demand)? = events.last else { return nil }
    bearer.securityFailed(at: now)
    _ = take()
    return demand
  }

  /// What the bearer has to send; collects events.
  mutating func take() -> [ByteSlice] {
    var sent: [ByteSlice] = []
    let pool = PacketPool()
    while let pdu = bearer.takePDU(at: now) { sent.append(pdu.encoded(in: pool)) }
    while let event = bearer.takeEvent() { events.append(event) }
    return sent
  }

  /// The events since the last call.
  mutating func takeEvents() -> [GATTEvent] {
    defer { events = [] }
    _ = take()
    return events
  }

  mutating func request(_ request: GATTRequest, token: GATTToken = 1) -> [ByteSlice] {
    bearer.request(request, token: token, at: now)
    return take()
  }

  mutating func respond(
    _ request: GATTServerRequest, _ result: Result<ByteSlice, ATT.ErrorCode> = .success(ByteSlice())
  ) -> [ByteSlice] {
    bearer.respond(to: request, with: result, database: &database, at: now)
    return take()
  }

  mutating func pass(_ time: TimeSpan) {
    now += time
    bearer.timeReached(now)
  }

  /// The request that the last event asks about.
  var lastRequest: GATTServerRequest? {
    switch events.last {
    case .readRequested(let request, _, _): return request
    case .writeRequested(let request, _): return request
    default: return nil
    }
  }
}

/// A central and a peripheral, joined back to back; the peripheral's dynamic values are in `values`.
struct GATTPair {
  var central: GATTBearer
  var peripheral: GATTBearer
  var centralDatabase = GATTDatabase.named("Phone")
  var database: GATTDatabase
  var now = Instant.zero
  var values: [AttributeHandle: ByteSlice] = [:]
  /// All events but those that the pair itself answers.
  var centralEvents: [GATTEvent] = []
  var peripheralEvents: [GATTEvent] = []
  /// Opcodes of the PDUs that the central sent.
  var sent: [ATT.Opcode] = []
  private var nextToken: GATTToken = 100

  init(_ database: GATTDatabase, maximumMTU: Int = 517, cache: GATTCache? = nil) {
    let pool = PacketPool()
    central = GATTBearer(role: .central, maximumMTU: maximumMTU, pool: pool)
    peripheral = GATTBearer(role: .peripheral, maximumMTU: 517, pool: pool)
    self.database = database
    if let cache { central.offer(cache) }
    central.start(at: now)
    peripheral.start(at: now)
    run()
  }

  /// Lets the link be quiet for a while.
  mutating func pass(_ time: TimeSpan) {
    now += time
    central.timeReached(now)
    peripheral.timeReached(now)
    run()
  }

  /// Carries PDUs both ways until there are no more.
  mutating func run() {
    let pool = PacketPool()
    var isActive = true
    while isActive {
      isActive = false
      if let pdu = central.takePDU(at: now) {
        isActive = true
        sent.append(pdu.opcode)
        peripheral.receive(pdu.encoded(in: pool), database: &database, at: now)
      }
      answer()
      if let pdu = peripheral.takePDU(at: now) {
        isActive = true
        central.receive(pdu.encoded(in: pool), database: &centralDatabase, at: now)
      }
      while let event = central.takeEvent() { centralEvents.append(event) }
    }
  }

  private mutating func answer() {
    while let event = peripheral.takeEvent() {
      switch event {
      case .readRequested(let request, let handle, let offset):
        let value = values[handle] ?? ByteSlice()
        let result: Result<ByteSlice, ATT.ErrorCode> =
          offset <= value.count ? .success(value.dropFirst(offset)) : .failure(.invalidOffset)
        peripheral.respond(to: request, with: result, database: &database, at: now)
      case .writeRequested(let request, let parts):
        for part in parts {
          var octets = part.offset == 0 ? [] : values[part.handle]?.bytes ?? []
          octets.replaceSubrange(part.offset..<octets.count, with: part.value.bytes)
          values[part.handle] = ByteSlice(octets)
        }
        guard let request else { break }
        peripheral.respond(to: request, with: .success(ByteSlice()), database: &database, at: now)
      default: peripheralEvents.append(event)
      }
    }
  }

  /// What a request that has to succeed gives.
  mutating func get(_ request: GATTRequest) throws -> GATTResponse {
    let result = perform(request)
    return try #require(result).get()
  }

  /// The result of `request`, after all that it needs has gone both ways.
  mutating func perform(_ request: GATTRequest) -> Result<GATTResponse, GATTError>? {
    nextToken += 1
    central.request(request, token: nextToken, at: now)
    run()
    for event in centralEvents {
      if case .completed(nextToken, let result) = event { return result }
    }
    return nil
  }
}
