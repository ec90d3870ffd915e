extension LL {
  /// The header of an advertising physical channel PDU · Vol 6, Part B, 2.3.
  package struct AdvertisingHeader: Hashable, Sendable {
    /// The PDU Type; nil for a type that this project does not support.
    package var type: AdvertisingPDUType?
    /// The ChSel bit.
    package var usesAlgorithm2: Bool
    /// TxAdd: the type of the first address.
    package var transmitter: DeviceAddress.Kind
    /// RxAdd: the type of the second address.
    package var receiver: DeviceAddress.Kind

    /// Decodes the two octets of the header, the first in the low byte.
    package init(rawValue: UInt16) {
      type = AdvertisingPDUType(rawValue: UInt8(rawValue & 0x0F))
      usesAlgorithm2 = rawValue & 1 << 5 != 0
      transmitter = rawValue & 1 << 6 != 0 ? .random : .public
      receiver = rawValue & 1 << 7 != 0 ? .random : .public
    }

    /// Reads the address whose type is TxAdd.
    func first(_ reader: inout ByteReader) throws(DecodingError) -> DeviceAddress {
      DeviceAddress(try reader.addressValue(), transmitter)
    }

    /// Reads the address whose type is RxAdd.
    func second(_ reader: inout ByteReader) throws(DecodingError) -> DeviceAddress {
      DeviceAddress(try reader.addressValue(), receiver)
    }
  }
}

extension LL.AdvertisingPDU {
  /// Decodes the header and the payload of a packet.
  ///
  /// - Throws: `unknown` for a reserved PDU type; `truncated` or `excess` if the length of the payload does not match
  ///   its type or its fields.
  package init(header: UInt16, payload: ByteSlice) throws(DecodingError) {
    guard Int(header >> 8) == payload.count else { throw Int(header >> 8) > payload.count ? .truncated : .excess }
    let fields = LL.AdvertisingHeader(rawValue: header)
    guard let type = fields.type else { throw .unknown(code: header & 0x0F) }
    var reader = ByteReader(payload)
    switch type {
    case .advInd:
      self = .advInd(
        advertiser: try fields.first(&reader), data: try Self.data(&reader), usesAlgorithm2: fields.usesAlgorithm2)
    case .advNonconnInd:
      self = .advNonconnInd(advertiser: try fields.first(&reader), data: try Self.data(&reader))
    case .advScanInd: self = .advScanInd(advertiser: try fields.first(&reader), data: try Self.data(&reader))
    case .scanRsp: self = .scanRsp(advertiser: try fields.first(&reader), data: try Self.data(&reader))
    case .advDirectInd:
      self = .advDirectInd(
        advertiser: try fields.first(&reader), target: try fields.second(&reader),
        usesAlgorithm2: fields.usesAlgorithm2)
    case .scanReq: self = .scanReq(scanner: try fields.first(&reader), advertiser: try fields.second(&reader))
    case .connectInd:
      self = .connectInd(
        initiator: try fields.first(&reader), advertiser: try fields.second(&reader),
        data: try LL.ConnectionData(from: &reader), usesAlgorithm2: fields.usesAlgorithm2)
    case .extended: self = .extended(try LL.ExtendedAdvertisingPayload(from: &reader, fields))
    case .auxConnectRsp:
      // AdvA and TargetA are mandatory; all other fields are ignored · 2.3.3.2.
      let payload = try LL.ExtendedAdvertisingPayload(from: &reader, fields)
      guard let advertiser = payload.advertiser, let initiator = payload.target else {
        throw .invalid(field: "Extended Header Flags")
      }
      self = .auxConnectRsp(advertiser: advertiser, initiator: initiator)
    }
    try reader.end()
  }

  private static func data(_ reader: inout ByteReader) throws(DecodingError) -> ByteSlice {
    guard reader.remaining <= LL.maximumAdvertisingDataLength else { throw .excess }
    return reader.rest()
  }

  /// Returns the packet that carries this PDU, with the access address and the CRC initialization of the advertising
  /// physical channel or of a periodic advertising train.
  package func packet(
    in pool: PacketPool, accessAddress: UInt32 = LL.advertisingAccessAddress, crcInit: UInt32 = LL.advertisingCRCInit
  ) -> AirPacket {
    var writer = ByteWriter(pool)
    let type: LL.AdvertisingPDUType
    var transmitter: DeviceAddress?
    var receiver: DeviceAddress?
    var chSel = false
    switch self {
    case .advInd(let advertiser, let data, let usesAlgorithm2):
      (type, transmitter, chSel) = (.advInd, advertiser, usesAlgorithm2)
      writer.append(advertiser, data)
    case .advDirectInd(let advertiser, let target, let usesAlgorithm2):
      (type, transmitter, receiver, chSel) = (.advDirectInd, advertiser, target, usesAlgorithm2)
      writer.append(addressValue: advertiser.value)
      writer.append(addressValue: target.value)
    case .advNonconnInd(let advertiser, let data):
      (type, transmitter) = (.advNonconnInd, advertiser)
      writer.append(advertiser, data)
    case .advScanInd(let advertiser, let data):
      (type, transmitter) = (.advScanInd, advertiser)
      writer.append(advertiser, data)
    case .scanReq(let scanner, let advertiser):
      (type, transmitter, receiver) = (.scanReq, scanner, advertiser)
      writer.append(addressValue: scanner.value)
      writer.append(addressValue: advertiser.value)
    case .scanRsp(let advertiser, let data):
      (type, transmitter) = (.scanRsp, advertiser)
      writer.append(advertiser, data)
    case .connectInd(let initiator, let advertiser, let data, let usesAlgorithm2):
      (type, transmitter, receiver, chSel) = (.connectInd, initiator, advertiser, usesAlgorithm2)
      writer.append(addressValue: initiator.value)
      writer.append(addressValue: advertiser.value)
      data.encode(into: &writer)
    case .extended(let payload):
      (type, transmitter, receiver) = (.extended, payload.advertiser, payload.target)
      payload.encode(into: &writer)
    case .auxConnectRsp(let advertiser, let initiator):
      (type, transmitter, receiver) = (.auxConnectRsp, advertiser, initiator)
      LL.ExtendedAdvertisingPayload(advertiser: advertiser, target: initiator).encode(into: &writer)
    }
    let payload = writer.finish()
    let header =
      UInt16(type.rawValue) | (chSel ? 1 << 5 : 0) | (transmitter?.kind == .random ? 1 << 6 : 0)
      | (receiver?.kind == .random ? 1 << 7 : 0) | UInt16(payload.count) << 8
    var packet = AirPacket(accessAddress: accessAddress, crcInit: crcInit, header: header, payload: payload)
    packet.isAdvertising = true
    return packet
  }
}

extension ByteWriter {
  /// Appends AdvA, then AdvData or ScanRspData.
  fileprivate mutating func append(_ advertiser: DeviceAddress, _ data: ByteSlice) {
    append(addressValue: advertiser.value)
    append(data.prefix(LL.maximumAdvertisingDataLength))
  }
}
