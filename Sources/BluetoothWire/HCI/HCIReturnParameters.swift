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
  }
}

extension HCI.ReturnParameters {
  /// The status of the command; nil if the parameters hold none. Only the forms `status` and `handle` can hold an
  /// error, because a failed command returns no other parameters.
  package var status: HCI.ErrorCode? {
    switch self {
    case .status(let code), .handle(let code, _): code
    case .unknown(let octets): octets.isEmpty ? nil : HCI.ErrorCode(rawValue: octets[0])
    case .localVersionInformation, .localSupportedCommands, .localSupportedFeatures, .localExtendedFeatures,
      .bufferSize, .bdADDR, .transmitPowerLevel, .leHostSupport, .authenticatedPayloadTimeout, .rssi, .leBufferSize,
      .leBufferSizeV2, .leLocalSupportedFeatures, .leAdvertisingPhysicalChannelTxPower, .leFilterAcceptListSize,
      .leChannelMap, .leEncrypt, .leRand, .leSupportedStates, .leSuggestedDefaultDataLength, .leResolvingListSize,
      .lePeerResolvableAddress, .leLocalResolvableAddress, .leMaximumDataLength, .lePHY, .leTransmitPower,
      .leSelectedTransmitPower, .leMaximumAdvertisingDataLength, .leNumberOfSupportedAdvertisingSets,
      .lePeriodicAdvertiserListSize, .leRFPathCompensation:
      .success
    }
  }

  /// The link that the parameters name; nil: none.
  package var connection: HCI.ConnectionHandle? {
    switch self {
    case .handle(_, let handle), .transmitPowerLevel(let handle, _), .authenticatedPayloadTimeout(let handle, _),
      .rssi(let handle, _), .leChannelMap(let handle, _), .lePHY(let handle, _, _):
      handle
    case .status, .localVersionInformation, .localSupportedCommands, .localSupportedFeatures, .localExtendedFeatures,
      .bufferSize, .bdADDR, .leHostSupport, .leBufferSize, .leBufferSizeV2, .leLocalSupportedFeatures,
      .leAdvertisingPhysicalChannelTxPower, .leFilterAcceptListSize, .leEncrypt, .leRand, .leSupportedStates,
      .leSuggestedDefaultDataLength, .leResolvingListSize, .lePeerResolvableAddress, .leLocalResolvableAddress,
      .leMaximumDataLength, .leTransmitPower, .leSelectedTransmitPower, .leMaximumAdvertisingDataLength,
      .leNumberOfSupportedAdvertisingSets, .lePeriodicAdvertiserListSize, .leRFPathCompensation, .unknown:
      nil
    }
  }

  /// Returns the parameters for a command that could not be decoded. They include the handle if the command begins
  /// with one and returns it.
  package static func failure(_ status: HCI.ErrorCode, of opcode: HCI.Opcode, _ parameters: ByteSlice) -> Self {
    var reader = ByteReader(parameters)
    guard opcode.code?.definition.returns.beginsWithHandle == true,
      let handle = try? HCI.ConnectionHandle(from: &reader)
    else { return .status(status) }
    return .handle(status, handle)
  }

  /// Decodes the parameters. Throws `truncated` if there are fewer octets than the command returns; excess octets are
  /// ignored.
  init(opcode: HCI.Opcode, parameters: ByteSlice) throws(DecodingError) {
    guard let form = opcode.code?.definition.returns else {
      self = .unknown(parameters)
      return
    }
    var reader = ByteReader(parameters)
    let status = try reader.errorCode()
    if status == .success {
      self = try Self.succeeded(form, &reader)
    } else if form.beginsWithHandle, reader.remaining >= 2 {
      // A failed command also returns its handle, but may omit the other parameters · Vol 4, Part E, 4.5.
      self = .handle(status, try HCI.ConnectionHandle(from: &reader))
    } else {
      self = .status(status)
    }
  }

