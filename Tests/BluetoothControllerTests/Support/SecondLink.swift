import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Another connection of a device under attack. Its peer reads an attribute again after each answer, and no attack may
/// interrupt this.
final class SecondLink {
  private let air: PerfectAir
  private let attacked: ControllerHarness
  private let peer: ControllerHarness
  private let interval: TimeSpan
  private let isExtended: Bool
  private var attackedHandle = HCI.ConnectionHandle(rawValue: 0)
  private var peerHandle = HCI.ConnectionHandle(rawValue: 0)

  /// The number of answered reads.
  private var reads: UInt16 = 0
  private var isRight = true
  private var lastRead = Instant.zero
  private var longestGap = TimeSpan.zero

  /// Connects `device` to a separate peer, which reads from it.
  ///
  /// - Parameter isExtended: True to use the commands of extended advertising.
  init(of device: ControllerHarness, on air: PerfectAir, interval: UInt16 = 24, isExtended: Bool = false) throws {
    self.air = air
    attacked = device
    self.interval = LinkParameters.intervalUnit * Int64(interval)
    self.isExtended = isExtended
    let peer = ControllerHarness("bystander \(device.number)", address: 0x4444_4444_4440 + UInt64(device.number))
    self.peer = peer
    air.start(peer)
    peer.advertise()
    if isExtended {
      device.connectExtended(to: peer, interval: interval, timeout: 400)
    } else {
      device.connect(to: peer, interval: interval, timeout: 400)
    }
    air.run(until: { !device.connectionCompletes.isEmpty && !peer.connectionCompletes.isEmpty })
    let connection = try #require(device.connectionCompletes.first)
    attackedHandle = connection.handle
    peerHandle = try #require(peer.connectionCompletes.first).handle
    device.serveAttributes(on: connection)
    peer.setAside(peerHandle) { [unowned self] in take($0) }
    read()
    air.run(until: { reads >= 2 })
    #expect(reads >= 2)
    longestGap = .zero
    device.clear()
    peer.clear()
  }

  private func read() { peer.send(AttributeServer.readRequest(AttributeServer.countHandle), on: peerHandle) }

  private func take(_ data: HCI.ACLData) {
    isRight = isRight && data.payload == ByteSlice(AttributeServer.readResponse(AttributeServer.octets(reads)))
    noteGap()
    lastRead = air.now
    reads &+= 1
    read()
  }

  private func noteGap() { longestGap = max(longestGap, air.now - lastRead) }

  /// Ignores the gap up to now, which the device's own host caused.
  func excuseGap() { (lastRead, longestGap) = (air.now, .zero) }

  /// Returns true if each read was answered in time, once and correctly, and the next reads are too.
  func goesOn() -> Bool {
    let before = reads
    air.run(for: interval * 10)
    noteGap()
    return reads &- before >= 4 && isRight && longestGap <= interval * 6 && peer.disconnections.isEmpty
      && attacked.controller.connections.index(of: attackedHandle) != nil
  }

  /// Returns true if the device is unharmed after an attack: it serves a newcomer, and this connection continues.
  func isUnharmed() -> Bool {
    // Both checks run, whatever the result of the first one.
    let isServing = attacked.servesLateJoiner(isExtended: isExtended)
    return goesOn() && isServing
  }
}
