import BluetoothWire
import Testing

@testable import BluetoothController
@testable import BluetoothHost

/// What a device's host serves on one connection: the L2CAP and the ATT that a host has, on a database of the host's own
/// services and one more with a value that says how often it was read.
struct AttributeServer {
  /// What Device Name is: as long as fits a Read Response with the smallest ATT_MTU.
  static let deviceName = "a device under attack!"
  /// GAP's service, then Device Name's declaration: its value has the third handle.
  static let deviceNameHandle: UInt8 = 3
  /// Behind the nineteen attributes of every database there are the declarations of a service and of a characteristic.
  static let countHandle: UInt8 = 22

  private let pool = PacketPool()
  private var database = GATTDatabase(deviceName: Self.deviceName, appearance: 0)
  private var bearer: GATTBearer
  private var reassembler = FrameReassembler()
  private var reads: UInt16 = 0

  init(role: Link.Role) {
    bearer = GATTBearer(role: role, maximumMTU: ATT.defaultMTU, pool: pool)
    let count = GATTCharacteristicDefinition(uuid: 0x2A39, properties: .read, permissions: .readable, value: nil)
    let service = GATTServiceDefinition(uuid: 0x180D, isPrimary: true, includes: [], characteristics: [count])
    do throws(GATTDatabaseError) {
      #expect(try database.add(service).values == [AttributeHandle(Self.countHandle)])
    } catch {
      Issue.record("\(error)")
    }
  }

  /// Takes in what has come; returns the frames that are to be sent.
  mutating func receive(_ data: HCI.ACLData, at now: Instant) -> [ByteSlice] {
    guard let frame = reassembler.receive(data, pool: pool), frame.channel == .attribute else { return [] }
    bearer.receive(frame.payload, database: &database, at: now)
    while let event = bearer.takeEvent() {
      guard case .readRequested(let request, _, _) = event else { continue }
      let value = ByteSlice(Self.octets(reads))
      reads &+= 1
      bearer.respond(to: request, with: .success(value), database: &database, at: now)
    }
    var frames: [ByteSlice] = []
    while let pdu = bearer.takePDU(at: now) {
      var writer = ByteWriter(pool)
      pdu.encode(into: &writer)
      frames.append(writer.finishFrame(on: .attribute))
    }
    return frames
  }

  // MARK: The client's side, in octets

  /// An ATT Read Request in its L2CAP frame.
  static func readRequest(_ handle: UInt8) -> [UInt8] { [3, 0, 4, 0, 0x0A, handle, 0] }

  /// The ATT Read Response with this value in its L2CAP frame.
  static func readResponse(_ value: [UInt8]) -> [UInt8] { [UInt8(value.count + 1), 0, 4, 0, 0x0B] + value }

  /// The value at `countHandle` when it was read so often before.
  static func octets(_ count: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
  }
}

extension TestDevice {
  /// Has the device's host serve its attributes on this connection, which is then no matter of the test's.
  func serveAttributes(on connection: HCI.ConnectionComplete) {
    var server = AttributeServer(role: Link.Role(rawValue: connection.role) ?? .peripheral)
    setAside(connection.handle) { [unowned self] data in
      for frame in server.receive(data, at: now) { send(frame.bytes, on: connection.handle) }
    }
  }
}
