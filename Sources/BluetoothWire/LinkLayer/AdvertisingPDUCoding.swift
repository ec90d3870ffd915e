extension LL {
  /// The header of an advertising physical channel PDU · Vol 6, Part B, 2.3.
  package struct AdvertisingHeader: Hashable, Sendable {
    /// PDU_Type; nil: one that this project does not know (extended advertising among them).
    package var type: AdvertisingPDUType?
    /// ChSel.
    package var usesAlgorithm2: Bool
    /// TxAdd: what kind the first address is.
    package var transmitter: DeviceAddress.Kind
    /// RxAdd: what kind the second address is.
    package var receiver: DeviceAddress.Kind

    /// The two octets, the first in the low byte.
    package init(rawValue: UInt16) {
      type = AdvertisingPDUType(rawValue: UInt8(rawValue & 0x0F))
      usesAlgorithm2 = rawValue & 1 << 5 != 0
      transmitter = rawValue & 1 << 6 != 0 ? .random : .public
      receiver = rawValue & 1 << 7 != 0 ? .random : .public
    }
  }
}

extension LL.AdvertisingPDU {
  /// What the header and the payload of a packet say.
  ///
  /// - Throws: `unknown` for a PDU type that is not one of legacy advertising; `truncated` or `excess` when the payload
  ///   has not the length of its type.
  package init(header: UInt16, payload: ByteSlice) throws(DecodingError) {
    guard Int(header >> 8) == payload.count else { throw Int(header >> 8) > payload.count ? .truncated : .excess }
    let fields = LL.AdvertisingHeader(rawValue: header)
    guard let type = fields.type else { throw .unknown(code: header & 0x0F) }
    var reader = ByteReader(payload)
    let first = DeviceAddress(try reader.addressValue(), fields.transmitter)
    switch type {
    case .advInd:
      self = .advInd(
        advertiser: first, data: try Self.data(&reader), usesAlgorithm2: fields.usesAlgorithm2)
    case .advNonconnInd: self = .advNonconnInd(advertiser: first, data: try Self.data(&reader))
    case .advScanInd: self = .advScanInd(advertiser: first, data: try Self.data(&reader))
    case .scanRsp: self = .scanRsp(advertiser: first, data: try Self.data(&reader))
    case .advDirectInd:
      let target = DeviceAddress(try reader.addressValue(), fields.receiver)
      self = .advDirectInd(advertiser: first, target: target, usesAlgorithm2: fields.usesAlgorithm2)
    case .scanReq:
      self = .scanReq(scanner: first, advertiser: DeviceAddress(try reader.addressValue(), fields.receiver))
    case .connectInd:
      let advertiser = DeviceAddress(try reader.addressValue(), fields.receiver)
      self = .connectInd(
        initiator: first, advertiser: advertiser, data: try LL.ConnectionData(from: &reader),
        usesAlgorithm2: fields.usesAlgorithm2)
    }
    try reader.end()
  }

  private static func data(_ reader: inout ByteReader) throws(DecodingError) -> ByteSlice {
    guard reader.remaining <= LL.maximumAdvertisingDataLength else { throw .excess }
    return reader.rest()
  }

  /// The packet that carries this PDU.
  package func packet(in pool: PacketPool) -> AirPacket {
    var writer = ByteWriter(pool)
    let type: LL.AdvertisingPDUType
    let transmitter: DeviceAddress
    var receiver: DeviceAddress?
    var chSel = false
    switch self {
    case .advInd(let advertiser, _, let usesAlgorithm2):
      (type, transmitter, chSel) = (.advInd, advertiser, usesAlgorithm2)
    case .advDirectInd(let advertiser, let target, let usesAlgorithm2):
      (type, transmitter, receiver, chSel) = (.advDirectInd, advertiser, target, usesAlgorithm2)
    case .advNonconnInd(let advertiser, _): (type, transmitter) = (.advNonconnInd, advertiser)
    case .advScanInd(let advertiser, _): (type, transmitter) = (.advScanInd, advertiser)
    case .scanReq(let scanner, let advertiser): (type, transmitter, receiver) = (.scanReq, scanner, advertiser)
    case .scanRsp(let advertiser, _): (type, transmitter) = (.scanRsp, advertiser)
    case .connectInd(let initiator, let advertiser, _, let usesAlgorithm2):
      (type, transmitter, receiver, chSel) = (.connectInd, initiator, advertiser, usesAlgorithm2)
    }
    writer.append(addressValue: transmitter.value)
    if let receiver { writer.append(addressValue: receiver.value) }
    switch self {
    case .advInd(_, let data, _), .advNonconnInd(_, let data), .advScanInd(_, let data), .scanRsp(_, let data):
      writer.append(data.prefix(LL.maximumAdvertisingDataLength))
    case .connectInd(_, _, let data, _): data.encode(into: &writer)
    case .advDirectInd, .scanReq: break
    }
    let payload = writer.finish()
    let header =
      UInt16(type.rawValue) | (chSel ? 1 << 5 : 0) | (transmitter.kind == .random ? 1 << 6 : 0)
      | (receiver?.kind == .random ? 1 << 7 : 0) | UInt16(payload.count) << 8
    return AirPacket(
      accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit, header: header, payload: payload)
  }
}
