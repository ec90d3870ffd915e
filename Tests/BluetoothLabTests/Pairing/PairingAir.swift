import BluetoothCapture
import BluetoothCrypto
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation
import TestSupport

/// A world in which two devices meet and one reads the other's protected value, for which they pair. Its results are
/// the capture and the key file.
struct PairingAir {
  /// The configuration of the two devices, and the device that reads.
  struct Setting {
    var central = PairingPolicy()
    var peripheral = PairingPolicy()
    var centralData = OutOfBand()
    var peripheralData = OutOfBand()
    var starter = Link.Role.central
    /// The passkey that both users type.
    var agreedPasskey: UInt32?
    var secrets = CaptureSecrets(writesKeys: true)
    /// True if the link ends after the first read, and the value is read again on another link.
    var meetsAgain = false
    /// The key with which the central's controller starts encryption while its user still compares numbers.
    var earlyKey: UInt128?
  }

  let central: PairingDevice
  let peripheral: PairingDevice
  /// The value that the reader got.
  let value: [UInt8]?
  /// The value to read.
  let expected: [UInt8]
  let keysOfFile: AirDecryptor?
  /// All octets of the capture.
  let file: Data
  /// The packets on the air, in chronological order.
  let air: [AirCapture.Packet]

  private static let limit = Instant.zero + .seconds(20)

  init(_ setting: Setting, seed: UInt64) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("air.pcapng")

    let engine = WorldEngine(seed: seed)
    let environment = DeviceEnvironment(in: engine.bound)
    let capture = try WorldCapture(path: path, setting.secrets)
    environment.setCapture(capture, deviceNames: [], in: engine)
    let secret = Array("number \(seed) is nobody else's business, is it?".utf8)
    let table = PairingDevice.Table(agreed: setting.agreedPasskey)
    func device(_ role: Link.Role, _ policy: PairingPolicy, _ data: OutOfBand) -> PairingDevice {
      let reads = setting.starter == role
      let radio = role == .central ? 0 : 1
      let device = PairingDevice(
        role, policy: policy, outOfBand: data, value: reads ? [] : secret, reads: reads, at: table, radio: radio,
        environment: environment, in: engine)
      let place = GridPosition(metresX: Double(radio), y: 0, z: 0)
      _ = engine.requestQueue.addDevice(radio: RadioProperties(position: place)) { _, _ in device }
      return device
    }
    let central = device(.central, setting.central, setting.centralData)
    let peripheral = device(.peripheral, setting.peripheral, setting.peripheralData)
    central.earlyKey = setting.earlyKey
    let reader = setting.starter == .central ? central : peripheral
    engine.settle()
    while reader.answer == nil, engine.step(until: Self.limit) {}
    if setting.meetsAgain {
      engine.with(RadioID(index: 0)) { _ in central.disconnect(at: engine.now) }
      while reader.answer != nil, engine.step(until: Self.limit) {}
      while reader.answer == nil, engine.step(until: Self.limit) {}
    }
    try capture.finish()

    (self.central, self.peripheral, expected) = (central, peripheral, secret)
    value = if case .success(.value(let value))? = reader.answer { value.bytes } else { nil }
    keysOfFile =
      try setting.secrets.writesKeys ? AirDecryptor(keysPath: WorldCapture.keyPath(ofCapture: path)) : nil
    file = try Data(contentsOf: URL(fileURLWithPath: path))
    air = AirCapture(file, interface: 0).packets
  }

  /// The keys of the hosts, in the octet order of the air.
  var keys: [[UInt8]] {
    var keys: [Block?] = []
    for bond in (central.outcomes + peripheral.outcomes).compactMap(\.bond) {
      keys += [bond.key?.value, bond.ownKey?.value, bond.peerKey?.value, bond.peerIdentityKey]
      keys += [bond.signatureMaker?.key, bond.signatureVerifier?.key]
    }
    return keys.compactMap { $0 }.map { $0.bytes.reversed() }
  }
}
