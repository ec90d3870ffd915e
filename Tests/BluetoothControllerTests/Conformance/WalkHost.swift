import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// A host that checks each packet from its controller against the commands that it has sent and the events before.
final class WalkHost {
  let device: ControllerHarness
  let isExtended: Bool
  /// The connections that the host knows, with the number of unacknowledged ACL packets and the peer.
  private(set) var links: [HCI.ConnectionHandle: (unacknowledged: Int, peer: UInt64, role: UInt8)] = [:]
  private var answers: [HCI.Opcode: Int] = [:]
  private let name: String

  init(_ number: Int, on air: PerfectAir, isExtended: Bool) {
    self.isExtended = isExtended
    name = "host \(number)"
    device = ControllerHarness(name, address: 0x1111_1111_1110 + UInt64(number), seed: UInt64(number))
    air.start(device)
    device.onPacket = { [unowned self] in check($0) }
    device.onEvent = { [unowned self] _, event in respond(to: event) }
  }

  var handles: [HCI.ConnectionHandle] { links.keys.sorted { $0.rawValue < $1.rawValue } }

  // MARK: What the host sends

  /// Sends a command, which must get exactly one answer.
  func send(_ opcode: HCI.Opcode, _ octets: [UInt8]) {
    let before = answers[opcode, default: 0]
    if opcode == .reset { links = [:] }
    device.controller.receive(.command(opcode: opcode, parameters: ByteSlice(octets)), at: device.now)
    device.air?.processOutput(of: device.number)
    let count = answers[opcode, default: 0] - before
    if count != 1 { report("\(opcode) \(octets) has \(count) answers") }
  }

  func send(_ command: HCI.Command) {
    guard case .command(let opcode, let parameters) = command.packet(in: device.pool) else { return }
    send(opcode, parameters.bytes)
  }

  /// Sends ACL data while there are free buffers.
  func sendData(_ count: Int, on handle: HCI.ConnectionHandle) {
    for _ in 0..<count where links.values.reduce(0, { $0 + $1.unacknowledged }) < 64 {
      guard links[handle] != nil else { return }
      links[handle]?.unacknowledged += 1
      device.send([1, 2, 3], on: handle)
    }
  }

  /// Resets the controller and enables all events.
  func restart() {
    send(.reset)
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.setEventMaskPage2(.authenticatedPayloadTimeoutExpired))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
  }

  private func respond(to event: HCI.Event) {
    switch event {
    case .leLongTermKeyRequest(let handle, _, _):
      send(.leLongTermKeyRequestReply(handle, longTermKey: testKey))
    case .leRemoteConnectionParameterRequest(let handle, let wanted):
      send(.leRemoteConnectionParameterRequestReply(handle, wanted, HCI.ConnectionEventLength()))
    default: break
    }
  }

  // MARK: What the controller sends

  private func report(_ problem: String) { Issue.record("\(name) at \(device.now): \(problem)") }

  private func check(_ packet: HCI.Packet) {
    switch packet {
    case .acl(let data): expectLink(data.handle, "ACL data")
    case .event(let code, let parameters):
      guard let event = try? HCI.Event(code: code, parameters: parameters) else { return report("event \(code)") }
      check(event)
    case .command: report("a command")
    }
  }

  private func check(_ event: HCI.Event) {
    switch event {
    case .commandComplete(let credits, let opcode, _), .commandStatus(_, let credits, let opcode):
      answers[opcode, default: 0] += 1
      if credits == 0 { report("no credit with \(opcode)") }
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete): connect(complete)
    case .disconnectionComplete(let status, let handle, _):
      if status == .success, links.removeValue(forKey: handle) == nil { report("\(handle) ends twice") }
    case .numberOfCompletedPackets(let packets):
      for element in packets { acknowledge(Int(element.count), of: element.handle) }
    default:
      if let handle = event.connection { expectLink(handle, "\(event)") }
    }
  }

  private func connect(_ complete: HCI.ConnectionComplete) {
    guard complete.status == .success else { return }
    if links[complete.handle] != nil { report("\(complete.handle) begins twice") }
    links[complete.handle] = (0, complete.peer.value, complete.role)
  }

  private func acknowledge(_ count: Int, of handle: HCI.ConnectionHandle) {
    guard let link = links[handle] else { return report("packets of \(handle), which is not connected") }
    if count > link.unacknowledged { report("\(count) packets of \(handle), which has \(link.unacknowledged)") }
    links[handle]?.unacknowledged -= count
  }

  private func expectLink(_ handle: HCI.ConnectionHandle, _ what: String) {
    if links[handle] == nil { report("\(what) of \(handle), which is not connected") }
  }
}

extension HCI.Event {
  /// The connection of an event; nil if there is none, or if the event begins or ends a connection.
  fileprivate var connection: HCI.ConnectionHandle? {
    switch self {
    case .encryptionChange(_, let handle, _), .readRemoteVersionInformationComplete(_, let handle, _),
      .encryptionKeyRefreshComplete(_, let handle), .encryptionChangeV2(_, let handle, _, _),
      .authenticatedPayloadTimeoutExpired(let handle), .leConnectionUpdateComplete(_, let handle, _),
      .leReadRemoteFeaturesComplete(_, let handle, _), .leLongTermKeyRequest(let handle, _, _),
      .leRemoteConnectionParameterRequest(let handle, _), .leDataLengthChange(let handle, _, _),
      .lePHYUpdateComplete(_, let handle, _, _), .leChannelSelectionAlgorithm(let handle, _),
      .leAdvertisingSetTerminated(.success, _, let handle, _),
      .lePeriodicAdvertisingSyncTransferReceived(_, let handle, _, _), .leRequestPeerSCAComplete(_, let handle, _):
      handle
    case .leAdvertisingSetTerminated, .disconnectionComplete, .commandComplete, .commandStatus, .hardwareError,
      .numberOfCompletedPackets, .dataBufferOverflow, .leConnectionComplete, .leAdvertisingReport,
      .leReadLocalP256PublicKeyComplete, .leGenerateDHKeyComplete, .leEnhancedConnectionComplete,
      .leDirectedAdvertisingReport, .leExtendedAdvertisingReport, .lePeriodicAdvertisingSyncEstablished,
      .lePeriodicAdvertisingReport, .lePeriodicAdvertisingSyncLost, .leScanTimeout, .leScanRequestReceived, .unknownLE,
      .unknown:
      nil
    }
  }
}
