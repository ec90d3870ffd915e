extension L2CAP {
  /// The codes of the signalling packets that LE-U uses · 4, table 4.2.
  package enum SignalCode {
    package static let commandReject: UInt8 = 0x01
    package static let disconnectionRequest: UInt8 = 0x06
    package static let disconnectionResponse: UInt8 = 0x07
    package static let connectionParameterUpdateRequest: UInt8 = 0x12
    package static let connectionParameterUpdateResponse: UInt8 = 0x13
    package static let leCreditBasedConnectionRequest: UInt8 = 0x14
    package static let leCreditBasedConnectionResponse: UInt8 = 0x15
    package static let flowControlCreditIndication: UInt8 = 0x16
    package static let creditBasedConnectionRequest: UInt8 = 0x17
    package static let creditBasedConnectionResponse: UInt8 = 0x18
    package static let creditBasedReconfigureRequest: UInt8 = 0x19
    package static let creditBasedReconfigureResponse: UInt8 = 0x1A

    /// Returns true if the packet is a response, which is never answered.
    package static func isResponse(_ code: UInt8) -> Bool {
      switch code {
      case commandReject, disconnectionResponse, connectionParameterUpdateResponse, leCreditBasedConnectionResponse,
        creditBasedConnectionResponse, creditBasedReconfigureResponse:
        true
      default: false
      }
    }
  }
}

extension L2CAP.Signal {
  /// Decodes `octets`, the payload of a C-frame, as exactly one packet.
  ///
  /// - Throws: `unknown` for a code that LE-U does not have; `invalid` for an identifier of 0 or a forbidden value;
  ///   `truncated` or `excess` for a wrong length.
  package init(_ octets: ByteSlice) throws(DecodingError) {
    let header = try L2CAP.SignalHeader(octets)
    guard header.identifier != 0 else { throw .invalid(field: "Identifier") }
    var reader = ByteReader(octets.dropFirst(L2CAP.SignalHeader.size))
    guard Int(header.length) <= reader.remaining else { throw .truncated }
    guard Int(header.length) == reader.remaining else { throw .excess }
    identifier = header.identifier
    content = try L2CAP.SignalContent(code: header.code, &reader)
    try reader.end()
  }

  /// Appends the packet, which is the payload of a C-frame.
  package func encode(into writer: inout ByteWriter) {
    writer.append(content.code)
    writer.append(identifier)
    let length = writer.count
    writer.append(UInt16(0))
    content.encode(into: &writer)
    writer.replace(at: length, with: UInt16(truncatingIfNeeded: writer.count - length - 2))
  }

  /// Returns the C-frame for the signalling channel in a storage of `pool`.
  package func frame(in pool: PacketPool) -> ByteSlice {
    var writer = ByteWriter(pool, capacity: 64)
    encode(into: &writer)
    return writer.finishFrame(on: .signalling)
  }
}

extension L2CAP.SignalContent {
  package var code: UInt8 {
    switch self {
    case .commandReject: L2CAP.SignalCode.commandReject
    case .disconnectionRequest: L2CAP.SignalCode.disconnectionRequest
    case .disconnectionResponse: L2CAP.SignalCode.disconnectionResponse
    case .connectionParameterUpdateRequest: L2CAP.SignalCode.connectionParameterUpdateRequest
    case .connectionParameterUpdateResponse: L2CAP.SignalCode.connectionParameterUpdateResponse
    case .leCreditBasedConnectionRequest: L2CAP.SignalCode.leCreditBasedConnectionRequest
    case .leCreditBasedConnectionResponse: L2CAP.SignalCode.leCreditBasedConnectionResponse
    case .flowControlCreditIndication: L2CAP.SignalCode.flowControlCreditIndication
    case .creditBasedConnectionRequest: L2CAP.SignalCode.creditBasedConnectionRequest
    case .creditBasedConnectionResponse: L2CAP.SignalCode.creditBasedConnectionResponse
    case .creditBasedReconfigureRequest: L2CAP.SignalCode.creditBasedReconfigureRequest
    case .creditBasedReconfigureResponse: L2CAP.SignalCode.creditBasedReconfigureResponse
    }
  }