  /// Decodes the parameters after a status of success.
  private static func succeeded(_ form: HCI.ReturnForm, _ reader: inout ByteReader) throws(DecodingError) -> Self {
    switch form {
    case .status: .status(.success)
    case .connection(let form): try succeeded(form, try HCI.ConnectionHandle(from: &reader), &reader)
    case .localVersionInformation:
      .localVersionInformation(
        HCI.VersionInformation(
          hciVersion: try reader.uint8(), hciSubversion: try reader.uint16(), lmpVersion: try reader.uint8(),
          companyIdentifier: try reader.uint16(), lmpSubversion: try reader.uint16()))
    case .localSupportedCommands: .localSupportedCommands(try HCI.SupportedCommands(from: &reader))
    case .localSupportedFeatures: .localSupportedFeatures(HCI.LMPFeatures(rawValue: try reader.uint64()))
    case .localExtendedFeatures:
      .localExtendedFeatures(page: try reader.uint8(), maximumPage: try reader.uint8(), try reader.uint64())
    case .bufferSize: .bufferSize(try HCI.BufferSize(from: &reader))
    case .bdADDR: .bdADDR(try reader.addressValue())
    case .leHostSupport: .leHostSupport(try reader.uint16() & 0xFF != 0)
    case .leBufferSize: .leBufferSize(aclLength: try reader.uint16(), aclCount: try reader.uint8())
    case .leBufferSizeV2:
      .leBufferSizeV2(
        aclLength: try reader.uint16(), aclCount: try reader.uint8(), isoLength: try reader.uint16(),
        isoCount: try reader.uint8())
    case .leLocalSupportedFeatures: .leLocalSupportedFeatures(HCI.LEFeatures(rawValue: try reader.uint64()))
    case .leAdvertisingPhysicalChannelTxPower: .leAdvertisingPhysicalChannelTxPower(try reader.int8())
    case .leFilterAcceptListSize: .leFilterAcceptListSize(try reader.uint8())
    case .leEncrypt: .leEncrypt(try reader.uint128())
    case .leRand: .leRand(try reader.uint64())
    case .leSupportedStates: .leSupportedStates(try reader.uint64())
    case .leSuggestedDefaultDataLength: .leSuggestedDefaultDataLength(try HCI.DataLength(from: &reader))
    case .leResolvingListSize: .leResolvingListSize(try reader.uint8())
    case .lePeerResolvableAddress: .lePeerResolvableAddress(try reader.addressValue())
    case .leLocalResolvableAddress: .leLocalResolvableAddress(try reader.addressValue())
    case .leMaximumDataLength:
      .leMaximumDataLength(
        transmit: try HCI.DataLength(from: &reader), receive: try HCI.DataLength(from: &reader))
    case .leTransmitPower: .leTransmitPower(minimum: try reader.int8(), maximum: try reader.int8())
    case .leSelectedTransmitPower: .leSelectedTransmitPower(try reader.int8())
    case .leMaximumAdvertisingDataLength: .leMaximumAdvertisingDataLength(try reader.uint16())
    case .leNumberOfSupportedAdvertisingSets: .leNumberOfSupportedAdvertisingSets(try reader.uint8())
    case .lePeriodicAdvertiserListSize: .lePeriodicAdvertiserListSize(try reader.uint8())
    case .leRFPathCompensation: .leRFPathCompensation(transmit: try reader.int16(), receive: try reader.int16())
    }
  }

  /// Decodes the parameters after a status of success and the handle.
  private static func succeeded(
    _ form: HCI.ConnectionReturnForm, _ handle: HCI.ConnectionHandle, _ reader: inout ByteReader
  ) throws(DecodingError) -> Self {
    switch form {
    case .handle: .handle(.success, handle)
    case .transmitPowerLevel: .transmitPowerLevel(handle, try reader.int8())
    case .authenticatedPayloadTimeout: .authenticatedPayloadTimeout(handle, try reader.uint16())
    case .rssi: .rssi(handle, try reader.int8())
    case .leChannelMap: .leChannelMap(handle, try reader.uint40())
    case .lePHY: .lePHY(handle, transmit: try reader.uint8(), receive: try reader.uint8())
    }
  }

