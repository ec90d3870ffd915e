extension HCI {
  /// The return parameters of a Command Complete event · Vol 4, Part E, 7.7.14 and the sections of the commands.
  package enum ReturnParameters: Hashable, Sendable {
    /// The result of commands that return only a status, and of all commands that failed.
    case status(ErrorCode)
    /// The result of commands that return a status and a connection handle, and of failed commands for a connection.
    case handle(ErrorCode, ConnectionHandle)
    case localVersionInformation(VersionInformation)
    case localSupportedCommands(SupportedCommands)
    case localSupportedFeatures(LMPFeatures)
    case localExtendedFeatures(page: UInt8, maximumPage: UInt8, UInt64)
    case bufferSize(BufferSize)
    /// The public device address, 48 bits.
    case bdADDR(UInt64)
    /// The level in dBm.
    case transmitPowerLevel(ConnectionHandle, Int8)
    case leHostSupport(Bool)
    /// Units of 10 ms.
    case authenticatedPayloadTimeout(ConnectionHandle, UInt16)
    /// The RSSI in dBm; 127: not available.
    case rssi(ConnectionHandle, Int8)
    /// The length in octets and the number of the LE ACL buffers. Zeros mean that LE shares the BR/EDR buffers.
    case leBufferSize(aclLength: UInt16, aclCount: UInt8)
    case leBufferSizeV2(aclLength: UInt16, aclCount: UInt8, isoLength: UInt16, isoCount: UInt8)
    case leLocalSupportedFeatures(LEFeatures)
    /// The level in dBm.
    case leAdvertisingPhysicalChannelTxPower(Int8)
    case leFilterAcceptListSize(UInt8)
    /// Bit n stands for data channel n.
    case leChannelMap(ConnectionHandle, UInt64)
    case leEncrypt(Secret<UInt128>)
    case leRand(Secret<UInt64>)
    case leSupportedStates(UInt64)
    case leSuggestedDefaultDataLength(DataLength)
    case leResolvingListSize(UInt8)
    case lePeerResolvableAddress(UInt64)
    case leLocalResolvableAddress(UInt64)
    case leMaximumDataLength(transmit: DataLength, receive: DataLength)
    case lePHY(ConnectionHandle, transmit: UInt8, receive: UInt8)
    /// The levels in dBm.
    case leTransmitPower(minimum: Int8, maximum: Int8)
    /// The selected transmit power of an advertising set in dBm.
    case leSelectedTransmitPower(Int8)
    /// The maximum length in octets, 0x001F to 0x0672.
    case leMaximumAdvertisingDataLength(UInt16)
    case leNumberOfSupportedAdvertisingSets(UInt8)
    case lePeriodicAdvertiserListSize(UInt8)
    /// Units of 0.1 dB.
    case leRFPathCompensation(transmit: Int16, receive: Int16)
    /// The parameters of a command that has no case in this type, including the status.
    case unknown(ByteSlice)
  }

  /// The result of Read Local Version Information · 7.4.1; also the version of a remote device · 7.7.12, which has no
  /// HCI version.
  package struct VersionInformation: Hashable, Sendable {
    package var hciVersion: UInt8
    package var hciSubversion: UInt16
    package var lmpVersion: UInt8
    package var companyIdentifier: UInt16
    package var lmpSubversion: UInt16
    package init(
      hciVersion: UInt8, hciSubversion: UInt16, lmpVersion: UInt8, companyIdentifier: UInt16, lmpSubversion: UInt16
    ) {
      self.hciVersion = hciVersion
      self.hciSubversion = hciSubversion
      self.lmpVersion = lmpVersion
      self.companyIdentifier = companyIdentifier
      self.lmpSubversion = lmpSubversion
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      hciVersion = try reader.uint8()
      hciSubversion = try reader.uint16()
      lmpVersion = try reader.uint8()
      companyIdentifier = try reader.uint16()
      lmpSubversion = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(hciVersion)
      writer.append(hciSubversion)
      writer.append(lmpVersion)
      writer.append(companyIdentifier)
      writer.append(lmpSubversion)
    }
  }
}

extension HCI.ReturnParameters: HCIEncodable {
  /// The status of the command; nil if the parameters hold none. Only the forms `status` and `handle` can hold an
  /// error, because a failed command returns no other parameters.
  package var status: HCI.ErrorCode? {
    if case .status(let status) = self { return status }
    if case .handle(let status, _) = self { return status }
    if case .unknown(let octets) = self { return octets.isEmpty ? nil : HCI.ErrorCode(rawValue: octets[0]) }
    return .success
  }

