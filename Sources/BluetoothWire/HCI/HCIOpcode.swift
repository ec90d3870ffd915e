extension HCI.Opcode {
  package init(group: UInt8, command: UInt16) { self.init(rawValue: UInt16(group) << 10 | command & 0x3FF) }

  /// OGF, the upper 6 bits.
  package var group: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 10) }
  /// OCF, the lower 10 bits.
  package var command: UInt16 { rawValue & 0x3FF }

  /// The opcode of no command: an event with it only updates the number of allowed commands · Vol 4, Part E, 7.7.14.
  package static let none = HCI.Opcode(rawValue: 0x0000)

  // Link Control · 7.1
  package static let disconnect = HCI.Opcode(rawValue: 0x0406)
  package static let readRemoteVersionInformation = HCI.Opcode(rawValue: 0x041D)

  // Controller & Baseband · 7.3
  package static let setEventMask = HCI.Opcode(rawValue: 0x0C01)
  package static let reset = HCI.Opcode(rawValue: 0x0C03)
  package static let readTransmitPowerLevel = HCI.Opcode(rawValue: 0x0C2D)
  package static let setControllerToHostFlowControl = HCI.Opcode(rawValue: 0x0C31)
  package static let hostBufferSize = HCI.Opcode(rawValue: 0x0C33)
  package static let hostNumberOfCompletedPackets = HCI.Opcode(rawValue: 0x0C35)
  package static let setEventMaskPage2 = HCI.Opcode(rawValue: 0x0C63)
  package static let readLEHostSupport = HCI.Opcode(rawValue: 0x0C6C)
  package static let writeLEHostSupport = HCI.Opcode(rawValue: 0x0C6D)
  package static let readAuthenticatedPayloadTimeout = HCI.Opcode(rawValue: 0x0C7B)
  package static let writeAuthenticatedPayloadTimeout = HCI.Opcode(rawValue: 0x0C7C)

  // Informational Parameters · 7.4
  package static let readLocalVersionInformation = HCI.Opcode(rawValue: 0x1001)
  package static let readLocalSupportedCommands = HCI.Opcode(rawValue: 0x1002)
  package static let readLocalSupportedFeatures = HCI.Opcode(rawValue: 0x1003)
  package static let readLocalExtendedFeatures = HCI.Opcode(rawValue: 0x1004)
  package static let readBufferSize = HCI.Opcode(rawValue: 0x1005)
  package static let readBDADDR = HCI.Opcode(rawValue: 0x1009)

  // Status Parameters · 7.5
  package static let readRSSI = HCI.Opcode(rawValue: 0x1405)

  // LE Controller · 7.8
  package static let leSetEventMask = HCI.Opcode(rawValue: 0x2001)
  package static let leReadBufferSize = HCI.Opcode(rawValue: 0x2002)
  package static let leReadLocalSupportedFeatures = HCI.Opcode(rawValue: 0x2003)
  package static let leSetRandomAddress = HCI.Opcode(rawValue: 0x2005)
  package static let leSetAdvertisingParameters = HCI.Opcode(rawValue: 0x2006)
  package static let leReadAdvertisingPhysicalChannelTxPower = HCI.Opcode(rawValue: 0x2007)
  package static let leSetAdvertisingData = HCI.Opcode(rawValue: 0x2008)
  package static let leSetScanResponseData = HCI.Opcode(rawValue: 0x2009)
  package static let leSetAdvertisingEnable = HCI.Opcode(rawValue: 0x200A)
  package static let leSetScanParameters = HCI.Opcode(rawValue: 0x200B)
  package static let leSetScanEnable = HCI.Opcode(rawValue: 0x200C)
  package static let leCreateConnection = HCI.Opcode(rawValue: 0x200D)
  package static let leCreateConnectionCancel = HCI.Opcode(rawValue: 0x200E)
  package static let leReadFilterAcceptListSize = HCI.Opcode(rawValue: 0x200F)
  package static let leClearFilterAcceptList = HCI.Opcode(rawValue: 0x2010)
  package static let leAddDeviceToFilterAcceptList = HCI.Opcode(rawValue: 0x2011)
  package static let leRemoveDeviceFromFilterAcceptList = HCI.Opcode(rawValue: 0x2012)
  package static let leConnectionUpdate = HCI.Opcode(rawValue: 0x2013)
  package static let leSetHostChannelClassification = HCI.Opcode(rawValue: 0x2014)
  package static let leReadChannelMap = HCI.Opcode(rawValue: 0x2015)
  package static let leReadRemoteFeatures = HCI.Opcode(rawValue: 0x2016)
  package static let leEncrypt = HCI.Opcode(rawValue: 0x2017)
  package static let leRand = HCI.Opcode(rawValue: 0x2018)
  package static let leEnableEncryption = HCI.Opcode(rawValue: 0x2019)
  package static let leLongTermKeyRequestReply = HCI.Opcode(rawValue: 0x201A)
  package static let leLongTermKeyRequestNegativeReply = HCI.Opcode(rawValue: 0x201B)
  package static let leReadSupportedStates = HCI.Opcode(rawValue: 0x201C)
  package static let leReceiverTest = HCI.Opcode(rawValue: 0x201D)
  package static let leTransmitterTest = HCI.Opcode(rawValue: 0x201E)
  package static let leTestEnd = HCI.Opcode(rawValue: 0x201F)
  package static let leRemoteConnectionParameterRequestReply = HCI.Opcode(rawValue: 0x2020)
  package static let leRemoteConnectionParameterRequestNegativeReply = HCI.Opcode(rawValue: 0x2021)
  package static let leSetDataLength = HCI.Opcode(rawValue: 0x2022)
  package static let leReadSuggestedDefaultDataLength = HCI.Opcode(rawValue: 0x2023)
  package static let leWriteSuggestedDefaultDataLength = HCI.Opcode(rawValue: 0x2024)
  package static let leReadLocalP256PublicKey = HCI.Opcode(rawValue: 0x2025)
  package static let leGenerateDHKey = HCI.Opcode(rawValue: 0x2026)
  package static let leAddDeviceToResolvingList = HCI.Opcode(rawValue: 0x2027)
  package static let leRemoveDeviceFromResolvingList = HCI.Opcode(rawValue: 0x2028)
  package static let leClearResolvingList = HCI.Opcode(rawValue: 0x2029)
  package static let leReadResolvingListSize = HCI.Opcode(rawValue: 0x202A)
  package static let leReadPeerResolvableAddress = HCI.Opcode(rawValue: 0x202B)
  package static let leReadLocalResolvableAddress = HCI.Opcode(rawValue: 0x202C)
  package static let leSetAddressResolutionEnable = HCI.Opcode(rawValue: 0x202D)
  package static let leSetResolvablePrivateAddressTimeout = HCI.Opcode(rawValue: 0x202E)
  package static let leReadMaximumDataLength = HCI.Opcode(rawValue: 0x202F)
  package static let leReadPHY = HCI.Opcode(rawValue: 0x2030)
  package static let leSetDefaultPHY = HCI.Opcode(rawValue: 0x2031)
  package static let leSetPHY = HCI.Opcode(rawValue: 0x2032)
  package static let leSetAdvertisingSetRandomAddress = HCI.Opcode(rawValue: 0x2035)
  package static let leSetExtendedAdvertisingParameters = HCI.Opcode(rawValue: 0x2036)
  package static let leSetExtendedAdvertisingData = HCI.Opcode(rawValue: 0x2037)
  package static let leSetExtendedScanResponseData = HCI.Opcode(rawValue: 0x2038)
  package static let leSetExtendedAdvertisingEnable = HCI.Opcode(rawValue: 0x2039)
  package static let leReadMaximumAdvertisingDataLength = HCI.Opcode(rawValue: 0x203A)
  package static let leReadNumberOfSupportedAdvertisingSets = HCI.Opcode(rawValue: 0x203B)
  package static let leRemoveAdvertisingSet = HCI.Opcode(rawValue: 0x203C)
  package static let leClearAdvertisingSets = HCI.Opcode(rawValue: 0x203D)
  package static let leSetPeriodicAdvertisingParameters = HCI.Opcode(rawValue: 0x203E)
  package static let leSetPeriodicAdvertisingData = HCI.Opcode(rawValue: 0x203F)
  package static let leSetPeriodicAdvertisingEnable = HCI.Opcode(rawValue: 0x2040)
  package static let leSetExtendedScanParameters = HCI.Opcode(rawValue: 0x2041)
  package static let leSetExtendedScanEnable = HCI.Opcode(rawValue: 0x2042)
  package static let leExtendedCreateConnection = HCI.Opcode(rawValue: 0x2043)
  package static let lePeriodicAdvertisingCreateSync = HCI.Opcode(rawValue: 0x2044)
  package static let lePeriodicAdvertisingCreateSyncCancel = HCI.Opcode(rawValue: 0x2045)
  package static let lePeriodicAdvertisingTerminateSync = HCI.Opcode(rawValue: 0x2046)
  package static let leAddDeviceToPeriodicAdvertiserList = HCI.Opcode(rawValue: 0x2047)
  package static let leRemoveDeviceFromPeriodicAdvertiserList = HCI.Opcode(rawValue: 0x2048)
  package static let leClearPeriodicAdvertiserList = HCI.Opcode(rawValue: 0x2049)
  package static let leReadPeriodicAdvertiserListSize = HCI.Opcode(rawValue: 0x204A)
  package static let leReadTransmitPower = HCI.Opcode(rawValue: 0x204B)
  package static let leReadRFPathCompensation = HCI.Opcode(rawValue: 0x204C)
  package static let leWriteRFPathCompensation = HCI.Opcode(rawValue: 0x204D)
  package static let leSetPrivacyMode = HCI.Opcode(rawValue: 0x204E)
  package static let leSetPeriodicAdvertisingReceiveEnable = HCI.Opcode(rawValue: 0x2059)
  package static let lePeriodicAdvertisingSyncTransfer = HCI.Opcode(rawValue: 0x205A)
  package static let lePeriodicAdvertisingSetInfoTransfer = HCI.Opcode(rawValue: 0x205B)
  package static let leSetPeriodicAdvertisingSyncTransferParameters = HCI.Opcode(rawValue: 0x205C)
  package static let leSetDefaultPeriodicAdvertisingSyncTransferParameters = HCI.Opcode(rawValue: 0x205D)
  package static let leGenerateDHKeyV2 = HCI.Opcode(rawValue: 0x205E)
  package static let leModifySleepClockAccuracy = HCI.Opcode(rawValue: 0x205F)
  package static let leReadBufferSizeV2 = HCI.Opcode(rawValue: 0x2060)
  package static let leRequestPeerSCA = HCI.Opcode(rawValue: 0x206D)
  package static let leSetHostFeature = HCI.Opcode(rawValue: 0x2074)
  package static let leSetDataRelatedAddressChanges = HCI.Opcode(rawValue: 0x207C)
  package static let leSetExtendedAdvertisingParametersV2 = HCI.Opcode(rawValue: 0x207F)
}

