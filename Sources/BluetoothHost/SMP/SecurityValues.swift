import BluetoothCrypto
import BluetoothWire

extension Block {
  /// Creates a block from the value in a PDU, least significant octet first. Throws `invalidParameters` unless the
  /// length is 16.
  init(onAir octets: ByteSlice) throws(SMP.FailureReason) {
    guard let block = Block(octets.bytes.reversed()) else { throw .invalidParameters }
    self = block
  }

  init(using generator: inout some RandomNumberGenerator) { self.init(high: generator.next(), low: generator.next()) }

  /// The value in a PDU, least significant octet first.
  var onAir: ByteSlice { ByteSlice(bytes.reversed()) }

  /// Returns the key shortened to this number of octets; the most significant octets become 0 · Vol 3, Part H, 2.3.4.
  func shortened(to size: UInt8) -> Block {
    let isWhole = size >= 16
    let mask: UInt128 = isWhole ? .max : (1 << (8 * UInt128(size))) - 1
    let number = (UInt128(high) << 64 | UInt128(low)) & mask
    return Block(number)
  }
}

extension Toolbox.Address {
  init(_ address: DeviceAddress) { self.init(isRandom: address.kind == .random, value: address.value) }
}

extension SMP.PairingFeatures {
  /// Returns the PDU as an input of the function c1: a number with the code as its lowest octet
  /// · Vol 3, Part H, 2.2.3.
  func number(_ code: SMP.Code) -> UInt64 {
    let octets = [
      code.rawValue, ioCapability.rawValue, hasOOBData ? 1 : 0, authenticationRequirements.rawValue,
      maximumEncryptionKeySize, initiatorKeyDistribution.rawValue, responderKeyDistribution.rawValue,
    ]
    return octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The octets of the features as an input of the function f6 · 2.2.8.
  var ioCapabilities: [UInt8] { [authenticationRequirements.rawValue, hasOOBData ? 1 : 0, ioCapability.rawValue] }

  func asks(for requirement: SMP.AuthenticationRequirements) -> Bool {
    authenticationRequirements.contains(requirement)
  }
}
