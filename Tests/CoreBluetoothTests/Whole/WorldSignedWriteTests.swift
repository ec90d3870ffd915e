import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// Values for a characteristic that accepts only signed writes, from app to app over the simulated air · Vol 3, Part G,
/// 4.9.2.
@Suite struct WorldSignedWriteTests {
  private static let signed = CBUUID(string: "FFF4")
  private static let secret = CBUUID(string: "FFF3")

  /// Returns a phone and a sensor that have bonded and are not connected.
  private func bonded(encrypts: Bool) -> (air: TwoDeviceFixture, peripheral: CBPeripheral) {
    var options = DeviceOptions()
    options.encryptsBondedLinks = encrypts
    let air = TwoDeviceFixture(phone: ScriptedPrompts(.noInputNoOutput, otherwise: .yes), phoneOptions: options)
    air.localService.characteristics = [
      CBMutableCharacteristic(
        type: Self.signed, properties: [.read, .authenticatedSignedWrites], value: nil,
        permissions: [.readable, .writeable]),
      CBMutableCharacteristic(
        type: Self.secret, properties: [.read], value: nil, permissions: [.readEncryptionRequired]),
    ]
    let (peripheral, _) = air.ready()
    peripheral.readValue(for: characteristic(Self.secret, of: peripheral))
    air.expect("value [104")
    air.central.cancelPeripheralConnection(peripheral)
    air.expect("disconnected")
    air.world.run(for: .seconds(1))
    return (air, peripheral)
  }

  private func characteristic(_ uuid: CBUUID, of peripheral: CBPeripheral) -> CBCharacteristic {
    peripheral.services![0].characteristics!.first { $0.uuid == uuid }!
  }

  /// Reconnects. Returns the capture of the air until the link has ended.
  private func capture(_ air: TwoDeviceFixture, _ peripheral: CBPeripheral, _ body: () -> Void) throws -> Data {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("signed.pcapng")
    air.world.startCapture(try Capture(path: path))
    air.central.connect(peripheral)
    air.expect("connected")
    air.world.run(for: .seconds(1))
    peripheral.discoverServices([TwoDeviceFixture.service])
    air.expect("services")
    peripheral.discoverCharacteristics(nil, for: peripheral.services![0])
    air.expect("characteristics")
    body()
    air.world.run(for: .seconds(1))
    air.central.cancelPeripheralConnection(peripheral)
    air.expect("disconnected")
    air.world.run(for: .seconds(1))
    try air.world.finishCapture()
    return onAir(in: try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Returns the concatenated packets of a capture's first interface.
  private func onAir(in file: Data) -> Data {
    func long(_ offset: Int) -> Int { (0..<4).reversed().reduce(0) { $0 << 8 | Int(file[offset + $1]) } }
    var (result, block) = (Data(), 0)
    while block < file.count {
      // An Enhanced Packet Block.
      if long(block) == 6, long(block + 8) == 0 { result += file[block + 28..<block + 28 + long(block + 20)] }
      block += long(block + 4)
    }
    return result
  }

  private func write(_ value: Data, _ air: TwoDeviceFixture, _ peripheral: CBPeripheral) {
    peripheral.writeValue(value, for: characteristic(Self.signed, of: peripheral), type: .withoutResponse)
    air.world.run(until: { air.stored == value }, limit: .seconds(5))
    #expect(air.stored == value)
  }

  /// Returns the counters of the Signed Write Commands with `value`, each once, in order.
  private func counters(of value: Data, in capture: Data) -> [UInt32] {
    var counters: [UInt32] = []
    var start = capture.startIndex
    while let found = capture[start...].range(of: value) {
      start = found.upperBound
      // Opcode and handle precede the value, the counter and 8 octets of the signature follow it.
      guard capture[found.lowerBound - 3] == 0xD2 else { continue }
      let counter = (0..<4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(capture[found.upperBound + $1]) }
      if counters.last != counter { counters.append(counter) }
    }
    return counters
  }

  @Test(
    "On an unencrypted link to a bonded device values are signed, and the counters continue across links",
    .requirement("A048"))
  func inClear() throws {
    let (air, peripheral) = bonded(encrypts: false)
    let values = (0..<3).map { Data("signed value \($0)".utf8) }
    let first = try capture(air, peripheral) {
      write(values[0], air, peripheral)
      write(values[1], air, peripheral)
    }
    #expect(counters(of: values[0], in: first) == [0] && counters(of: values[1], in: first) == [1])
    let second = try capture(air, peripheral) { write(values[2], air, peripheral) }
    #expect(counters(of: values[2], in: second) == [2])
  }

  @Test(
    "A value too long for a signature makes the host encrypt the link, and is not readable on the air",
    .requirement("L146"))
  func tooLong() throws {
    let (air, peripheral) = bonded(encrypts: false)
    var length = 0
    var value = Data()
    let onAir = try capture(air, peripheral) {
      length = peripheral.maximumWriteValueLength(for: .withoutResponse)
      value = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
      write(value, air, peripheral)
    }
    #expect(length > 100 && !onAir.isEmpty && onAir.range(of: value.prefix(16)) == nil)
  }

  @Test("If links to bonded devices are encrypted at once, nothing is signed, and the value is not readable on the air")
  func encrypted() throws {
    let (air, peripheral) = bonded(encrypts: true)
    let value = Data("not signed".utf8)
    let capture = try capture(air, peripheral) { write(value, air, peripheral) }
    #expect(!capture.isEmpty && capture.range(of: value) == nil)
  }
}
