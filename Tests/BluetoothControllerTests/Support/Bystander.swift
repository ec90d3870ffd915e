import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Another connection of a device that is attacked: its peer reads an attribute again as soon as it has been answered, and
/// nothing that happens to the device may keep either from it.
final class Bystander {
  private let air: TestAir
  private let attacked: TestDevice
  private let peer: TestDevice
  private let interval: TimeSpan
  private let isExtended: Bool
  private var attackedHandle = HCI.ConnectionHandle(rawValue: 0)
  private var peerHandle = HCI.ConnectionHandle(rawValue: 0)

  /// How often the peer has been answered.
  private var reads: UInt16 = 0
  private var isRight = true
  private var lastRead = Instant.zero
  private var longestSilence = TimeSpan.zero

  /// Connects `device` to a device of its own, which reads from it.
  ///
  /// - Parameter isExtended: by the commands of extended advertising.
  init(of device: TestDevice, on air: TestAir, interval: UInt16 = 24, isExtended: Bool = false) throws {
    self.air = air
    attacked = device
    self.interval = ConnectionParameters.intervalUnit * Int64(interval)
    self.isExtended = isExtended
    let peer = TestDevice("bystander \(device.number)", address: 0x4444_4444_4440 + UInt64(device.number))
    self.peer = peer
    air.add(peer)
    peer.start()
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
    longestSilence = .zero
    device.clear()
    peer.clear()
  }

  private func read() { peer.send(AttributeServer.readRequest(AttributeServer.countHandle), on: peerHandle) }

  private func take(_ data: HCI.ACLData) {
    isRight = isRight && data.payload == ByteSlice(AttributeServer.readResponse(AttributeServer.octets(reads)))
    noteSilence()
    lastRead = air.now
    reads &+= 1
    read()
  }

  private func noteSilence() { longestSilence = max(longestSilence, air.now - lastRead) }

  /// That the peer has had to wait until now counts for nothing: the device's own host was the reason.
  func excuseSilence() { (lastRead, longestSilence) = (air.now, .zero) }

  /// Whether each read has been answered in time, once and rightly, and those that follow are.
  func goesOn() -> Bool {
    let before = reads
    air.run(for: interval * 10)
    noteSilence()
    return reads &- before >= 4 && isRight && longestSilence <= interval * 6 && peer.disconnections.isEmpty
      && attacked.controller.index(of: attackedHandle) != nil
  }

  /// What has to be true after every attack: the device serves somebody who comes anew, and this connection goes on.
  func isUnharmed() -> Bool {
    // Both, whatever the first says.
    let isServing = attacked.servesNewcomer(isExtended: isExtended)
    return goesOn() && isServing
  }
}
