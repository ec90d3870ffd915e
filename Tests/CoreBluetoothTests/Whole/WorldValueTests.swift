import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@Suite("Values between two apps")
struct WorldValueTests {
  @Test("4.11 Data split by maximumWriteValueLength arrives complete and in order", .requirement("A061"))
  func splitting() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    var parts: [Data] = []
    air.accessory.onRequests = { parts += $0.compactMap(\.value) }
    let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
    let data = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    var rest = data
    func sendMore() {
      while !rest.isEmpty, peripheral.canSendWriteWithoutResponse {
        peripheral.writeValue(rest.prefix(length), for: characteristic, type: .withoutResponse)
        rest = rest.dropFirst(length)
      }
    }
    air.app.onEvent = { if $0 == "ready" { sendMore() } }
    sendMore()
    #expect(!rest.isEmpty, "the buffer has an end")
    #expect(air.world.run(until: { parts.reduce(0) { $0 + $1.count } >= data.count }, limit: .seconds(20)))
    #expect(parts.reduce(Data(), +) == data)
    #expect(parts.dropLast().allSatisfy { $0.count == length })
  }

  @Test(
    "6.11 The ATT error from the sensor's app reaches the phone's app unchanged", .requirement("A063"),
    .symbol("CBPeripheralManager.respond(to:withResult:)", "CBATTError.code"),
    arguments: [
      CBATTError.invalidHandle, .readNotPermitted, .invalidOffset, .attributeNotFound, .invalidAttributeValueLength,
      .unlikelyError, .insufficientResources,
    ])
  func errors(code: CBATTError.Code) {
    let air = TwoDeviceFixture()
    air.accessory.onRequests = { air.peripheralManager.respond(to: $0[0], withResult: code) }
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value [] failed")
    #expect(air.app.lastATTError?.code == code)
    peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
    air.expect("written failed")
    #expect(air.app.lastATTError?.code == code)
    #expect(peripheral.state == .connected)
  }

  @Test(
    "6.15 Removing all services reports each of them to the phone", .requirement("A034"),
    .symbol("CBPeripheralManager.removeAllServices()"))
  func removingAll() {
    let air = TwoDeviceFixture()
    air.add([CBMutableService(type: CBUUID(string: "FFF9"), primary: true)])
    let (peripheral, _) = air.ready()
    peripheral.discoverServices(nil)
    air.expect("services")
    #expect(Set(peripheral.services!.map(\.uuid)) == [TwoDeviceFixture.service, CBUUID(string: "FFF9")])
    air.world.run(for: .seconds(2))
    air.peripheralManager.removeAllServices()
    #expect(air.world.run(until: { peripheral.services?.isEmpty == true }, limit: .seconds(5)))
    #expect(air.app.take().allSatisfy { $0.hasPrefix("modified") })
    peripheral.discoverServices(nil)
    air.expect("services")
    #expect(peripheral.services?.isEmpty == true)
  }
}
