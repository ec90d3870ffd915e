extension HCI {
  /// The rows of all commands. A command without a row is decoded as `unknown`.
  package static let commands = Commands()

  /// A row for each command, in the order of the opcodes: opcode, name, bit in Supported Commands, fields, answer, and
  /// the features, roles and version that it needs · Vol 4, Part E, 7; 3, table 3.1; 6.27.
  package struct Commands: Sendable {
    package typealias Row = CommandDefinition

    // Link Control · 7.1
    package let disconnect = Row(0x0406, "Disconnect", bit: (0, 5), Fields(Command.disconnect), .commandStatus)
    package let readRemoteVersionInformation = Row(
      0x041D, "Read Remote Version Information", bit: (2, 7), Fields(Command.readRemoteVersionInformation),
      .commandStatus)

    // Controller & Baseband · 7.3
    package let setEventMask = Row(0x0C01, "Set Event Mask", bit: (5, 6), Fields(Command.setEventMask))
    package let reset = Row(0x0C03, "Reset", bit: (5, 7), Fields(.reset))
    package let readTransmitPowerLevel = Row(
      0x0C2D, "Read Transmit Power Level", bit: (10, 2), Fields(Command.readTransmitPowerLevel),
      .returns(ReturnParameters.transmitPowerLevel))
    package let setControllerToHostFlowControl = Row(
      0x0C31, "Set Controller To Host Flow Control", bit: (10, 5), Fields(Command.setControllerToHostFlowControl))
    package let hostBufferSize = Row(0x0C33, "Host Buffer Size", bit: (10, 6), Fields(Command.hostBufferSize))
    package let hostNumberOfCompletedPackets = Row(
      0x0C35, "Host Number Of Completed Packets", bit: (10, 7), Fields(Command.hostNumberOfCompletedPackets))
    package let setEventMaskPage2 = Row(
      0x0C63, "Set Event Mask Page 2", bit: (22, 2), Fields(Command.setEventMaskPage2), features: .ping)
    package let readLEHostSupport = Row(
      0x0C6C, "Read LE Host Support", bit: (24, 5), Fields(.readLEHostSupport),
      .returns({ (isSupported: UInt16) in .leHostSupport(isSupported & 0xFF != 0) }))
    package let writeLEHostSupport = Row(
      0x0C6D, "Write LE Host Support", bit: (24, 6),
      Fields({ (isSupported: Bool, _: UInt8) in .writeLEHostSupport(isSupported) }))
    package let readAuthenticatedPayloadTimeout = Row(
      0x0C7B, "Read Authenticated Payload Timeout", bit: (32, 4), Fields(Command.readAuthenticatedPayloadTimeout),
      .returns(ReturnParameters.authenticatedPayloadTimeout), features: .ping)
    package let writeAuthenticatedPayloadTimeout = Row(
      0x0C7C, "Write Authenticated Payload Timeout", bit: (32, 5), Fields(Command.writeAuthenticatedPayloadTimeout),
      .handle, features: .ping)

    // Informational Parameters · 7.4
    package let readLocalVersionInformation = Row(
      0x1001, "Read Local Version Information", bit: (14, 3), Fields(.readLocalVersionInformation),
      .returns(ReturnParameters.localVersionInformation))
    package let readLocalSupportedCommands = Row(
      0x1002, "Read Local Supported Commands", Fields(.readLocalSupportedCommands),
      .returns(ReturnParameters.localSupportedCommands))
    package let readLocalSupportedFeatures = Row(
      0x1003, "Read Local Supported Features", bit: (14, 5), Fields(.readLocalSupportedFeatures),
      .returns(ReturnParameters.localSupportedFeatures))
    package let readLocalExtendedFeatures = Row(
      0x1004, "Read Local Extended Features", bit: (14, 6), Fields(Command.readLocalExtendedFeatures),
      .returns(ReturnParameters.localExtendedFeatures))
    package let readBufferSize = Row(
      0x1005, "Read Buffer Size", bit: (14, 7), Fields(.readBufferSize), .returns(ReturnParameters.bufferSize))
    package let readBDADDR = Row(
      0x1009, "Read BD_ADDR", bit: (15, 1), Fields(.readBDADDR),
      .returns({ (address: AddressValue) in .bdADDR(address.value) }))

    // Status Parameters · 7.5
    package let readRSSI = Row(
      0x1405, "Read RSSI", bit: (15, 5), Fields(Command.readRSSI), .returns(ReturnParameters.rssi))

    // LE Controller · 7.8
    package let leSetEventMask = Row(0x2001, "LE Set Event Mask", bit: (25, 0), Fields(Command.leSetEventMask))
    package let leReadBufferSize = Row(
      0x2002, "LE Read Buffer Size [v1]", bit: (25, 1), Fields(.leReadBufferSize),
      .returns(ReturnParameters.leBufferSize))
    package let leReadLocalSupportedFeatures = Row(
      0x2003, "LE Read Local Supported Features", bit: (25, 2), Fields(.leReadLocalSupportedFeatures),
      .returns(ReturnParameters.leLocalSupportedFeatures))
    package let leSetRandomAddress = Row(
      0x2005, "LE Set Random Address", bit: (25, 4),
      Fields({ (address: AddressValue) in .leSetRandomAddress(address.value) }))
    package let leSetAdvertisingParameters = Row(
      0x2006, "LE Set Advertising Parameters", bit: (25, 5), Fields(Command.leSetAdvertisingParameters),
      roles: .advertiser, generation: .legacy)
    package let leReadAdvertisingPhysicalChannelTxPower = Row(
      0x2007, "LE Read Advertising Physical Channel Tx Power", bit: (25, 6),
      Fields(.leReadAdvertisingPhysicalChannelTxPower), .returns(ReturnParameters.leAdvertisingPhysicalChannelTxPower),
      roles: .advertiser, generation: .legacy)
    package let leSetAdvertisingData = Row(
      0x2008, "LE Set Advertising Data", bit: (25, 7),
      Fields({ (data: LegacyAdvertisingData) in .leSetAdvertisingData(data.data) }), roles: .advertiser,
      generation: .legacy)
    package let leSetScanResponseData = Row(
      0x2009, "LE Set Scan Response Data", bit: (26, 0),
      Fields({ (data: LegacyAdvertisingData) in .leSetScanResponseData(data.data) }), roles: .advertiser,
      generation: .legacy)
    package let leSetAdvertisingEnable = Row(
      0x200A, "LE Set Advertising Enable", bit: (26, 1), Fields(Command.leSetAdvertisingEnable), roles: .advertiser,
      generation: .legacy)
    package let leSetScanParameters = Row(
      0x200B, "LE Set Scan Parameters", bit: (26, 2), Fields(Command.leSetScanParameters), roles: .scanner,
      generation: .legacy)
    package let leSetScanEnable = Row(
      0x200C, "LE Set Scan Enable", bit: (26, 3),
      Fields(decode: { (reader) throws(DecodingError) in
        let isEnabled = try reader.flag("LE_Scan_Enable")
        // Filter_Duplicates is ignored when scanning is disabled · 7.8.11.
        return .leSetScanEnable(
          isEnabled,
          filterDuplicates: isEnabled
            ? try reader.flag("Filter_Duplicates") : try reader.uint8() == 1)
      }), roles: .scanner, generation: .legacy)
    package let leCreateConnection = Row(
      0x200D, "LE Create Connection", bit: (26, 4), Fields(Command.leCreateConnection), .commandStatus, roles: .central,
      generation: .legacy)
    package let leCreateConnectionCancel = Row(
      0x200E, "LE Create Connection Cancel", bit: (26, 5), Fields(.leCreateConnectionCancel), roles: .central)
    package let leReadFilterAcceptListSize = Row(
      0x200F, "LE Read Filter Accept List Size", bit: (26, 6), Fields(.leReadFilterAcceptListSize),
      .returns(ReturnParameters.leFilterAcceptListSize))
    package let leClearFilterAcceptList = Row(
      0x2010, "LE Clear Filter Accept List", bit: (26, 7), Fields(.leClearFilterAcceptList))
    package let leAddDeviceToFilterAcceptList = Row(
      0x2011, "LE Add Device To Filter Accept List", bit: (27, 0), Fields(Command.leAddDeviceToFilterAcceptList))
    package let leRemoveDeviceFromFilterAcceptList = Row(
      0x2012, "LE Remove Device From Filter Accept List", bit: (27, 1),
      Fields(Command.leRemoveDeviceFromFilterAcceptList))
    package let leConnectionUpdate = Row(
      0x2013, "LE Connection Update", bit: (27, 2), Fields(Command.leConnectionUpdate), .commandStatus)
    // A peripheral reports the classification to its central, and advertisers use it for auxiliary packets · 7.8.19.
    package let leSetHostChannelClassification = Row(
      0x2014, "LE Set Host Channel Classification", bit: (27, 3),
      Fields({ (channels: ChannelBits) in .leSetHostChannelClassification(channels.value) }), roles: .central,
      orFeatures: [.channelClassification, .extendedAdvertising])
    package let leReadChannelMap = Row(
      0x2015, "LE Read Channel Map", bit: (27, 4), Fields(Command.leReadChannelMap),
      .returns({ (handle: ConnectionHandle, channels: ChannelBits) in .leChannelMap(handle, channels.value) }))
    package let leReadRemoteFeatures = Row(
      0x2016, "LE Read Remote Features", bit: (27, 5), Fields(Command.leReadRemoteFeatures), .commandStatus)
    // Key and plaintext. The plaintext is as sensitive as a key if the host derives keys this way · 7.8.22.
    package let leEncrypt = Row(
      0x2017, "LE Encrypt", bit: (27, 6), Fields(Command.leEncrypt),
      .returns({ (encrypted: Secret<UInt128>) in .leEncrypt(encrypted) }), keys: 0..<32, returnedKeys: 1..<17)
    package let leRand = Row(
      0x2018, "LE Rand", bit: (27, 7), Fields(.leRand), .returns({ (number: Secret<UInt64>) in .leRand(number) }),
      returnedKeys: 1..<9)
    // After the handle, Rand and EDIV · 7.8.24.
    package let leEnableEncryption = Row(
      0x2019, "LE Enable Encryption", bit: (28, 0), Fields(Command.leEnableEncryption), .commandStatus,
      features: .encryption, roles: .central, keys: 12..<28)
    // After the handle · 7.8.25.
    package let leLongTermKeyRequestReply = Row(
      0x201A, "LE Long Term Key Request Reply", bit: (28, 1), Fields(Command.leLongTermKeyRequestReply), .handle,
      features: .encryption, roles: .peripheral, keys: 2..<18)
    package let leLongTermKeyRequestNegativeReply = Row(
      0x201B, "LE Long Term Key Request Negative Reply", bit: (28, 2),
      Fields(Command.leLongTermKeyRequestNegativeReply), .handle, features: .encryption, roles: .peripheral)
    package let leReadSupportedStates = Row(
      0x201C, "LE Read Supported States", bit: (28, 3), Fields(.leReadSupportedStates),
      .returns(ReturnParameters.leSupportedStates))
    package let leReceiverTest = Row(0x201D, "LE Receiver Test [v1]", bit: (28, 4), nil)
    package let leTransmitterTest = Row(0x201E, "LE Transmitter Test [v1]", bit: (28, 5), nil)
    package let leTestEnd = Row(0x201F, "LE Test End", bit: (28, 6), nil)
    package let leRemoteConnectionParameterRequestReply = Row(
      0x2020, "LE Remote Connection Parameter Request Reply", bit: (33, 4),
      Fields(Command.leRemoteConnectionParameterRequestReply), .handle, features: .connectionParametersRequestProcedure)
    package let leRemoteConnectionParameterRequestNegativeReply = Row(
      0x2021, "LE Remote Connection Parameter Request Negative Reply", bit: (33, 5),
      Fields(Command.leRemoteConnectionParameterRequestNegativeReply), .handle,
      features: .connectionParametersRequestProcedure)
    package let leSetDataLength = Row(
      0x2022, "LE Set Data Length", bit: (33, 6), Fields(Command.leSetDataLength), .handle,
      features: .dataPacketLengthExtension)
    package let leReadSuggestedDefaultDataLength = Row(
      0x2023, "LE Read Suggested Default Data Length", bit: (33, 7), Fields(.leReadSuggestedDefaultDataLength),
      .returns(ReturnParameters.leSuggestedDefaultDataLength), features: .dataPacketLengthExtension)
    package let leWriteSuggestedDefaultDataLength = Row(
      0x2024, "LE Write Suggested Default Data Length", bit: (34, 0), Fields(Command.leWriteSuggestedDefaultDataLength),
      features: .dataPacketLengthExtension)
    package let leReadLocalP256PublicKey = Row(
      0x2025, "LE Read Local P-256 Public Key", bit: (34, 1), Fields(.leReadLocalP256PublicKey), .commandStatus,
      since: Version.bluetooth42)
    package let leGenerateDHKey = Row(
      0x2026, "LE Generate DHKey [v1]", bit: (34, 2),
      Fields({ (coordinates: Octets<64>) in .leGenerateDHKey(coordinates.octets) }), .commandStatus,
      since: Version.bluetooth42)
    // Both keys, after the peer's address · 7.8.38.
    package let leAddDeviceToResolvingList = Row(
      0x2027, "LE Add Device To Resolving List", bit: (34, 3), Fields(Command.leAddDeviceToResolvingList),
      features: .llPrivacy, keys: 7..<39)
    package let leRemoveDeviceFromResolvingList = Row(
      0x2028, "LE Remove Device From Resolving List", bit: (34, 4), Fields(Command.leRemoveDeviceFromResolvingList),
      features: .llPrivacy)
    package let leClearResolvingList = Row(
      0x2029, "LE Clear Resolving List", bit: (34, 5), Fields(.leClearResolvingList), features: .llPrivacy)
    package let leReadResolvingListSize = Row(
      0x202A, "LE Read Resolving List Size", bit: (34, 6), Fields(.leReadResolvingListSize),
      .returns(ReturnParameters.leResolvingListSize), features: .llPrivacy)
    package let leReadPeerResolvableAddress = Row(
      0x202B, "LE Read Peer Resolvable Address", bit: (34, 7), Fields(Command.leReadPeerResolvableAddress),
      .returns({ (address: AddressValue) in .lePeerResolvableAddress(address.value) }), features: .llPrivacy)
    package let leReadLocalResolvableAddress = Row(
      0x202C, "LE Read Local Resolvable Address", bit: (35, 0), Fields(Command.leReadLocalResolvableAddress),
      .returns({ (address: AddressValue) in .leLocalResolvableAddress(address.value) }), features: .llPrivacy)
    package let leSetAddressResolutionEnable = Row(
      0x202D, "LE Set Address Resolution Enable", bit: (35, 1), Fields(Command.leSetAddressResolutionEnable),
      features: .llPrivacy)
    package let leSetResolvablePrivateAddressTimeout = Row(
      0x202E, "LE Set Resolvable Private Address Timeout", bit: (35, 2),
      Fields(Command.leSetResolvablePrivateAddressTimeout), features: .llPrivacy)
    package let leReadMaximumDataLength = Row(
      0x202F, "LE Read Maximum Data Length", bit: (35, 3), Fields(.leReadMaximumDataLength),
      .returns(ReturnParameters.leMaximumDataLength), features: .dataPacketLengthExtension)
    package let leReadPHY = Row(
      0x2030, "LE Read PHY", bit: (35, 4), Fields(Command.leReadPHY), .returns(ReturnParameters.lePHY),
      features: [.le2MPHY, .leCodedPHY])
    package let leSetDefaultPHY = Row(
      0x2031, "LE Set Default PHY", bit: (35, 5), Fields(Command.leSetDefaultPHY), features: [.le2MPHY, .leCodedPHY])
    package let leSetPHY = Row(
      0x2032, "LE Set PHY", bit: (35, 6), Fields(Command.leSetPHY), .commandStatus, features: [.le2MPHY, .leCodedPHY])
    package let leSetAdvertisingSetRandomAddress = Row(
      0x2035, "LE Set Advertising Set Random Address", bit: (36, 1),
      Fields({ (set: AdvertisingHandle, address: AddressValue) in .leSetAdvertisingSetRandomAddress(set, address.value)
      }), features: .extendedAdvertising, roles: .advertiser)
    package let leSetExtendedAdvertisingParameters = Row(
      0x2036, "LE Set Extended Advertising Parameters [v1]", bit: (36, 2),
      Fields(Command.leSetExtendedAdvertisingParameters), .returns(ReturnParameters.leSelectedTransmitPower),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leSetExtendedAdvertisingData = Row(
      0x2037, "LE Set Extended Advertising Data", bit: (36, 3), Fields(Command.leSetExtendedAdvertisingData),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leSetExtendedScanResponseData = Row(
      0x2038, "LE Set Extended Scan Response Data", bit: (36, 4), Fields(Command.leSetExtendedScanResponseData),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leSetExtendedAdvertisingEnable = Row(
      0x2039, "LE Set Extended Advertising Enable", bit: (36, 5), Fields(Command.leSetExtendedAdvertisingEnable),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leReadMaximumAdvertisingDataLength = Row(
      0x203A, "LE Read Maximum Advertising Data Length", bit: (36, 6), Fields(.leReadMaximumAdvertisingDataLength),
      .returns(ReturnParameters.leMaximumAdvertisingDataLength), features: .extendedAdvertising, roles: .advertiser,
      generation: .extended)
    package let leReadNumberOfSupportedAdvertisingSets = Row(
      0x203B, "LE Read Number of Supported Advertising Sets", bit: (36, 7),
      Fields(.leReadNumberOfSupportedAdvertisingSets), .returns(ReturnParameters.leNumberOfSupportedAdvertisingSets),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leRemoveAdvertisingSet = Row(
      0x203C, "LE Remove Advertising Set", bit: (37, 0), Fields(Command.leRemoveAdvertisingSet),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leClearAdvertisingSets = Row(
      0x203D, "LE Clear Advertising Sets", bit: (37, 1), Fields(.leClearAdvertisingSets),
      features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    package let leSetPeriodicAdvertisingParameters = Row(
      0x203E, "LE Set Periodic Advertising Parameters [v1]", bit: (37, 2),
      Fields(Command.leSetPeriodicAdvertisingParameters), features: .periodicAdvertising, roles: .advertiser,
      generation: .extended)
    package let leSetPeriodicAdvertisingData = Row(
      0x203F, "LE Set Periodic Advertising Data", bit: (37, 3),
      Fields(decode: { (reader) throws(DecodingError) in
        .leSetPeriodicAdvertisingData(
          try AdvertisingHandle(from: &reader),
          try AdvertisingDataFragment(from: &reader, isPeriodic: true))
      }), features: .periodicAdvertising, roles: .advertiser, generation: .extended)
    package let leSetPeriodicAdvertisingEnable = Row(
      0x2040, "LE Set Periodic Advertising Enable", bit: (37, 4), Fields(Command.leSetPeriodicAdvertisingEnable),
      features: .periodicAdvertising, roles: .advertiser, generation: .extended)
    package let leSetExtendedScanParameters = Row(
      0x2041, "LE Set Extended Scan Parameters", bit: (37, 5), Fields(Command.leSetExtendedScanParameters),
      features: .extendedAdvertising, roles: .scanner, generation: .extended)
    package let leSetExtendedScanEnable = Row(
      0x2042, "LE Set Extended Scan Enable", bit: (37, 6), Fields(Command.leSetExtendedScanEnable),
      features: .extendedAdvertising, roles: .scanner, generation: .extended)
    package let leExtendedCreateConnection = Row(
      0x2043, "LE Extended Create Connection [v1]", bit: (37, 7), Fields(Command.leExtendedCreateConnection),
      .commandStatus, features: .extendedAdvertising, roles: .central, generation: .extended)
    package let lePeriodicAdvertisingCreateSync = Row(
      0x2044, "LE Periodic Advertising Create Sync", bit: (38, 0), Fields(Command.lePeriodicAdvertisingCreateSync),
      .commandStatus, features: .periodicAdvertising, roles: .scanner, generation: .extended)
    package let lePeriodicAdvertisingCreateSyncCancel = Row(
      0x2045, "LE Periodic Advertising Create Sync Cancel", bit: (38, 1),
      Fields(.lePeriodicAdvertisingCreateSyncCancel), features: .periodicAdvertising, roles: .scanner,
      generation: .extended)
    package let lePeriodicAdvertisingTerminateSync = Row(
      0x2046, "LE Periodic Advertising Terminate Sync", bit: (38, 2),
      Fields(Command.lePeriodicAdvertisingTerminateSync), features: .periodicAdvertising, roles: .scanner,
      generation: .extended)
    package let leAddDeviceToPeriodicAdvertiserList = Row(
      0x2047, "LE Add Device To Periodic Advertiser List", bit: (38, 3),
      Fields(Command.leAddDeviceToPeriodicAdvertiserList), features: .periodicAdvertising, roles: .scanner,
      generation: .extended)
    package let leRemoveDeviceFromPeriodicAdvertiserList = Row(
      0x2048, "LE Remove Device From Periodic Advertiser List", bit: (38, 4),
      Fields(Command.leRemoveDeviceFromPeriodicAdvertiserList), features: .periodicAdvertising, roles: .scanner,
      generation: .extended)
    package let leClearPeriodicAdvertiserList = Row(
      0x2049, "LE Clear Periodic Advertiser List", bit: (38, 5), Fields(.leClearPeriodicAdvertiserList),
      features: .periodicAdvertising, roles: .scanner, generation: .extended)
    package let leReadPeriodicAdvertiserListSize = Row(
      0x204A, "LE Read Periodic Advertiser List Size", bit: (38, 6), Fields(.leReadPeriodicAdvertiserListSize),
      .returns(ReturnParameters.lePeriodicAdvertiserListSize), features: .periodicAdvertising, roles: .scanner,
      generation: .extended)
    package let leReadTransmitPower = Row(
      0x204B, "LE Read Transmit Power", bit: (38, 7), Fields(.leReadTransmitPower),
      .returns(ReturnParameters.leTransmitPower), since: Version.bluetooth50)
    package let leReadRFPathCompensation = Row(
      0x204C, "LE Read RF Path Compensation", bit: (39, 0), Fields(.leReadRFPathCompensation),
      .returns(ReturnParameters.leRFPathCompensation))
    package let leWriteRFPathCompensation = Row(
      0x204D, "LE Write RF Path Compensation", bit: (39, 1), Fields(Command.leWriteRFPathCompensation))
    package let leSetPrivacyMode = Row(
      0x204E, "LE Set Privacy Mode", bit: (39, 2), Fields(Command.leSetPrivacyMode), features: .llPrivacy)
    package let leSetPeriodicAdvertisingReceiveEnable = Row(
      0x2059, "LE Set Periodic Advertising Receive Enable", bit: (40, 5),
      Fields(Command.leSetPeriodicAdvertisingReceiveEnable),
      features: [.periodicAdvertisingSyncTransferRecipient, .periodicAdvertisingADI], roles: .scanner)
    package let lePeriodicAdvertisingSyncTransfer = Row(
      0x205A, "LE Periodic Advertising Sync Transfer", bit: (40, 6), Fields(Command.lePeriodicAdvertisingSyncTransfer),
      .handle, features: .periodicAdvertisingSyncTransferSender)
    package let lePeriodicAdvertisingSetInfoTransfer = Row(
      0x205B, "LE Periodic Advertising Set Info Transfer", bit: (40, 7),
      Fields(Command.lePeriodicAdvertisingSetInfoTransfer), .handle, features: .periodicAdvertisingSyncTransferSender)
    package let leSetPeriodicAdvertisingSyncTransferParameters = Row(
      0x205C, "LE Set Periodic Advertising Sync Transfer Parameters", bit: (41, 0),
      Fields(Command.leSetPeriodicAdvertisingSyncTransferParameters), .handle,
      features: .periodicAdvertisingSyncTransferRecipient, generation: .extended)
    package let leSetDefaultPeriodicAdvertisingSyncTransferParameters = Row(
      0x205D, "LE Set Default Periodic Advertising Sync Transfer Parameters", bit: (41, 1),
      Fields(Command.leSetDefaultPeriodicAdvertisingSyncTransferParameters),
      features: .periodicAdvertisingSyncTransferRecipient, generation: .extended)
    package let leGenerateDHKeyV2 = Row(
      0x205E, "LE Generate DHKey [v2]", bit: (41, 2),
      Fields({ (coordinates: Octets<64>, usesDebugKey: Bool) in
        .leGenerateDHKeyV2(coordinates.octets, usesDebugKey: usesDebugKey)
      }), .commandStatus, since: Version.bluetooth51)
    package let leModifySleepClockAccuracy = Row(
      0x205F, "LE Modify Sleep Clock Accuracy", bit: (41, 4), Fields(Command.leModifySleepClockAccuracy),
      features: .sleepClockAccuracyUpdates)
    package let leReadBufferSizeV2 = Row(
      0x2060, "LE Read Buffer Size [v2]", bit: (41, 5), Fields(.leReadBufferSizeV2),
      .returns(ReturnParameters.leBufferSizeV2))
    package let leRequestPeerSCA = Row(
      0x206D, "LE Request Peer SCA", bit: (43, 2), Fields(Command.leRequestPeerSCA), .commandStatus,
      features: .sleepClockAccuracyUpdates)
    package let leSetHostFeature = Row(
      0x2074, "LE Set Host Feature [v1]", bit: (44, 1), Fields(Command.leSetHostFeature),
      features: .advertisingCodingSelection)
    package let leSetDataRelatedAddressChanges = Row(
      0x207C, "LE Set Data Related Address Changes", bit: (45, 6), Fields(Command.leSetDataRelatedAddressChanges),
      features: .llPrivacy)
    package let leSetExtendedAdvertisingParametersV2 = Row(
      0x207F, "LE Set Extended Advertising Parameters [v2]", bit: (46, 2),
      Fields(decode: { (reader) throws(DecodingError) in
        .leSetExtendedAdvertisingParametersV2(
          try ExtendedAdvertisingParameters(from: &reader, isV2: true))
      }), .returns(ReturnParameters.leSelectedTransmitPower), features: .advertisingCodingSelection,
      generation: .extended)
  }
}
