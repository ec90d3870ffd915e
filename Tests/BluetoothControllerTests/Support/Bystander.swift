import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Another connection of a device that is attacked: its ends answer each other without a pause, and nothing that happens to the
/// device may keep them from it.
final class Bystander {
  private let air: TestAir
  private let attacked: TestDevice
  private let peer = TestDevice("bystander", address: 0x4444_4444_4444)
  private let interval: TimeSpan
  private var attackedHandle = HCI.ConnectionHandle(rawValue: 0)
  private var peerHandle = HCI.ConnectionHandle(rawValue: 0)

  private var messages: UInt16 = 0
  private var isInOrder = true
  private var lastMessage = Instant.zero
  private var longestSilence = TimeSpan.zero

  /// Connects `device` to a device of its own, and lets them exchange data.
  ///
  /// - Parameter isExtended: by the commands of extended advertising.
  init(of device: TestDevice, on air: TestAir, interval: UInt16 = 24, isExtended: Bool = false) throws {
    self.air = air
    attacked = device
    self.interval = ConnectionParameters.intervalUnit * Int64(interval)
    air.add(peer)
    peer.start()
    peer.advertise()
    if isExtended {
      device.connectExtended(to: peer, interval: interval, timeout: 400)
    } else {
      device.connect(to: peer, interval: interval, timeout: 400)
    }
    air.run(until: { !device.connectionCompletes.isEmpty && !peer.connectionCompletes.isEmpty })
    attackedHandle = try #require(device.connectionCompletes.first).handle
    peerHandle = try #require(peer.connectionCompletes.first).handle
    device.setAside(attackedHandle) { [unowned self] in take($0, from: peer, to: attacked, attackedHandle) }
    peer.setAside(peerHandle) { [unowned self] in take($0, from: attacked, to: peer, peerHandle) }
    attacked.send(message, on: attackedHandle)
    air.run(until: { messages >= 4 })
    #expect(messages >= 4)
    longestSilence = .zero
    device.clear()
    peer.clear()
  }

  private var message: [UInt8] {
    [0xB5, UInt8(truncatingIfNeeded: messages), UInt8(truncatingIfNeeded: messages >> 8)]
  }

  private func take(
    _ data: HCI.ACLData, from sender: TestDevice, to recipient: TestDevice, _ handle: HCI.ConnectionHandle
  ) {
    isInOrder = isInOrder && data.payload == ByteSlice(message)
    longestSilence = max(longestSilence, air.now - lastMessage)
    lastMessage = air.now
    messages &+= 1
    recipient.send(message, on: handle)
  }

  /// Whether nothing has been lost, late or wrong, and data still go both ways.
  func goesOn() -> Bool {
    let before = messages
    air.run(for: interval * 10)
    longestSilence = max(longestSilence, air.now - lastMessage)
    return messages &- before >= 8 && isInOrder && longestSilence <= interval * 6 && peer.disconnections.isEmpty
      && attacked.controller.index(of: attackedHandle) != nil
  }
}