extension HCI.Opcode: CustomStringConvertible {
  /// The specification's name of the command, or the opcode in hexadecimal if it has no name here.
  package var description: String { name?.description ?? "0x" + rawValue.hexadecimal }

  /// The specification's name without `HCI_`.
  package var name: StaticString? { Self.table[rawValue]?.name }

  /// The octet and the bit of this command in the Supported_Commands bitmap · Vol 4, Part E, 6.27; nil if it has no
  /// bit there.
  package var supportedCommandsPosition: (octet: Int, bit: Int)? {
    guard let entry = Self.table[rawValue], entry.octet != Entry.noOctet else { return nil }
    return (Int(entry.octet), Int(entry.bit))
  }

  private struct Entry: Sendable {
    static let noOctet: UInt8 = 0xFF
    let name: StaticString
    let octet: UInt8
    let bit: UInt8
    init(_ name: StaticString, _ octet: UInt8 = noOctet, _ bit: UInt8 = 0) {
      self.name = name
      self.octet = octet
      self.bit = bit
    }
  }

  private static let table: [UInt16: Entry] = [
    0x0406: Entry("Disconnect", 0, 5),
    0x041D: Entry("Read Remote Version Information", 2, 7),
    0x0C01: Entry("Set Event Mask", 5, 6),
    0x0C03: Entry("Reset", 5, 7),
    0x0C2D: Entry("Read Transmit Power Level", 10, 2),
    0x0C31: Entry("Set Controller To Host Flow Control", 10, 5),
    0x0C33: Entry("Host Buffer Size", 10, 6),
    0x0C35: Entry("Host Number Of Completed Packets", 10, 7),
    0x0C63: Entry("Set Event Mask Page 2", 22, 2),
    0x0C6C: Entry("Read LE Host Support", 24, 5),
    0x0C6D: Entry("Write LE Host Support", 24, 6),
    0x0C7B: Entry("Read Authenticated Payload Timeout", 32, 4),
    0x0C7C: Entry("Write Authenticated Payload Timeout", 32, 5),
    0x1001: Entry("Read Local Version Information", 14, 3),
    0x1002: Entry("Read Local Supported Commands"),
    0x1003: Entry("Read Local Supported Features", 14, 5),
    0x1004: Entry("Read Local Extended Features", 14, 6),
    0x1005: Entry("Read Buffer Size", 14, 7),
    0x1009: Entry("Read BD_ADDR", 15, 1),
    0x1405: Entry("Read RSSI", 15, 5),
    0x2001: Entry("LE Set Event Mask", 25, 0),
    0x2002: Entry("LE Read Buffer Size [v1]", 25, 1),
    0x2003: Entry("LE Read Local Supported Features", 25, 2),
    0x2005: Entry("LE Set Random Address", 25, 4),
    0x2006: Entry("LE Set Advertising Parameters", 25, 5),
    0x2007: Entry("LE Read Advertising Physical Channel Tx Power", 25, 6),
    0x2008: Entry("LE Set Advertising Data", 25, 7),
    0x2009: Entry("LE Set Scan Response Data", 26, 0),
    0x200A: Entry("LE Set Advertising Enable", 26, 1),
    0x200B: Entry("LE Set Scan Parameters", 26, 2),
    0x200C: Entry("LE Set Scan Enable", 26, 3),
    0x200D: Entry("LE Create Connection", 26, 4),
    0x200E: Entry("LE Create Connection Cancel", 26, 5),
    0x200F: Entry("LE Read Filter Accept List Size", 26, 6),
    0x2010: Entry("LE Clear Filter Accept List", 26, 7),
    0x2011: Entry("LE Add Device To Filter Accept List", 27, 0),
    0x2012: Entry("LE Remove Device From Filter Accept List", 27, 1),
    0x2013: Entry("LE Connection Update", 27, 2),
    0x2014: Entry("LE Set Host Channel Classification", 27, 3),
    0x2015: Entry("LE Read Channel Map", 27, 4),
    0x2016: Entry("LE Read Remote Features", 27, 5),
    0x2017: Entry("LE Encrypt", 27, 6),
    0x2018: Entry("LE Rand", 27, 7),
    0x2019: Entry("LE Enable Encryption", 28, 0),
    0x201A: Entry("LE Long Term Key Request Reply", 28, 1),
    0x201B: Entry("LE Long Term Key Request Negative Reply", 28, 2),
    0x201C: Entry("LE Read Supported States", 28, 3),
    0x201D: Entry("LE Receiver Test [v1]", 28, 4),
    0x201E: Entry("LE Transmitter Test [v1]", 28, 5),
    0x201F: Entry("LE Test End", 28, 6),
    0x2020: Entry("LE Remote Connection Parameter Request Reply", 33, 4),
    0x2021: Entry("LE Remote Connection Parameter Request Negative Reply", 33, 5),
    0x2022: Entry("LE Set Data Length", 33, 6),
    0x2023: Entry("LE Read Suggested Default Data Length", 33, 7),
    0x2024: Entry("LE Write Suggested Default Data Length", 34, 0),
    0x2025: Entry("LE Read Local P-256 Public Key", 34, 1),
    0x2026: Entry("LE Generate DHKey [v1]", 34, 2),
    0x2027: Entry("LE Add Device To Resolving List", 34, 3),
    0x2028: Entry("LE Remove Device From Resolving List", 34, 4),
    0x2029: Entry("LE Clear Resolving List", 34, 5),
    0x202A: Entry("LE Read Resolving List Size", 34, 6),
    0x202B: Entry("LE Read Peer Resolvable Address", 34, 7),
    0x202C: Entry("LE Read Local Resolvable Address", 35, 0),
    0x202D: Entry("LE Set Address Resolution Enable", 35, 1),
    0x202E: Entry("LE Set Resolvable Private Address Timeout", 35, 2),
    0x202F: Entry("LE Read Maximum Data Length", 35, 3),
    0x2030: Entry("LE Read PHY", 35, 4),
    0x2031: Entry("LE Set Default PHY", 35, 5),
    0x2032: Entry("LE Set PHY", 35, 6),
    0x2035: Entry("LE Set Advertising Set Random Address", 36, 1),
    0x2036: Entry("LE Set Extended Advertising Parameters [v1]", 36, 2),
    0x2037: Entry("LE Set Extended Advertising Data", 36, 3),
    0x2038: Entry("LE Set Extended Scan Response Data", 36, 4),
    0x2039: Entry("LE Set Extended Advertising Enable", 36, 5),
    0x203A: Entry("LE Read Maximum Advertising Data Length", 36, 6),
    0x203B: Entry("LE Read Number of Supported Advertising Sets", 36, 7),
    0x203C: Entry("LE Remove Advertising Set", 37, 0),
    0x203D: Entry("LE Clear Advertising Sets", 37, 1),
    0x203E: Entry("LE Set Periodic Advertising Parameters [v1]", 37, 2),
    0x203F: Entry("LE Set Periodic Advertising Data", 37, 3),
    0x2040: Entry("LE Set Periodic Advertising Enable", 37, 4),
    0x2041: Entry("LE Set Extended Scan Parameters", 37, 5),
    0x2042: Entry("LE Set Extended Scan Enable", 37, 6),
    0x2043: Entry("LE Extended Create Connection [v1]", 37, 7),
    0x2044: Entry("LE Periodic Advertising Create Sync", 38, 0),
    0x2045: Entry("LE Periodic Advertising Create Sync Cancel", 38, 1),
    0x2046: Entry("LE Periodic Advertising Terminate Sync", 38, 2),
    0x2047: Entry("LE Add Device To Periodic Advertiser List", 38, 3),
    0x2048: Entry("LE Remove Device From Periodic Advertiser List", 38, 4),
    0x2049: Entry("LE Clear Periodic Advertiser List", 38, 5),
    0x204A: Entry("LE Read Periodic Advertiser List Size", 38, 6),
    0x204B: Entry("LE Read Transmit Power", 38, 7),
    0x204C: Entry("LE Read RF Path Compensation", 39, 0),
    0x204D: Entry("LE Write RF Path Compensation", 39, 1),
    0x204E: Entry("LE Set Privacy Mode", 39, 2),
    0x2059: Entry("LE Set Periodic Advertising Receive Enable", 40, 5),
    0x205A: Entry("LE Periodic Advertising Sync Transfer", 40, 6),
    0x205B: Entry("LE Periodic Advertising Set Info Transfer", 40, 7),
    0x205C: Entry("LE Set Periodic Advertising Sync Transfer Parameters", 41, 0),
    0x205D: Entry("LE Set Default Periodic Advertising Sync Transfer Parameters", 41, 1),
    0x205E: Entry("LE Generate DHKey [v2]", 41, 2),
    0x205F: Entry("LE Modify Sleep Clock Accuracy", 41, 4),
    0x2060: Entry("LE Read Buffer Size [v2]", 41, 5),
    0x206D: Entry("LE Request Peer SCA", 43, 2),
    0x2074: Entry("LE Set Host Feature [v1]", 44, 1),
    0x207C: Entry("LE Set Data Related Address Changes", 45, 6),
    0x207F: Entry("LE Set Extended Advertising Parameters [v2]", 46, 2),
  ]
}

