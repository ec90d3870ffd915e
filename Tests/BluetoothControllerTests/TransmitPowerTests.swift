import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// Power is −20 to +20 dBm · Vol 6, Part A, 3; Vol 4, Part E, 7.8.6, 7.8.53, 7.8.74.
@Suite("Transmit power")
struct TransmitPowerTests {
  @Test(
    "A configured power is clamped to −20 to +20 dBm, in return parameters and on the air",
    arguments: [(-60, -20), (-20, -20), (7, 7), (20, 20), (30, 20)])
  func configured(power: Int, expected: Int) throws {
    let link = try LinkHarness(
      central: { $0.transmitPower = Decibel(power) }, peripheral: { $0.transmitPower = Decibel(power) })
    for device in [link.central, link.peripheral] {
      #expect(device.complete(.leReadTransmitPower) == .leTransmitPower(minimum: -20, maximum: 20))
    }
    let read = link.peripheral.complete(.leReadAdvertisingPhysicalChannelTxPower)
    #expect(read == .leAdvertisingPhysicalChannelTxPower(Int8(expected)))
    #expect(
      link.central.complete(.readTransmitPowerLevel(link.centralHandle, isMaximum: false))
        == .transmitPowerLevel(link.centralHandle, Int8(expected)))
    #expect(link.isAlive() && link.air.log.allSatisfy { $0.power == Decibel(expected) })
  }

  @Test(
    "A set's requested power is clamped to −20 to +20 dBm, which the host gets and the air shows",
    arguments: [(-127, -20), (-21, -20), (-20, -20), (3, 3), (20, 20), (127, 8)])
  func set(wanted: Int, expected: Int) throws {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x2222_2222_2222) { $0.transmitPower = Decibel(8) }
    air.start(device)
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms(1, .includesTransmitPower) {
      $0.transmitPower = Int8(wanted)
    }
    let answer = device.complete(.leSetExtendedAdvertisingParameters(parameters))
    #expect(answer == .leSelectedTransmitPower(Int8(expected)))
    device.setData([1])
    device.enable(1)
    air.run(for: .seconds(1))
    #expect(air.log.count > 30 && air.log.allSatisfy { $0.power == Decibel(expected) })
    #expect(air.log.allSatisfy { $0.extended?.transmitPower == Int8(expected) })
    #expect(
      device.send(.leSetExtendedAdvertisingParameters(.every100ms(2) { $0.transmitPower = 21 }))
        == .invalidHCICommandParameters)
  }
}
