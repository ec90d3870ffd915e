extension HCI {
  /// The commands with names in this project and their opcodes. A command without a case here is decoded as `unknown`.
  package enum CommandCode: UInt16, CaseIterable, Hashable, Sendable {
    // Link Control · 7.1
    case disconnect = 0x0406
    case readRemoteVersionInformation = 0x041D

    // Controller & Baseband · 7.3
    case setEventMask = 0x0C01
    case reset = 0x0C03
    case readTransmitPowerLevel = 0x0C2D
    case setControllerToHostFlowControl = 0x0C31
    case hostBufferSize = 0x0C33
    case hostNumberOfCompletedPackets = 0x0C35
    case setEventMaskPage2 = 0x0C63
    case readLEHostSupport = 0x0C6C
    case writeLEHostSupport = 0x0C6D
    case readAuthenticatedPayloadTimeout = 0x0C7B
    case writeAuthenticatedPayloadTimeout = 0x0C7C

    // Informational Parameters · 7.4
    case readLocalVersionInformation = 0x1001
    case readLocalSupportedCommands = 0x1002
    case readLocalSupportedFeatures = 0x1003
    case readLocalExtendedFeatures = 0x1004
    case readBufferSize = 0x1005
    case readBDADDR = 0x1009

    // Status Parameters · 7.5
    case readRSSI = 0x1405

    // LE Controller · 7.8
    case leSetEventMask = 0x2001
    case leReadBufferSize = 0x2002
    case leReadLocalSupportedFeatures = 0x2003
    case leSetRandomAddress = 0x2005
    case leSetAdvertisingParameters = 0x2006
    case leReadAdvertisingPhysicalChannelTxPower = 0x2007
    case leSetAdvertisingData = 0x2008
    case leSetScanResponseData = 0x2009
    case leSetAdvertisingEnable = 0x200A
    case leSetScanParameters = 0x200B
    case leSetScanEnable = 0x200C
    case leCreateConnection = 0x200D
    case leCreateConnectionCancel = 0x200E
    case leReadFilterAcceptListSize = 0x200F
    case leClearFilterAcceptList = 0x2010
    case leAddDeviceToFilterAcceptList = 0x2011
    case leRemoveDeviceFromFilterAcceptList = 0x2012
    case leConnectionUpdate = 0x2013
    case leSetHostChannelClassification = 0x2014
    case leReadChannelMap = 0x2015
    case leReadRemoteFeatures = 0x2016
    case leEncrypt = 0x2017
    case leRand = 0x2018
    case leEnableEncryption = 0x2019
    case leLongTermKeyRequestReply = 0x201A
    case leLongTermKeyRequestNegativeReply = 0x201B
    case leReadSupportedStates = 0x201C
    case leReceiverTest = 0x201D
    case leTransmitterTest = 0x201E
    case leTestEnd = 0x201F
    case leRemoteConnectionParameterRequestReply = 0x2020
    case leRemoteConnectionParameterRequestNegativeReply = 0x2021
    case leSetDataLength = 0x2022
    case leReadSuggestedDefaultDataLength = 0x2023
    case leWriteSuggestedDefaultDataLength = 0x2024
    case leReadLocalP256PublicKey = 0x2025
    case leGenerateDHKey = 0x2026
    case leAddDeviceToResolvingList = 0x2027
    case leRemoveDeviceFromResolvingList = 0x2028
    case leClearResolvingList = 0x2029
    case leReadResolvingListSize = 0x202A
    case leReadPeerResolvableAddress = 0x202B
    case leReadLocalResolvableAddress = 0x202C
    case leSetAddressResolutionEnable = 0x202D
    case leSetResolvablePrivateAddressTimeout = 0x202E
    case leReadMaximumDataLength = 0x202F
    case leReadPHY = 0x2030
    case leSetDefaultPHY = 0x2031
    case leSetPHY = 0x2032
    case leSetAdvertisingSetRandomAddress = 0x2035
    case leSetExtendedAdvertisingParameters = 0x2036
    case leSetExtendedAdvertisingData = 0x2037
    case leSetExtendedScanResponseData = 0x2038
    case leSetExtendedAdvertisingEnable = 0x2039
    case leReadMaximumAdvertisingDataLength = 0x203A
    case leReadNumberOfSupportedAdvertisingSets = 0x203B
    case leRemoveAdvertisingSet = 0x203C
    case leClearAdvertisingSets = 0x203D
    case leSetPeriodicAdvertisingParameters = 0x203E
    case leSetPeriodicAdvertisingData = 0x203F
    case leSetPeriodicAdvertisingEnable = 0x2040
    case leSetExtendedScanParameters = 0x2041
    case leSetExtendedScanEnable = 0x2042
    case leExtendedCreateConnection = 0x2043
    case lePeriodicAdvertisingCreateSync = 0x2044
    case lePeriodicAdvertisingCreateSyncCancel = 0x2045
    case lePeriodicAdvertisingTerminateSync = 0x2046
    case leAddDeviceToPeriodicAdvertiserList = 0x2047
    case leRemoveDeviceFromPeriodicAdvertiserList = 0x2048
    case leClearPeriodicAdvertiserList = 0x2049
    case leReadPeriodicAdvertiserListSize = 0x204A
    case leReadTransmitPower = 0x204B
    case leReadRFPathCompensation = 0x204C
    case leWriteRFPathCompensation = 0x204D
    case leSetPrivacyMode = 0x204E
    case leSetPeriodicAdvertisingReceiveEnable = 0x2059
    case lePeriodicAdvertisingSyncTransfer = 0x205A
    case lePeriodicAdvertisingSetInfoTransfer = 0x205B
    case leSetPeriodicAdvertisingSyncTransferParameters = 0x205C
    case leSetDefaultPeriodicAdvertisingSyncTransferParameters = 0x205D
    case leGenerateDHKeyV2 = 0x205E
    case leModifySleepClockAccuracy = 0x205F
    case leReadBufferSizeV2 = 0x2060
    case leRequestPeerSCA = 0x206D
    case leSetHostFeature = 0x2074
    case leSetDataRelatedAddressChanges = 0x207C
    case leSetExtendedAdvertisingParametersV2 = 0x207F
  }
}

