extension SMP {
  /// An SMP protocol data unit · Vol 3, Part H, 3.3. Keys and values have the order of the air, least significant
  /// octet first, and exactly the stated length. No description shows keys.
  package enum PDU: Hashable, Sendable {
    /// 3.5.1
    case pairingRequest(PairingFeatures)
    /// 3.5.2
    case pairingResponse(PairingFeatures)
    /// 3.5.3; 16 octets.
    case pairingConfirm(ByteSlice)
    /// 3.5.4; 16 octets.
    case pairingRandom(ByteSlice)
    /// 3.5.5
    case pairingFailed(FailureReason)
    /// 3.5.6; 32 octets each.
    case pairingPublicKey(x: ByteSlice, y: ByteSlice)
    /// 3.5.7; 16 octets.
    case pairingDHKeyCheck(ByteSlice)
    /// 3.5.8
    case pairingKeypressNotification(KeypressNotification)
    /// 3.6.2; 16 octets.
    case encryptionInformation(longTermKey: Secret<ByteSlice>)
    /// 3.6.3
    case centralIdentification(ediv: UInt16, rand: UInt64)
    /// 3.6.4; 16 octets.
    case identityInformation(identityResolvingKey: Secret<ByteSlice>)
    /// 3.6.5
    case identityAddressInformation(DeviceAddress)
    /// 3.6.6; 16 octets.
    case signingInformation(signatureKey: Secret<ByteSlice>)
    /// 3.6.7
    case securityRequest(AuthenticationRequirements)
  }

  /// The Code field · 3.3, Table 3.3.
  package enum Code: UInt8, Hashable, Sendable, CaseIterable {
    case pairingRequest = 0x01
    case pairingResponse = 0x02
    case pairingConfirm = 0x03
    case pairingRandom = 0x04
    case pairingFailed = 0x05
    case encryptionInformation = 0x06
    case centralIdentification = 0x07
    case identityInformation = 0x08
    case identityAddressInformation = 0x09
    case signingInformation = 0x0A
    case securityRequest = 0x0B
    case pairingPublicKey = 0x0C
    case pairingDHKeyCheck = 0x0D
    case pairingKeypressNotification = 0x0E
  }
}

extension SMP.PDU {
  package var code: SMP.Code {
    switch self {
    case .pairingRequest: return .pairingRequest
    case .pairingResponse: return .pairingResponse
    case .pairingConfirm: return .pairingConfirm
    case .pairingRandom: return .pairingRandom
    case .pairingFailed: return .pairingFailed
    case .encryptionInformation: return .encryptionInformation
    case .centralIdentification: return .centralIdentification
    case .identityInformation: return .identityInformation
    case .identityAddressInformation: return .identityAddressInformation
    case .signingInformation: return .signingInformation
    case .securityRequest: return .securityRequest
    case .pairingPublicKey: return .pairingPublicKey
    case .pairingDHKeyCheck: return .pairingDHKeyCheck
    case .pairingKeypressNotification: return .pairingKeypressNotification
    }
  }

  /// Decodes `octets`. The PDU refers to their storage.
  ///
  /// - Throws: `unknown` for an unknown code, which the receiver ignores · 3.3. The receiver answers every other
  ///   error with Invalid Parameters.
  package static func decode(_ octets: ByteSlice) throws(DecodingError) -> SMP.PDU {
    var reader = ByteReader(octets)
    let number = try reader.uint8()
    guard let code = SMP.Code(rawValue: number) else { throw .unknown(code: UInt16(number)) }
    let pdu = try decode(code, from: &reader)
    try reader.end()
    return pdu
  }