  init(code: UInt8, _ reader: inout ByteReader) throws(DecodingError) {
    switch code {
    case L2CAP.SignalCode.commandReject: self = .commandReject(try L2CAP.RejectReason(from: &reader))
    case L2CAP.SignalCode.disconnectionRequest:
      self = .disconnectionRequest(destination: try reader.channel(), source: try reader.channel())
    case L2CAP.SignalCode.disconnectionResponse:
      self = .disconnectionResponse(destination: try reader.channel(), source: try reader.channel())
    case L2CAP.SignalCode.connectionParameterUpdateRequest:
      self = .connectionParameterUpdateRequest(try LinkParameters(from: &reader))
    case L2CAP.SignalCode.connectionParameterUpdateResponse:
      let result = try reader.uint16()
      guard result <= 1 else { throw .invalid(field: "Result") }
      self = .connectionParameterUpdateResponse(isAccepted: result == 0)
    case L2CAP.SignalCode.leCreditBasedConnectionRequest:
      self = .leCreditBasedConnectionRequest(
        spsm: try reader.uint16(), source: try reader.channel(), try L2CAP.CreditParameters(from: &reader))
    case L2CAP.SignalCode.leCreditBasedConnectionResponse:
      self = .leCreditBasedConnectionResponse(
        destination: try reader.channel(), try L2CAP.CreditParameters(from: &reader),
        L2CAP.ConnectionResult(rawValue: try reader.uint16()))
    case L2CAP.SignalCode.flowControlCreditIndication:
      self = .flowControlCreditIndication(try reader.channel(), credits: try reader.uint16())
    case L2CAP.SignalCode.creditBasedConnectionRequest:
      self = .creditBasedConnectionRequest(
        spsm: try reader.uint16(), try L2CAP.CreditParameters(from: &reader),
        sources: try L2CAP.ChannelList(from: &reader))
    case L2CAP.SignalCode.creditBasedConnectionResponse:
      self = .creditBasedConnectionResponse(
        try L2CAP.CreditParameters(from: &reader), L2CAP.ConnectionResult(rawValue: try reader.uint16()),
        // Some stacks omit the list when they refuse all channels.
        destinations: try L2CAP.ChannelList(from: &reader, atLeast: 0))
    case L2CAP.SignalCode.creditBasedReconfigureRequest:
      self = .creditBasedReconfigureRequest(
        mtu: try reader.uint16(), mps: try reader.uint16(), destinations: try L2CAP.ChannelList(from: &reader))
    case L2CAP.SignalCode.creditBasedReconfigureResponse:
      self = .creditBasedReconfigureResponse(L2CAP.ReconfigureResult(rawValue: try reader.uint16()))
    default: throw .unknown(code: UInt16(code))
    }
  }

  func encode(into writer: inout ByteWriter) {
    switch self {
    case .commandReject(let reason): reason.encode(into: &writer)
    case .disconnectionRequest(let destination, let source), .disconnectionResponse(let destination, let source):
      writer.append(destination.rawValue)
      writer.append(source.rawValue)
    case .connectionParameterUpdateRequest(let parameters): parameters.encode(into: &writer)
    case .connectionParameterUpdateResponse(let isAccepted): writer.append(UInt16(isAccepted ? 0 : 1))
    case .leCreditBasedConnectionRequest(let spsm, let source, let parameters):
      writer.append(spsm)
      writer.append(source.rawValue)
      parameters.encode(into: &writer)
    case .leCreditBasedConnectionResponse(let destination, let parameters, let result):
      writer.append(destination.rawValue)
      parameters.encode(into: &writer)
      writer.append(result.rawValue)
    case .flowControlCreditIndication(let channel, let credits):
      writer.append(channel.rawValue)
      writer.append(credits)
    case .creditBasedConnectionRequest(let spsm, let parameters, let sources):
      writer.append(spsm)
      parameters.encode(into: &writer)
      sources.encode(into: &writer)
    case .creditBasedConnectionResponse(let parameters, let result, let destinations):
      parameters.encode(into: &writer)
      writer.append(result.rawValue)
      destinations.encode(into: &writer)
    case .creditBasedReconfigureRequest(let mtu, let mps, let destinations):
      writer.append(mtu)
      writer.append(mps)
      destinations.encode(into: &writer)
    case .creditBasedReconfigureResponse(let result): writer.append(result.rawValue)
    }
  }
}

extension L2CAP.RejectReason {
  init(from reader: inout ByteReader) throws(DecodingError) {
    switch try reader.uint16() {
    case 0: self = .commandNotUnderstood
    case 1: self = .signallingMTUExceeded(actual: try reader.uint16())
    case 2: self = .invalidCID(local: try reader.channel(), remote: try reader.channel())
    case let reason: self = .other(reason, data: reader.rest())
    }
  }

  func encode(into writer: inout ByteWriter) {
    switch self {
    case .commandNotUnderstood: writer.append(UInt16(0))
    case .signallingMTUExceeded(let actual):
      writer.append(UInt16(1))
      writer.append(actual)
    case .invalidCID(let local, let remote):
      writer.append(UInt16(2))
      writer.append(local.rawValue)
      writer.append(remote.rawValue)
    case .other(let reason, let data):
      writer.append(reason)
      writer.append(data)
    }
  }
}

extension L2CAP.CreditParameters {
  init(from reader: inout ByteReader) throws(DecodingError) {
    mtu = try reader.uint16()
    mps = try reader.uint16()
    initialCredits = try reader.uint16()
  }

  func encode(into writer: inout ByteWriter) {
    writer.append(mtu)
    writer.append(mps)
    writer.append(initialCredits)
  }
}

extension ByteReader {
  mutating func channel() throws(DecodingError) -> L2CAP.ChannelID { L2CAP.ChannelID(rawValue: try uint16()) }
}