  func encode(into writer: inout ByteWriter) {
    if case .unknown(let octets) = self {
      writer.append(octets)
      return
    }
    if let status { writer.append(status) }
    switch self {
    case .status, .unknown: break
    case .handle(_, let handle): writer.append(handle)
    case .localVersionInformation(let version):
      writer.append(version.hciVersion)
      writer.append(version.hciSubversion)
      writer.append(version.lmpVersion)
      writer.append(version.companyIdentifier)
      writer.append(version.lmpSubversion)
    case .localSupportedCommands(let commands): commands.encode(into: &writer)
    case .localSupportedFeatures(let features): writer.append(features.rawValue)
    case .localExtendedFeatures(let page, let maximumPage, let features):
      writer.append(page)
      writer.append(maximumPage)
      writer.append(features)
    case .bufferSize(let size): size.encode(into: &writer)
    case .bdADDR(let value), .lePeerResolvableAddress(let value), .leLocalResolvableAddress(let value):
      writer.append(addressValue: value)
    case .transmitPowerLevel(let handle, let level), .rssi(let handle, let level):
      writer.append(handle)
      writer.append(level)
    case .leHostSupport(let isSupported):
      writer.append(flag: isSupported)
      writer.append(UInt8(0))
    case .authenticatedPayloadTimeout(let handle, let timeout):
      writer.append(handle)
      writer.append(timeout)
    case .leBufferSize(let length, let count):
      writer.append(length)
      writer.append(count)
    case .leBufferSizeV2(let length, let count, let isoLength, let isoCount):
      writer.append(length)
      writer.append(count)
      writer.append(isoLength)
      writer.append(isoCount)
    case .leLocalSupportedFeatures(let features): writer.append(features.rawValue)
    case .leAdvertisingPhysicalChannelTxPower(let level), .leSelectedTransmitPower(let level): writer.append(level)
    case .leFilterAcceptListSize(let size), .leResolvingListSize(let size), .lePeriodicAdvertiserListSize(let size),
      .leNumberOfSupportedAdvertisingSets(let size):
      writer.append(size)
    case .leMaximumAdvertisingDataLength(let length): writer.append(length)
    case .leRFPathCompensation(let transmit, let receive):
      writer.append(transmit)
      writer.append(receive)
    case .leChannelMap(let handle, let map):
      writer.append(handle)
      writer.append40(map)
    case .leEncrypt(let encrypted): writer.append(encrypted.value)
    case .leRand(let number): writer.append(number.value)
    case .leSupportedStates(let number): writer.append(number)
    case .leSuggestedDefaultDataLength(let length): length.encode(into: &writer)
    case .leMaximumDataLength(let transmit, let receive):
      transmit.encode(into: &writer)
      receive.encode(into: &writer)
    case .lePHY(let handle, let transmit, let receive):
      writer.append(handle)
      writer.append(transmit)
      writer.append(receive)
    case .leTransmitPower(let minimum, let maximum):
      writer.append(minimum)
      writer.append(maximum)
    }
  }
}

extension HCI {
  /// The forms of return parameters: a case for each of `ReturnParameters`.
  package enum ReturnForm: Hashable, Sendable {
    case status, localVersionInformation, localSupportedCommands, localSupportedFeatures, localExtendedFeatures,
      bufferSize, bdADDR, leHostSupport, leBufferSize, leBufferSizeV2, leLocalSupportedFeatures,
      leAdvertisingPhysicalChannelTxPower, leFilterAcceptListSize, leEncrypt, leRand, leSupportedStates,
      leSuggestedDefaultDataLength, leResolvingListSize, lePeerResolvableAddress, leLocalResolvableAddress,
      leMaximumDataLength, leTransmitPower, leSelectedTransmitPower, leMaximumAdvertisingDataLength,
      leNumberOfSupportedAdvertisingSets, lePeriodicAdvertiserListSize, leRFPathCompensation
    /// A connection handle after the status, and then parameters of this form.
    case connection(ConnectionReturnForm)

    /// True if a connection handle follows the status.
    var beginsWithHandle: Bool {
      if case .connection = self { true } else { false }
    }
  }

  /// The forms of return parameters that begin with a status and a connection handle.
  package enum ConnectionReturnForm: Hashable, Sendable {
    case handle, transmitPowerLevel, authenticatedPayloadTimeout, rssi, leChannelMap, lePHY
  }
}
