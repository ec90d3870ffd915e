import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

/// Returns the octets of `text`, written in hexadecimal.
func hex(_ text: String) -> ByteSlice { ByteSlice([UInt8](hexadecimal: text) ?? []) }

/// Returns `count` octets, each different from its neighbours.
func pattern(_ count: Int) -> ByteSlice { ByteSlice((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }) }

/// Concatenates two slices.
func + (left: ByteSlice, right: ByteSlice) -> ByteSlice { ByteSlice(left.bytes + right.bytes) }

extension BluetoothUUID {
  /// Returns 6E400001-B5A3-F393-E0A9-E50E24DCCA9E with `number` in place of the 1.
  static func custom(_ number: UInt64) -> BluetoothUUID {
    BluetoothUUID(high: 0x6E40_0000_B5A3_F393 | number << 32, low: 0xE0A9_E50E_24DC_CA9E)
  }
}

extension GATTDatabase {
  static func named(_ name: String = "Sensor") -> GATTDatabase { GATTDatabase(deviceName: name, appearance: 0x0341) }

  /// Returns a database with one additional service, from handle 20 on, that has these characteristics.
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

  /// Returns a characteristic whose value the upper layer of the host holds.
  static func dynamic(_ properties: CharacteristicProperties) -> GATTCharacteristicDefinition {
    dynamic(0x2A39, properties)
  }

  static func dynamic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties,
    _ permissions: AttributePermissions = [.readable, .writeable]
  ) -> GATTCharacteristicDefinition {
    GATTCharacteristicDefinition(uuid: uuid, properties: properties, permissions: permissions, value: nil)
  }
}

/// A bearer whose peer is the test. It receives PDUs in hexadecimal and returns PDUs and events.
struct BearerHarness {
  var bearer: GATTBearer
  var database: GATTDatabase
  var now = Instant.zero
  var events: [GATTEvent] = []

  init(_ role: Link.Role = .peripheral, _ database: GATTDatabase = .named(), maximumMTU: Int = 517) {
    bearer = GATTBearer(role: role, maximumMTU: maximumMTU, pool: PacketPool())
    self.database = database
  }

  /// Passes `text` to the bearer. Returns the PDUs that the bearer sends.
  mutating func send(_ text: String) -> [ByteSlice] { send(hex(text)) }

  mutating func send(_ octets: ByteSlice) -> [ByteSlice] {
    bearer.receive(octets, database: &database, at: now)
    return take()
  }

  /// Reports that the link can't get the security that the client demanded. Returns the demand; nil: there was none.
  mutating func refuseSecurity() -> SecurityDemand? {
    guard case .securityRequired(let demand)? = events.last else { return nil }
    bearer.securityFailed(at: now)
    _ = take()
    return demand
  }

  /// Returns the PDUs that the bearer sends, and collects its events.
  mutating func take() -> [ByteSlice] {
    var sent: [ByteSlice] = []
    let pool = PacketPool()
    while let pdu = bearer.takePDU(at: now) { sent.append(pdu.encoded(in: pool)) }
    while let event = bearer.takeEvent() { events.append(event) }
    return sent
  }

  /// Returns the events since the last call.
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

  /// The request in the last event.
  var lastRequest: GATTServerRequest? {
    switch events.last {
    case .readRequested(let request, _, _): return request
    case .writeRequested(let request, _): return request
    default: return nil
    }
  }
}

/// A central and a peripheral, connected back to back; the peripheral's dynamic values are in `values`.
struct GATTPair {
  var central: GATTBearer
  var peripheral: GATTBearer
  var centralDatabase = GATTDatabase.named("Phone")
  var database: GATTDatabase
  var now = Instant.zero
  var values: [AttributeHandle: ByteSlice] = [:]
  /// The central's events, without those that the pair itself answers.
  var centralEvents: [GATTEvent] = []
  var peripheralEvents: [GATTEvent] = []
  /// The opcodes of the PDUs that the central has sent.
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

  /// Keeps the link quiet for `time`.
  mutating func pass(_ time: TimeSpan) {
    now += time
    central.timeReached(now)
    peripheral.timeReached(now)
    run()
  }

  /// Relays PDUs in both directions until there are none.
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

  /// Performs a request that must succeed. Returns the response.
  mutating func get(_ request: GATTRequest) throws -> GATTResponse {
    let result = perform(request)
    return try #require(result).get()
  }

  /// Performs `request` with all the PDUs that it needs. Returns its result.
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
