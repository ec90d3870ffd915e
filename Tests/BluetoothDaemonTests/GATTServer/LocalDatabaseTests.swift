import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Apps' services")
struct LocalDatabaseTests {
  let one: PeripheralSessionID
  let two: PeripheralSessionID
  let link = HCI.ConnectionHandle(rawValue: 0x40)
  var database = LocalDatabase()

  init() { (one, two) = peripheralSessions() }

  func service(_ id: UInt32, characteristic: UInt32) -> LocalServiceInfo {
    let definition = GATTCharacteristicDefinition(
      uuid: 0x2A37, properties: .notify, permissions: .readable, value: nil)
    return LocalServiceInfo(
      id: LocalAttributeID(number: id), uuid: 0x180D, isPrimary: true, includes: [],
      characteristics: [LocalCharacteristicInfo(id: LocalAttributeID(number: characteristic), definition: definition)])
  }

  @Test("6.16 Two sessions may use the same numbers")
  mutating func numbers() throws {
    database.add(service(1, characteristic: 2), of: one, at: .init(range: 10...13, values: [12]))
    database.add(service(1, characteristic: 2), of: two, at: .init(range: 20...23, values: [22]))
    let first = try #require(database.characteristic(LocalAttributeID(number: 2), of: one))
    let second = try #require(database.characteristic(LocalAttributeID(number: 2), of: two))
    #expect(database.characteristics[first].handle == 12)
    #expect(database.characteristics[second].handle == 22)
  }

  @Test("6.15 Removing a service leaves the handles of the others unchanged", .requirement("A034"))
  mutating func removes() throws {
    database.add(service(1, characteristic: 2), of: one, at: .init(range: 10...13, values: [12]))
    database.add(service(3, characteristic: 4), of: one, at: .init(range: 20...23, values: [22]))
    #expect(database.remove(10).map(\.handle) == [12])
    #expect(database.characteristic(at: 12) == nil)
    let left = try #require(database.characteristic(at: 22))
    #expect(database.characteristics[left].id == LocalAttributeID(number: 4))
    #expect(database.remove(10).isEmpty)
  }

  @Test("6.12 A client's subscription is reported once, and so is its end", .requirement("K049"))
  mutating func subscriptions() throws {
    database.add(service(1, characteristic: 2), of: one, at: .init(range: 10...13, values: [12]))
    let index = try #require(database.characteristic(at: 12))
    #expect(database.subscribe(link, to: index) == true)
    #expect(database.subscribe(link, to: index) == false)
    #expect(database.unsubscribe(link, from: index) == true)
    #expect(database.unsubscribe(link, from: index) == false)
  }

  @Test(
    "6.3 The system's services are refused in their 16-bit spelling",
    arguments: [
      0x1800, 0x1801, 0x1805, 0x180A, 0x180F, 0x1812, 0x181E,
    ] as [UInt16])
  func reserved(value: UInt16) {
    #expect(ReservedService.contains(BluetoothUUID(value)))
    let long = BluetoothUUID(high: UInt64(value) << 32 | 0x1000, low: 0x8000_0080_5F9B_34FB)
    #expect(long == BluetoothUUID(value))
    #expect(!ReservedService.contains(long))
  }

  @Test("6.3 Other services are accepted")
  func notReserved() {
    #expect(!ReservedService.contains(0x180D))
  }
}

@Suite("Pending requests to apps")
struct CentralRequestTableTests {
  let one: PeripheralSessionID
  let two: PeripheralSessionID
  let link = HCI.ConnectionHandle(rawValue: 0x40)
  let request = GATTServerRequest(number: 9)
  var table = CentralRequestTable()

  init() { (one, two) = peripheralSessions() }

  func pending(_ session: PeripheralSessionID, isShared: Bool = false) -> PendingCentralRequest {
    PendingCentralRequest(
      session: session, connection: link, request: request, isShared: isShared, procedure: .write, characteristic: nil,
      since: .zero)
  }

  @Test("6.8 A second answer is ignored, even if another request has taken the slot")
  mutating func once() {
    let id = table.add(pending(one))
    #expect(table.remove(id, of: one) != nil)
    #expect(table.remove(id, of: one) == nil)
    let next = table.add(pending(one))
    #expect(table.remove(id, of: one) == nil)
    #expect(table.remove(next, of: one) != nil)
  }

  @Test("A session can't answer another session's request")
  mutating func owner() {
    let id = table.add(pending(one))
    #expect(table.remove(id, of: two) == nil)
    #expect(table.remove(id, of: one) != nil)
  }

  @Test("6.9 An Execute Write for several sessions is answered when all have answered, with the first error")
  mutating func shared() throws {
    table.share(request, on: link, among: 2)
    let first = try unwrapped(table.remove(table.add(pending(one, isShared: true)), of: one))
    let second = try unwrapped(table.remove(table.add(pending(two, isShared: true)), of: two))
    #expect(table.answerShared(first, .invalidOffset) == nil)
    guard case .failure(.invalidOffset)? = table.answerShared(second, nil) else {
      Issue.record("the error is lost")
      return
    }
  }

  @Test("6.8 Requests of a disconnected link are void")
  mutating func linkEnds() {
    let id = table.add(pending(one))
    table.removeAll(on: link)
    #expect(table.remove(id, of: one) == nil)
  }
}

@Suite("Pending updates")
struct UpdateTableTests {
  let client = PeripheralRecorder()
  let sessions = LocalSessions()

  @Test("6.13 A value for several centrals costs one credit, which returns when the last copy has been sent")
  func oneCredit() {
    let session = PeripheralSession(client: client, in: sessions)
    var table = UpdateTable()
    while session.updateCredits.take() {}
    let call = table.add(session.id, session.updateCredits)
    table.addCopy(to: call)
    table.addCopy(to: call)
    #expect(table.finish(call, copies: 1) == nil)
    #expect(table.finish(call, copies: 1) == session.id)
    #expect(session.updateCredits.take())
  }

  @Test("6.13 A value without recipients returns its credit at once")
  func nobody() {
    let session = PeripheralSession(client: client, in: sessions)
    var table = UpdateTable()
    for _ in 0..<session.updateCredits.capacity { #expect(session.updateCredits.take()) }
    #expect(table.finish(table.add(session.id, session.updateCredits), copies: 0) == nil)
    #expect(session.updateCredits.take())
  }
}