  /// The link that the parameters name; nil: none.
  package var connection: HCI.ConnectionHandle? {
    var finder = HCIFieldFinder<HCI.ConnectionHandle>()
    visit(&finder)
    return finder.found
  }

  /// Returns the parameters for a command that could not be decoded. They include the handle if the command begins
  /// with one and returns it.
  package static func failure(_ status: HCI.ErrorCode, of opcode: HCI.Opcode, _ parameters: ByteSlice) -> Self {
    var reader = ByteReader(parameters)
    guard case .commandComplete(let fields?)? = opcode.definition?.answer, fields.beginsWithHandle,
      let handle = try? HCI.ConnectionHandle(from: &reader)
    else { return .status(status) }
    return .handle(status, handle)
  }

  /// Decodes the parameters. Throws `truncated` if there are fewer octets than the command returns; excess octets are
  /// ignored.
  init(opcode: HCI.Opcode, parameters: ByteSlice) throws(DecodingError) {
    guard let answer = opcode.definition?.answer else {
      self = .unknown(parameters)
      return
    }
    var reader = ByteReader(parameters)
    let status = try reader.errorCode()
    guard case .commandComplete(let fields?) = answer else {
      self = .status(status)
      return
    }
    if status == .success {
      self = try fields.decode(&reader)
    } else if fields.beginsWithHandle, reader.remaining >= 2 {
      // A failed command also returns its handle, but may omit the other parameters · Vol 4, Part E, 4.5.
      self = .handle(status, try HCI.ConnectionHandle(from: &reader))
    } else {
      self = .status(status)
    }
  }

  func encode(into writer: inout ByteWriter) {
    // Most commands return nothing else.
    if case .status(let status) = self { writer.append(status) } else { visit(&writer) }
  }

  private func visit<Visitor: HCIFieldVisitor & ~Copyable>(_ visitor: inout Visitor) {
    let success = HCI.ErrorCode.success
    switch self {
    case .status(let status): visitor.visit(status)
    case .handle(let status, let handle): visitor.visit(all: status, handle)
    case .localVersionInformation(let version): visitor.visit(all: success, version)
    case .localSupportedCommands(let commands): visitor.visit(all: success, commands)
    case .localSupportedFeatures(let features): visitor.visit(all: success, features)
    case .localExtendedFeatures(let page, let maximumPage, let features):
      visitor.visit(all: success, page, maximumPage, features)
    case .bufferSize(let size): visitor.visit(all: success, size)
    case .bdADDR(let address), .lePeerResolvableAddress(let address), .leLocalResolvableAddress(let address):
      visitor.visit(all: success, HCI.AddressValue(address))
    case .transmitPowerLevel(let handle, let level), .rssi(let handle, let level):
      visitor.visit(all: success, handle, level)
    case .leHostSupport(let isSupported): visitor.visit(all: success, isSupported, UInt8(0))
    case .authenticatedPayloadTimeout(let handle, let timeout): visitor.visit(all: success, handle, timeout)
    case .leBufferSize(let length, let count): visitor.visit(all: success, length, count)
    case .leBufferSizeV2(let length, let count, let isoLength, let isoCount):
      visitor.visit(all: success, length, count, isoLength, isoCount)
    case .leLocalSupportedFeatures(let features): visitor.visit(all: success, features)
    case .leAdvertisingPhysicalChannelTxPower(let level), .leSelectedTransmitPower(let level):
      visitor.visit(all: success, level)
    case .leFilterAcceptListSize(let size), .leResolvingListSize(let size), .lePeriodicAdvertiserListSize(let size),
      .leNumberOfSupportedAdvertisingSets(let size):
      visitor.visit(all: success, size)
    case .leMaximumAdvertisingDataLength(let length): visitor.visit(all: success, length)
    case .leRFPathCompensation(let transmit, let receive): visitor.visit(all: success, transmit, receive)
    case .leChannelMap(let handle, let map): visitor.visit(all: success, handle, HCI.ChannelBits(map))
    case .leEncrypt(let encrypted): visitor.visit(all: success, encrypted)
    case .leRand(let number): visitor.visit(all: success, number)
    case .leSupportedStates(let states): visitor.visit(all: success, states)
    case .leSuggestedDefaultDataLength(let length): visitor.visit(all: success, length)
    case .leMaximumDataLength(let transmit, let receive): visitor.visit(all: success, transmit, receive)
    case .lePHY(let handle, let transmit, let receive): visitor.visit(all: success, handle, transmit, receive)
    case .leTransmitPower(let minimum, let maximum): visitor.visit(all: success, minimum, maximum)
    case .unknown(let octets): visitor.visit(HCI.Rest(octets: octets))
    }
  }
}