  private static func decode(_ code: SMP.Code, from reader: inout ByteReader) throws(DecodingError) -> SMP.PDU {
    switch code {
    case .pairingRequest: return .pairingRequest(try features(&reader))
    case .pairingResponse: return .pairingResponse(try features(&reader))
    case .pairingConfirm: return .pairingConfirm(try reader.take(SMP.valueLength))
    case .pairingRandom: return .pairingRandom(try reader.take(SMP.valueLength))
    case .pairingFailed: return .pairingFailed(SMP.FailureReason(rawValue: try reader.uint8()))
    case .encryptionInformation: return .encryptionInformation(longTermKey: Secret(try reader.take(SMP.valueLength)))
    case .centralIdentification:
      return .centralIdentification(ediv: try reader.uint16(), rand: try reader.uint64())
    case .identityInformation:
      return .identityInformation(identityResolvingKey: Secret(try reader.take(SMP.valueLength)))
    case .identityAddressInformation: return .identityAddressInformation(try address(&reader))
    case .signingInformation: return .signingInformation(signatureKey: Secret(try reader.take(SMP.valueLength)))
    case .securityRequest:
      return .securityRequest(SMP.AuthenticationRequirements(rawValue: try reader.uint8()))
    case .pairingPublicKey:
      return .pairingPublicKey(x: try reader.take(SMP.coordinateLength), y: try reader.take(SMP.coordinateLength))
    case .pairingDHKeyCheck: return .pairingDHKeyCheck(try reader.take(SMP.valueLength))
    case .pairingKeypressNotification:
      guard let type = SMP.KeypressNotification(rawValue: try reader.uint8()) else {
        throw .invalid(field: "Notification Type")
      }
      return .pairingKeypressNotification(type)
    }
  }

  private static func features(_ reader: inout ByteReader) throws(DecodingError) -> SMP.PairingFeatures {
    guard let ioCapability = SMP.IOCapability(rawValue: try reader.uint8()) else {
      throw .invalid(field: "IO Capability")
    }
    let oob = try reader.uint8()
    guard oob <= 1 else { throw .invalid(field: "OOB data flag") }
    return SMP.PairingFeatures(
      ioCapability: ioCapability, hasOOBData: oob == 1,
      authenticationRequirements: SMP.AuthenticationRequirements(rawValue: try reader.uint8()),
      maximumEncryptionKeySize: try reader.uint8(),
      initiatorKeyDistribution: SMP.KeyDistribution(rawValue: try reader.uint8()),
      responderKeyDistribution: SMP.KeyDistribution(rawValue: try reader.uint8()))
  }

  private static func address(_ reader: inout ByteReader) throws(DecodingError) -> DeviceAddress {
    guard let kind = DeviceAddress.Kind(rawValue: try reader.uint8()) else { throw .invalid(field: "AddrType") }
    return DeviceAddress(try reader.addressValue(), kind)
  }

  package func encode(into writer: inout ByteWriter) {
    writer.append(code.rawValue)
    switch self {
    case .pairingRequest(let features), .pairingResponse(let features):
      writer.append(features.ioCapability.rawValue)
      writer.append(features.hasOOBData ? UInt8(1) : 0)
      writer.append(features.authenticationRequirements.rawValue)
      writer.append(features.maximumEncryptionKeySize)
      writer.append(features.initiatorKeyDistribution.rawValue)
      writer.append(features.responderKeyDistribution.rawValue)
    case .pairingConfirm(let value), .pairingRandom(let value), .pairingDHKeyCheck(let value): writer.append(value)
    case .encryptionInformation(let key), .identityInformation(let key), .signingInformation(let key):
      writer.append(key.value)
    case .pairingFailed(let reason): writer.append(reason.rawValue)
    case .pairingPublicKey(let x, let y):
      writer.append(x)
      writer.append(y)
    case .pairingKeypressNotification(let type): writer.append(type.rawValue)
    case .centralIdentification(let ediv, let rand):
      writer.append(ediv)
      writer.append(rand)
    case .identityAddressInformation(let address):
      writer.append(address.kind.rawValue)
      writer.append(addressValue: address.value)
    case .securityRequest(let requirements): writer.append(requirements.rawValue)
    }
  }
}

// Shorthands that wrap a key in `Secret`.
extension SMP.PDU {
  /// Returns an Encryption Information PDU for a key of 16 octets · 3.6.2.
  package static func encryptionInformation(longTermKey: ByteSlice) -> SMP.PDU {
    .encryptionInformation(longTermKey: Secret(longTermKey))
  }

  /// Returns an Identity Information PDU for a key of 16 octets · 3.6.4.
  package static func identityInformation(identityResolvingKey: ByteSlice) -> SMP.PDU {
    .identityInformation(identityResolvingKey: Secret(identityResolvingKey))
  }

  /// Returns a Signing Information PDU for a key of 16 octets · 3.6.6.
  package static func signingInformation(signatureKey: ByteSlice) -> SMP.PDU {
    .signingInformation(signatureKey: Secret(signatureKey))
  }
}