extension HCI.CommandCode {
  /// The facts about the command · Vol 4, Part E, 7; 3, table 3.1; 6.27.
  package var definition: HCI.CommandDefinition {
    switch self {
    case .disconnect: .init("Disconnect", bit: (0, 5), .commandStatus)
    case .readRemoteVersionInformation: .init("Read Remote Version Information", bit: (2, 7), .commandStatus)
    case .setEventMask: .init("Set Event Mask", bit: (5, 6))
    case .reset: .init("Reset", bit: (5, 7))
    case .readTransmitPowerLevel:
      .init("Read Transmit Power Level", bit: (10, 2), .commandComplete(.connection(.transmitPowerLevel)))
    case .setControllerToHostFlowControl: .init("Set Controller To Host Flow Control", bit: (10, 5))
    case .hostBufferSize: .init("Host Buffer Size", bit: (10, 6))
    case .hostNumberOfCompletedPackets: .init("Host Number Of Completed Packets", bit: (10, 7))
    case .setEventMaskPage2: .init("Set Event Mask Page 2", bit: (22, 2), features: .ping)
    case .readLEHostSupport: .init("Read LE Host Support", bit: (24, 5), .commandComplete(.leHostSupport))
    case .writeLEHostSupport: .init("Write LE Host Support", bit: (24, 6))
    case .readAuthenticatedPayloadTimeout:
      .init(
        "Read Authenticated Payload Timeout", bit: (32, 4), .commandComplete(.connection(.authenticatedPayloadTimeout)),
        features: .ping)
    case .writeAuthenticatedPayloadTimeout:
      .init(
        "Write Authenticated Payload Timeout", bit: (32, 5), .commandComplete(.connection(.handle)), features: .ping)
    case .readLocalVersionInformation:
      .init("Read Local Version Information", bit: (14, 3), .commandComplete(.localVersionInformation))
    case .readLocalSupportedCommands: .init("Read Local Supported Commands", .commandComplete(.localSupportedCommands))
    case .readLocalSupportedFeatures:
      .init("Read Local Supported Features", bit: (14, 5), .commandComplete(.localSupportedFeatures))
    case .readLocalExtendedFeatures:
      .init("Read Local Extended Features", bit: (14, 6), .commandComplete(.localExtendedFeatures))
    case .readBufferSize: .init("Read Buffer Size", bit: (14, 7), .commandComplete(.bufferSize))
    case .readBDADDR: .init("Read BD_ADDR", bit: (15, 1), .commandComplete(.bdADDR))
    case .readRSSI: .init("Read RSSI", bit: (15, 5), .commandComplete(.connection(.rssi)))
    case .leSetEventMask: .init("LE Set Event Mask", bit: (25, 0))
    case .leReadBufferSize: .init("LE Read Buffer Size [v1]", bit: (25, 1), .commandComplete(.leBufferSize))
    case .leReadLocalSupportedFeatures:
      .init("LE Read Local Supported Features", bit: (25, 2), .commandComplete(.leLocalSupportedFeatures))
    case .leSetRandomAddress: .init("LE Set Random Address", bit: (25, 4))
    case .leSetAdvertisingParameters:
      .init("LE Set Advertising Parameters", bit: (25, 5), roles: .advertiser, generation: .legacy)
    case .leReadAdvertisingPhysicalChannelTxPower:
      .init(
        "LE Read Advertising Physical Channel Tx Power", bit: (25, 6),
        .commandComplete(.leAdvertisingPhysicalChannelTxPower), roles: .advertiser, generation: .legacy)
    case .leSetAdvertisingData: .init("LE Set Advertising Data", bit: (25, 7), roles: .advertiser, generation: .legacy)
    case .leSetScanResponseData:
      .init("LE Set Scan Response Data", bit: (26, 0), roles: .advertiser, generation: .legacy)
    case .leSetAdvertisingEnable:
      .init("LE Set Advertising Enable", bit: (26, 1), roles: .advertiser, generation: .legacy)
    case .leSetScanParameters: .init("LE Set Scan Parameters", bit: (26, 2), roles: .scanner, generation: .legacy)
    case .leSetScanEnable: .init("LE Set Scan Enable", bit: (26, 3), roles: .scanner, generation: .legacy)
    case .leCreateConnection:
      .init("LE Create Connection", bit: (26, 4), .commandStatus, roles: .central, generation: .legacy)
    case .leCreateConnectionCancel: .init("LE Create Connection Cancel", bit: (26, 5), roles: .central)
    case .leReadFilterAcceptListSize:
      .init("LE Read Filter Accept List Size", bit: (26, 6), .commandComplete(.leFilterAcceptListSize))
    case .leClearFilterAcceptList: .init("LE Clear Filter Accept List", bit: (26, 7))
    case .leAddDeviceToFilterAcceptList: .init("LE Add Device To Filter Accept List", bit: (27, 0))
    case .leRemoveDeviceFromFilterAcceptList: .init("LE Remove Device From Filter Accept List", bit: (27, 1))
    case .leConnectionUpdate: .init("LE Connection Update", bit: (27, 2), .commandStatus)
    case .leSetHostChannelClassification:
      // A peripheral reports the classification to its central, and advertisers use it for auxiliary packets · 7.8.19.
      .init(
        "LE Set Host Channel Classification", bit: (27, 3), roles: .central,
        orFeatures: [.channelClassification, .extendedAdvertising])
    case .leReadChannelMap: .init("LE Read Channel Map", bit: (27, 4), .commandComplete(.connection(.leChannelMap)))
    case .leReadRemoteFeatures: .init("LE Read Remote Features", bit: (27, 5), .commandStatus)
    case .leEncrypt:
      // Key and plaintext. The plaintext is as sensitive as a key if the host derives keys this way · 7.8.22.
      .init("LE Encrypt", bit: (27, 6), .commandComplete(.leEncrypt), keys: 0..<32, returnedKeys: 1..<17)
    case .leRand: .init("LE Rand", bit: (27, 7), .commandComplete(.leRand), returnedKeys: 1..<9)
    case .leEnableEncryption:
      // After the handle, Rand and EDIV · 7.8.24.
      .init("LE Enable Encryption", bit: (28, 0), .commandStatus, features: .encryption, roles: .central, keys: 12..<28)
    case .leLongTermKeyRequestReply:
      // After the handle · 7.8.25.
      .init(
        "LE Long Term Key Request Reply", bit: (28, 1), .commandComplete(.connection(.handle)), features: .encryption,
        roles: .peripheral, keys: 2..<18)
    case .leLongTermKeyRequestNegativeReply:
      .init(
        "LE Long Term Key Request Negative Reply", bit: (28, 2), .commandComplete(.connection(.handle)),
        features: .encryption,
        roles: .peripheral)
    case .leReadSupportedStates: .init("LE Read Supported States", bit: (28, 3), .commandComplete(.leSupportedStates))
    case .leReceiverTest: .init("LE Receiver Test [v1]", bit: (28, 4))
    case .leTransmitterTest: .init("LE Transmitter Test [v1]", bit: (28, 5))
    case .leTestEnd: .init("LE Test End", bit: (28, 6))
    case .leRemoteConnectionParameterRequestReply:
      .init(
        "LE Remote Connection Parameter Request Reply", bit: (33, 4), .commandComplete(.connection(.handle)),
        features: .connectionParametersRequestProcedure)
    case .leRemoteConnectionParameterRequestNegativeReply:
      .init(
        "LE Remote Connection Parameter Request Negative Reply", bit: (33, 5), .commandComplete(.connection(.handle)),
        features: .connectionParametersRequestProcedure)
    case .leSetDataLength:
      .init(
        "LE Set Data Length", bit: (33, 6), .commandComplete(.connection(.handle)), features: .dataPacketLengthExtension
      )
    case .leReadSuggestedDefaultDataLength:
      .init(
        "LE Read Suggested Default Data Length", bit: (33, 7), .commandComplete(.leSuggestedDefaultDataLength),
        features: .dataPacketLengthExtension)
    case .leWriteSuggestedDefaultDataLength:
      .init("LE Write Suggested Default Data Length", bit: (34, 0), features: .dataPacketLengthExtension)
    case .leReadLocalP256PublicKey:
      .init("LE Read Local P-256 Public Key", bit: (34, 1), .commandStatus, since: HCI.Version.bluetooth42)
    case .leGenerateDHKey: .init("LE Generate DHKey [v1]", bit: (34, 2), .commandStatus, since: HCI.Version.bluetooth42)
    case .leAddDeviceToResolvingList:
      // Both keys, after the peer's address · 7.8.38.
      .init("LE Add Device To Resolving List", bit: (34, 3), features: .llPrivacy, keys: 7..<39)
    case .leRemoveDeviceFromResolvingList:
      .init("LE Remove Device From Resolving List", bit: (34, 4), features: .llPrivacy)
    case .leClearResolvingList: .init("LE Clear Resolving List", bit: (34, 5), features: .llPrivacy)
    case .leReadResolvingListSize:
      .init("LE Read Resolving List Size", bit: (34, 6), .commandComplete(.leResolvingListSize), features: .llPrivacy)
    case .leReadPeerResolvableAddress:
      .init(
        "LE Read Peer Resolvable Address", bit: (34, 7), .commandComplete(.lePeerResolvableAddress),
        features: .llPrivacy)
    case .leReadLocalResolvableAddress:
      .init(
        "LE Read Local Resolvable Address", bit: (35, 0), .commandComplete(.leLocalResolvableAddress),
        features: .llPrivacy)
    case .leSetAddressResolutionEnable: .init("LE Set Address Resolution Enable", bit: (35, 1), features: .llPrivacy)
    case .leSetResolvablePrivateAddressTimeout:
      .init("LE Set Resolvable Private Address Timeout", bit: (35, 2), features: .llPrivacy)
    case .leReadMaximumDataLength:
      .init(
        "LE Read Maximum Data Length", bit: (35, 3), .commandComplete(.leMaximumDataLength),
        features: .dataPacketLengthExtension)
    case .leReadPHY:
      .init("LE Read PHY", bit: (35, 4), .commandComplete(.connection(.lePHY)), features: [.le2MPHY, .leCodedPHY])
    case .leSetDefaultPHY: .init("LE Set Default PHY", bit: (35, 5), features: [.le2MPHY, .leCodedPHY])
    case .leSetPHY: .init("LE Set PHY", bit: (35, 6), .commandStatus, features: [.le2MPHY, .leCodedPHY])
    case .leSetAdvertisingSetRandomAddress:
      .init("LE Set Advertising Set Random Address", bit: (36, 1), features: .extendedAdvertising, roles: .advertiser)
    case .leSetExtendedAdvertisingParameters:
      .init(
        "LE Set Extended Advertising Parameters [v1]", bit: (36, 2), .commandComplete(.leSelectedTransmitPower),
        features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    case .leSetExtendedAdvertisingData:
      .init(
        "LE Set Extended Advertising Data", bit: (36, 3), features: .extendedAdvertising, roles: .advertiser,
        generation: .extended)
    case .leSetExtendedScanResponseData:
      .init(
        "LE Set Extended Scan Response Data", bit: (36, 4), features: .extendedAdvertising, roles: .advertiser,
        generation: .extended)
    case .leSetExtendedAdvertisingEnable:
      .init(
        "LE Set Extended Advertising Enable", bit: (36, 5), features: .extendedAdvertising, roles: .advertiser,
        generation: .extended)
    case .leReadMaximumAdvertisingDataLength:
      .init(
        "LE Read Maximum Advertising Data Length", bit: (36, 6), .commandComplete(.leMaximumAdvertisingDataLength),
        features: .extendedAdvertising, roles: .advertiser, generation: .extended)
    case .leReadNumberOfSupportedAdvertisingSets:
      .init(
        "LE Read Number of Supported Advertising Sets", bit: (36, 7),
        .commandComplete(.leNumberOfSupportedAdvertisingSets), features: .extendedAdvertising, roles: .advertiser,
        generation: .extended)
    case .leRemoveAdvertisingSet:
      .init(
        "LE Remove Advertising Set", bit: (37, 0), features: .extendedAdvertising, roles: .advertiser,
        generation: .extended)
    case .leClearAdvertisingSets:
      .init(
        "LE Clear Advertising Sets", bit: (37, 1), features: .extendedAdvertising, roles: .advertiser,
        generation: .extended)
    case .leSetPeriodicAdvertisingParameters:
      .init(
        "LE Set Periodic Advertising Parameters [v1]", bit: (37, 2), features: .periodicAdvertising, roles: .advertiser,
        generation: .extended)
    case .leSetPeriodicAdvertisingData:
      .init(
        "LE Set Periodic Advertising Data", bit: (37, 3), features: .periodicAdvertising, roles: .advertiser,
        generation: .extended)
    case .leSetPeriodicAdvertisingEnable:
      .init(
        "LE Set Periodic Advertising Enable", bit: (37, 4), features: .periodicAdvertising, roles: .advertiser,
        generation: .extended)
    case .leSetExtendedScanParameters:
      .init(
        "LE Set Extended Scan Parameters", bit: (37, 5), features: .extendedAdvertising, roles: .scanner,
        generation: .extended)
    case .leSetExtendedScanEnable:
      .init(
        "LE Set Extended Scan Enable", bit: (37, 6), features: .extendedAdvertising, roles: .scanner,
        generation: .extended)
    case .leExtendedCreateConnection:
      .init(
        "LE Extended Create Connection [v1]", bit: (37, 7), .commandStatus, features: .extendedAdvertising,
        roles: .central, generation: .extended)
    case .lePeriodicAdvertisingCreateSync:
      .init(
        "LE Periodic Advertising Create Sync", bit: (38, 0), .commandStatus, features: .periodicAdvertising,
        roles: .scanner, generation: .extended)
    case .lePeriodicAdvertisingCreateSyncCancel:
      .init(
        "LE Periodic Advertising Create Sync Cancel", bit: (38, 1), features: .periodicAdvertising, roles: .scanner,
        generation: .extended)
    case .lePeriodicAdvertisingTerminateSync:
      .init(
        "LE Periodic Advertising Terminate Sync", bit: (38, 2), features: .periodicAdvertising, roles: .scanner,
        generation: .extended)
    case .leAddDeviceToPeriodicAdvertiserList:
      .init(
        "LE Add Device To Periodic Advertiser List", bit: (38, 3), features: .periodicAdvertising, roles: .scanner,
        generation: .extended)
    case .leRemoveDeviceFromPeriodicAdvertiserList:
      .init(
        "LE Remove Device From Periodic Advertiser List", bit: (38, 4), features: .periodicAdvertising, roles: .scanner,
        generation: .extended)
    case .leClearPeriodicAdvertiserList:
      .init(
        "LE Clear Periodic Advertiser List", bit: (38, 5), features: .periodicAdvertising, roles: .scanner,
        generation: .extended)
    case .leReadPeriodicAdvertiserListSize:
      .init(
        "LE Read Periodic Advertiser List Size", bit: (38, 6), .commandComplete(.lePeriodicAdvertiserListSize),
        features: .periodicAdvertising, roles: .scanner, generation: .extended)
    case .leReadTransmitPower:
      .init("LE Read Transmit Power", bit: (38, 7), .commandComplete(.leTransmitPower), since: HCI.Version.bluetooth50)
    case .leReadRFPathCompensation:
      .init("LE Read RF Path Compensation", bit: (39, 0), .commandComplete(.leRFPathCompensation))
    case .leWriteRFPathCompensation: .init("LE Write RF Path Compensation", bit: (39, 1))
    case .leSetPrivacyMode: .init("LE Set Privacy Mode", bit: (39, 2), features: .llPrivacy)
    case .leSetPeriodicAdvertisingReceiveEnable:
      .init(
        "LE Set Periodic Advertising Receive Enable", bit: (40, 5),
        features: [.periodicAdvertisingSyncTransferRecipient, .periodicAdvertisingADI], roles: .scanner)
    case .lePeriodicAdvertisingSyncTransfer:
      .init(
        "LE Periodic Advertising Sync Transfer", bit: (40, 6), .commandComplete(.connection(.handle)),
        features: .periodicAdvertisingSyncTransferSender)
    case .lePeriodicAdvertisingSetInfoTransfer:
      .init(
        "LE Periodic Advertising Set Info Transfer", bit: (40, 7), .commandComplete(.connection(.handle)),
        features: .periodicAdvertisingSyncTransferSender)
    case .leSetPeriodicAdvertisingSyncTransferParameters:
      .init(
        "LE Set Periodic Advertising Sync Transfer Parameters", bit: (41, 0), .commandComplete(.connection(.handle)),
        features: .periodicAdvertisingSyncTransferRecipient, generation: .extended)
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters:
      .init(
        "LE Set Default Periodic Advertising Sync Transfer Parameters", bit: (41, 1),
        features: .periodicAdvertisingSyncTransferRecipient, generation: .extended)
    case .leGenerateDHKeyV2:
      .init("LE Generate DHKey [v2]", bit: (41, 2), .commandStatus, since: HCI.Version.bluetooth51)
    case .leModifySleepClockAccuracy:
      .init("LE Modify Sleep Clock Accuracy", bit: (41, 4), features: .sleepClockAccuracyUpdates)
    case .leReadBufferSizeV2: .init("LE Read Buffer Size [v2]", bit: (41, 5), .commandComplete(.leBufferSizeV2))
    case .leRequestPeerSCA:
      .init("LE Request Peer SCA", bit: (43, 2), .commandStatus, features: .sleepClockAccuracyUpdates)
    case .leSetHostFeature: .init("LE Set Host Feature [v1]", bit: (44, 1), features: .advertisingCodingSelection)
    case .leSetDataRelatedAddressChanges:
      .init("LE Set Data Related Address Changes", bit: (45, 6), features: .llPrivacy)
    case .leSetExtendedAdvertisingParametersV2:
      .init(
        "LE Set Extended Advertising Parameters [v2]", bit: (46, 2), .commandComplete(.leSelectedTransmitPower),
        features: .advertisingCodingSelection, generation: .extended)
    }
  }
}