extension HCI {
  /// The commands that a controller supports: a bitmap of 64 octets · Vol 4, Part E, 6.27.
  package struct SupportedCommands: Hashable, Sendable {
    /// The bitmap, eight octets per word, the first octet in the lowest bits.
    private var words = [UInt64](repeating: 0, count: 8)

    /// Creates an empty set.
    package init() {}

    package init(_ opcodes: [Opcode]) {
      for opcode in opcodes { insert(opcode) }
    }

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// Returns true if the controller supports the command; false for commands without a bit.
    package func contains(_ opcode: Opcode) -> Bool {
      guard let (octet, bit) = opcode.supportedCommandsPosition else { return false }
      return words[octet / 8] >> (octet % 8 * 8 + bit) & 1 != 0
    }

    /// Adds a command. Does nothing for a command without a bit.
    package mutating func insert(_ opcode: Opcode) {
      guard let (octet, bit) = opcode.supportedCommandsPosition else { return }
      words[octet / 8] |= 1 << (octet % 8 * 8 + bit)
    }

    package init(from reader: inout ByteReader) throws(DecodingError) {
      for index in words.indices { words[index] = try reader.uint64() }
    }

    package func encode(into writer: inout ByteWriter) {
      for word in words { writer.append(word) }
    }
  }
}
