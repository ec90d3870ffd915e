import BluetoothWire
import Testing

@testable import BluetoothController
@testable import BluetoothHost

/// The attribute server of a device's host on one connection: the host's L2CAP and ATT with a database of the host's
/// own services and a service whose value counts its reads.
struct AttributeServer {
  /// The value of Device Name, which just fits a Read Response with the smallest ATT_MTU.
  static let deviceName = "a device under attack!"
  /// The handle of Device Name's value, after the GAP service and the characteristic declaration.
  static let deviceNameHandle: UInt8 = 3
  /// The handle of the count, after the nineteen attributes of every database and the declarations of a service and a
  /// characteristic.
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

  /// Processes received data and returns the frames to be sent.
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

  // MARK: The client's side, as octets

  /// Returns an ATT Read Request in its L2CAP frame.
  static func readRequest(_ handle: UInt8) -> [UInt8] { [3, 0, 4, 0, 0x0A, handle, 0] }

  /// Returns the ATT Read Response with this value in its L2CAP frame.
  static func readResponse(_ value: [UInt8]) -> [UInt8] { [UInt8(value.count + 1), 0, 4, 0, 0x0B] + value }

  /// Returns the value at `countHandle` after `count` reads.
  static func octets(_ count: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
  }
}

extension ControllerHarness {
  /// Serves attributes on this connection, and hides its data from the test.
  func serveAttributes(on connection: HCI.ConnectionComplete) {
    var server = AttributeServer(role: Link.Role(rawValue: connection.role) ?? .peripheral)
    setAside(connection.handle) { [unowned self] data in
      for frame in server.receive(data, at: now) { send(frame.bytes, on: connection.handle) }
    }
  }
}
