extension L2CAP {
  /// A signalling packet on LE-U. A C-frame holds exactly one · 4.
  package struct Signal: Hashable, Sendable {
    /// The identifier that matches a response to its request; never 0.
    package var identifier: UInt8
    package var content: SignalContent
    package init(identifier: UInt8, content: SignalContent) {
      self.identifier = identifier
      self.content = content
    }
  }

  /// The header of a signalling packet: code, identifier and length · 4.
  package struct SignalHeader: Hashable, Sendable {
    package var code: UInt8
    package var identifier: UInt8
    /// The number of data octets that follow.
    package var length: UInt16

    /// Decodes the first four of `octets`. Throws `truncated` if there are fewer.
    package init(_ octets: ByteSlice) throws(DecodingError) {
      var reader = ByteReader(octets)
      code = try reader.uint8()
      identifier = try reader.uint8()
      length = try reader.uint16()
    }

    static let size = 4
  }

  /// The type and the data of a signalling packet.
  package enum SignalContent: Hashable, Sendable {
    /// Command Reject Response · 4.1
    case commandReject(RejectReason)
    /// Disconnection Request · 4.6
    case disconnectionRequest(destination: ChannelID, source: ChannelID)
    /// Disconnection Response · 4.7
    case disconnectionResponse(destination: ChannelID, source: ChannelID)
    /// Connection Parameter Update Request · 4.20
    case connectionParameterUpdateRequest(LinkParameters)
    /// Connection Parameter Update Response · 4.21
    case connectionParameterUpdateResponse(isAccepted: Bool)
    /// LE Credit Based Connection Request · 4.22
    case leCreditBasedConnectionRequest(spsm: UInt16, source: ChannelID, CreditParameters)
    /// LE Credit Based Connection Response · 4.23
    case leCreditBasedConnectionResponse(destination: ChannelID, CreditParameters, ConnectionResult)
    /// Flow Control Credit Indication · 4.24
    case flowControlCreditIndication(ChannelID, credits: UInt16)
    /// Credit Based Connection Request · 4.25
    case creditBasedConnectionRequest(spsm: UInt16, CreditParameters, sources: ChannelList)
    /// Credit Based Connection Response · 4.26
    case creditBasedConnectionResponse(CreditParameters, ConnectionResult, destinations: ChannelList)
    /// Credit Based Reconfigure Request · 4.27
    case creditBasedReconfigureRequest(mtu: UInt16, mps: UInt16, destinations: ChannelList)
    /// Credit Based Reconfigure Response · 4.28
    case creditBasedReconfigureResponse(ReconfigureResult)
  }

  /// The reason of a Command Reject Response · 4.1.
  package enum RejectReason: Hashable, Sendable {
    case commandNotUnderstood
    case signallingMTUExceeded(actual: UInt16)
    case invalidCID(local: ChannelID, remote: ChannelID)
    /// A reason that the specification does not define, with its data.
    case other(UInt16, data: ByteSlice)
  }

  /// The MTU, MPS and initial credits that one side of a credit based channel announces · 4.22.
  package struct CreditParameters: Hashable, Sendable {
    package var mtu: UInt16
    package var mps: UInt16
    package var initialCredits: UInt16
    package init(mtu: UInt16, mps: UInt16, initialCredits: UInt16) {
      self.mtu = mtu
      self.mps = mps
      self.initialCredits = initialCredits
    }

    /// The parameters of a response that refuses the connection.
    package static let none = CreditParameters(mtu: 0, mps: 0, initialCredits: 0)
  }

  /// The result of a connection response · 4.23, 4.26.
  package struct ConnectionResult: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let successful = ConnectionResult(rawValue: 0x0000)
    package static let spsmNotSupported = ConnectionResult(rawValue: 0x0002)
    package static let noResources = ConnectionResult(rawValue: 0x0004)
    package static let insufficientAuthentication = ConnectionResult(rawValue: 0x0005)
    package static let insufficientAuthorization = ConnectionResult(rawValue: 0x0006)
    package static let encryptionKeySizeTooShort = ConnectionResult(rawValue: 0x0007)
    package static let insufficientEncryption = ConnectionResult(rawValue: 0x0008)
    package static let invalidSourceCID = ConnectionResult(rawValue: 0x0009)
    package static let sourceCIDAlreadyAllocated = ConnectionResult(rawValue: 0x000A)
    package static let unacceptableParameters = ConnectionResult(rawValue: 0x000B)
    package static let invalidParameters = ConnectionResult(rawValue: 0x000C)
    /// A provisional result: the final response follows with the same identifier · 4.26.
    package static let pending = ConnectionResult(rawValue: 0x000D)
    package static let authenticationPending = ConnectionResult(rawValue: 0x000E)
    package static let authorizationPending = ConnectionResult(rawValue: 0x000F)
  }

  /// The result of a reconfigure response · 4.28.
  package struct ReconfigureResult: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let successful = ReconfigureResult(rawValue: 0x0000)
    package static let mtuReductionNotAllowed = ReconfigureResult(rawValue: 0x0001)
    package static let mpsReductionNotAllowed = ReconfigureResult(rawValue: 0x0002)
    package static let invalidDestinationCID = ReconfigureResult(rawValue: 0x0003)
    package static let otherUnacceptableParameters = ReconfigureResult(rawValue: 0x0004)
  }

  /// A list of up to five channels · 4.25: a view of the packet's octets.
  package struct ChannelList: Hashable, Sendable, Sequence {
    /// The maximum number of channels in one signalling packet.
    package static let maximumCount = 5
    private let octets: ByteSlice

    /// Creates a list of the first five of `channels`.
    package init(_ channels: [ChannelID]) {
      octets = ByteSlice(
        channels.prefix(Self.maximumCount).flatMap {
          [UInt8(truncatingIfNeeded: $0.rawValue), UInt8(truncatingIfNeeded: $0.rawValue >> 8)]
        })
    }

    /// Reads all remaining octets as `minimum` to five channels. Throws `invalid` for any other length.
    init(from reader: inout ByteReader, atLeast minimum: Int = 1) throws(DecodingError) {
      octets = reader.rest()
      guard octets.count % 2 == 0, minimum...Self.maximumCount ~= octets.count / 2 else {
        throw .invalid(field: "CID")
      }
    }

    func encode(into writer: inout ByteWriter) { writer.append(octets) }

    package var underestimatedCount: Int { octets.count / 2 }

    package func makeIterator() -> Iterator { Iterator(reader: ByteReader(octets)) }

    package struct Iterator: IteratorProtocol {
      var reader: ByteReader
      package mutating func next() -> ChannelID? {
        guard let value = try? reader.uint16() else { return nil }
        return ChannelID(rawValue: value)
      }
    }
  }
}
