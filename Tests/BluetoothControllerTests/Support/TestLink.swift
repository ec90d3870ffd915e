import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// A central and a peripheral, connected.
final class TestLink {
  let air = TestAir()
  let central: TestDevice
  let peripheral: TestDevice
  private(set) var centralHandle = HCI.ConnectionHandle(rawValue: 0)
  private(set) var peripheralHandle = HCI.ConnectionHandle(rawValue: 0)
  /// Of the device that is attacked.
  private var bystander: Bystander?

  enum Side { case central, peripheral }

  /// `isExtended`: made by the commands of extended advertising, so that both may go on using them. `attacked`: who is to have
  /// another connection, too, which has to go on whatever becomes of this one.
  init(
    interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200, isExtended: Bool = false,
    attacked: Side? = nil,
    central changeCentral: (inout ControllerConfiguration) -> Void = { _ in },
    peripheral changePeripheral: (inout ControllerConfiguration) -> Void = { _ in },
    prepare: (TestDevice, TestDevice) -> Void = { _, _ in }
  ) throws {
    central = TestDevice("central", address: 0x1111_1111_1111, changeCentral)
    peripheral = TestDevice("peripheral", address: 0x2222_2222_2222, changePeripheral)
    air.add(central)
    air.add(peripheral)
    central.start()
    peripheral.start()
    prepare(central, peripheral)
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
    guard let attacked else { return }
    bystander = try Bystander(
      of: attacked == .central ? central : peripheral, on: air, isExtended: isExtended)
  }

  /// Whether the other connection of the device that is attacked has not suffered.
  func othersGoOn() -> Bool { bystander?.goesOn() ?? true }

  /// Lets `count` connection events pass.
  func runEvents(_ count: Int64, interval: TimeSpan = .milliseconds(30)) { air.run(for: interval * count) }
}

extension TestLink {
  /// Has the central send `payload` as an LL Control PDU that its link layer knows nothing of, and returns what the
  /// peripheral's link layer says in the next events.
  func injectFromCentral(_ payload: [UInt8], events: Int64 = 3) -> [ByteSlice] {
    inject(payload, from: central, centralHandle, events: events)
  }

  func injectFromPeripheral(_ payload: [UInt8], events: Int64 = 3) -> [ByteSlice] {
    inject(payload, from: peripheral, peripheralHandle, events: events)
  }

  private func inject(
    _ payload: [UInt8], from device: TestDevice, _ handle: HCI.ConnectionHandle, events: Int64
  ) -> [ByteSlice] {
    let octets = ByteSlice(payload)
    let accessAddress = device.controller.connections.first { $0.handle == handle }?.accessAddress
    air.fate = { transmission in
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
    air.fate = { _ in .arrives }
    var answers: [ByteSlice] = []
    var last: Bool?
    for sent in air.log
    where sent.device != device.number && sent.packet.accessAddress == accessAddress
      && sent.dataHeader?.llid == .control
    {
      // The same sequence number again is a retransmission.
      if sent.dataHeader?.sequenceNumber != last { answers.append(sent.packet.payload) }
      last = sent.dataHeader?.sequenceNumber
    }
    return answers
  }

  /// Whether data still goes both ways, here and on the other connection of the device that is attacked.
  func isAlive() -> Bool {
    central.clear()
    peripheral.clear()
    central.send([0xA1], on: centralHandle)
    peripheral.send([0xA2], on: peripheralHandle)
    air.run(for: .milliseconds(500))
    return central.data.map(\.payload) == [[0xA2]] && peripheral.data.map(\.payload) == [[0xA1]] && othersGoOn()
  }
}
