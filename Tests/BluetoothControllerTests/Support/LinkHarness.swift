import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// A connected central and peripheral.
final class LinkHarness {
  let air = PerfectAir()
  let central: ControllerHarness
  let peripheral: ControllerHarness
  private(set) var centralHandle = HCI.ConnectionHandle(rawValue: 0)
  private(set) var peripheralHandle = HCI.ConnectionHandle(rawValue: 0)
  /// The access address of this link.
  private(set) var accessAddress: UInt32 = 0
  /// The other connections of the devices under attack.
  private var secondLinks: [SecondLink] = []

  struct Sides: OptionSet {
    let rawValue: UInt8
    static let central = Sides(rawValue: 1)
    static let peripheral = Sides(rawValue: 2)
  }

  /// Connects the devices. `isExtended` uses the commands of extended advertising, so both devices may continue to use
  /// them. Each device in `attacked` gets another connection, which must survive whatever happens to this one.
  init(
    interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200, isExtended: Bool = false,
    attacked: Sides = [],
    central changeCentral: (inout ControllerConfiguration) -> Void = { _ in },
    peripheral changePeripheral: (inout ControllerConfiguration) -> Void = { _ in },
    prepare: (ControllerHarness, ControllerHarness) -> Void = { _, _ in }
  ) throws {
    central = ControllerHarness("central", address: 0x1111_1111_1111, changeCentral)
    peripheral = ControllerHarness("peripheral", address: 0x2222_2222_2222, changePeripheral)
    air.start(central, peripheral)
    prepare(central, peripheral)
    try connect(interval: interval, latency: latency, timeout: timeout, isExtended: isExtended)
    if attacked.contains(.central) {
      secondLinks.append(try SecondLink(of: central, on: air, isExtended: isExtended))
    }
    if attacked.contains(.peripheral) {
      secondLinks.append(try SecondLink(of: peripheral, on: air, isExtended: isExtended))
    }
  }

  private func connect(interval: UInt16, latency: UInt16, timeout: UInt16, isExtended: Bool) throws {
    if isExtended {
      peripheral.send(.leSetExtendedAdvertisingParameters(.every100ms(0, .connectable)))
      peripheral.enable(0)
      central.connectExtended(to: peripheral, interval: interval, timeout: timeout)
    } else {
      peripheral.advertise()
      central.connect(to: peripheral, interval: interval, latency: latency, timeout: timeout)
    }
    air.run(until: { [central, peripheral] in
      !central.connectionCompletes.isEmpty && !peripheral.connectionCompletes.isEmpty
    })
    centralHandle = try #require(central.connectionCompletes.first).handle
    peripheralHandle = try #require(peripheral.connectionCompletes.first).handle
    central.clear()
    peripheral.clear()
    accessAddress = try #require(central.controller.connections.first { $0.handle == centralHandle }).accessAddress
  }

  /// Ends the connection if it still exists, and makes another.
  func connectAnew(timeout: UInt16) throws {
    central.send(.disconnect(centralHandle, reason: .remoteUserTerminatedConnection))
    air.run(until: { [self] in
      central.controller.connections.index(of: centralHandle) == nil
        && peripheral.controller.connections.index(of: peripheralHandle) == nil
    })
    central.clear()
    peripheral.clear()
    try connect(interval: 24, latency: 0, timeout: timeout, isExtended: false)
  }

  /// Returns true if the devices under attack are unharmed: their other connections continue, they accept newcomers,
  /// and they serve attributes to all peers.
  func secondLinksWork() -> Bool { secondLinks.allSatisfy { $0.isUnharmed() } }

  /// Runs for `count` connection events.
  func runEvents(_ count: Int64, interval: TimeSpan = .milliseconds(30)) { air.run(for: interval * count) }
}

extension LinkHarness {
  /// Sends `payload` from the central as an LL Control PDU that its link layer does not know, and returns the answers
  /// of the peripheral's link layer in the next events.
  func injectFromCentral(_ payload: [UInt8], events: Int64 = 3) -> [ByteSlice] {
    inject(payload, from: central, centralHandle, events: events)
  }

  func injectFromPeripheral(_ payload: [UInt8], events: Int64 = 3) -> [ByteSlice] {
    inject(payload, from: peripheral, peripheralHandle, events: events)
  }

  private func inject(
    _ payload: [UInt8], from device: ControllerHarness, _ handle: HCI.ConnectionHandle, events: Int64
  ) -> [ByteSlice] {
    let octets = ByteSlice(payload)
    air.outcome = { transmission in
      if transmission.device == device.number, transmission.dataHeader?.llid == .start,
        transmission.packet.payload == octets
      {
        transmission.packet.header |= 0b11
      }
      return .arrives
    }
    air.clearLog()
    device.send(payload, on: handle)
    runEvents(events)
    air.outcome = { _ in .arrives }
    var answers: [ByteSlice] = []
    var last: Bool?
    for sent in air.log
    where sent.device != device.number && sent.packet.accessAddress == accessAddress
      && sent.dataHeader?.llid == .control
    {
      // An unchanged sequence number means a retransmission.
      if sent.dataHeader?.sequenceNumber != last { answers.append(sent.packet.payload) }
      last = sent.dataHeader?.sequenceNumber
    }
    return answers
  }

  /// Returns true if data still pass both ways on this link, and the devices under attack are unharmed.
  func isAlive() -> Bool { exchangesData() && secondLinksWork() }

  /// Returns true if data still pass both ways on this link.
  func exchangesData() -> Bool {
    central.clear()
    peripheral.clear()
    central.send([0xA1], on: centralHandle)
    peripheral.send([0xA2], on: peripheralHandle)
    air.run(for: .milliseconds(500))
    return central.data.map(\.payload) == [[0xA2]] && peripheral.data.map(\.payload) == [[0xA1]]
  }
}
