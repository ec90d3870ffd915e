import BluetoothWire

@testable import BluetoothController

/// The limits of every parameter that has limits, in the order of the commands · Vol 4, Part E, 7.
enum FieldTable {
  static let rows: [FieldRule] = general + legacy + lists + connections + security + extended + scanning + periodic

  private static let flag: [UInt64] = [0, 1]
  private static let notFlag: [UInt64] = [2, 0xFF]

  private static let general: [FieldRule] = [
    FieldRule(
      .disconnect, "Reason", at: 0, on: .central, accepts: [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B],
      refuses: [0x00, 0x04, 0x06, 0x08, 0x12, 0x16, 0x19, 0x1B, 0x28, 0x2A, 0x3A, 0x3C, 0xFF]),
    FieldRule(.readTransmitPowerLevel, "Type", at: 0, on: .central, accepts: flag, refuses: notFlag),
    FieldRule(
      .setControllerToHostFlowControl, "Flow_Control_Enable", at: 0, accepts: flag, refuses: [4, 0xFF],
      unsupported: [2, 3]),
    FieldRule(
      .hostBufferSize, "Host_ACL_Data_Packet_Length", at: 0, width: 2, accepts: [27, 0xFFFF], refuses: [0, 26]),
    FieldRule(
      .hostBufferSize, "Host_Total_Num_ACL_Data_Packets", at: 3, width: 2, accepts: [1, 0xFFFF], refuses: [0]),
    // The interval is 30 ms, and the peripheral skips no event.
    FieldRule(
      .writeAuthenticatedPayloadTimeout, "Authenticated_Payload_Timeout", at: 0, width: 2, on: .central,
      accepts: [3, 0xFFFF], refuses: [0, 1, 2]),
    FieldRule(.readLocalExtendedFeatures, "Page_Number", at: 0, accepts: [0], refuses: [1, 0xFF]),
    // The sleep clock can't be more accurate than the device's hardware.
    FieldRule(.leModifySleepClockAccuracy, "Action", at: 0, accepts: [1], refuses: [2, 0xFF]),
    FieldRule(.leModifySleepClockAccuracy, "Action", at: 0, refuses: [0], .limitReached),
    FieldRule(
      .leSetHostFeature, "Bit_Number", at: 0, accepts: [UInt64(CommandTable.hostFeature)],
      unsupported: [0, 1, 40, 42, 63, 64, 0xFF]),
    FieldRule(.leSetHostFeature, "Bit_Value", at: 1, accepts: flag, refuses: notFlag),
  ]

  private static let legacy: [FieldRule] = [
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Interval_Min", at: 0, width: 2, accepts: [0x20, 0x40],
      refuses: [0, 0x1F, 0x41, 0xFFFF]),
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Interval_Max", at: 2, width: 2, accepts: [0x20, 0x4000],
      refuses: [0, 0x1F, 0x4001, 0xFFFF]),
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Interval_Min at high duty cycle", at: 0, width: 2, with: [4: 1],
      accepts: [0, 0x1F, 0xFFFF]),
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Type", at: 4, accepts: [0, 1, 2, 3, 4], refuses: [5, 0xFF]),
    FieldRule(
      .leSetAdvertisingParameters, "Own_Address_Type", at: 5, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
    FieldRule(
      .leSetAdvertisingParameters, "Peer_Address_Type at high duty cycle", at: 6, with: [4: 1], accepts: flag,
      refuses: notFlag),
    FieldRule(
      .leSetAdvertisingParameters, "Peer_Address_Type at low duty cycle", at: 6, with: [4: 4], accepts: flag,
      refuses: notFlag),
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Channel_Map", at: 13, accepts: [1, 2, 3, 4, 5, 6, 7], refuses: [0]),
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Filter_Policy", at: 14, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
    FieldRule(
      .leSetAdvertisingParameters, "Advertising_Filter_Policy, directed", at: 14, with: [4: 1],
      accepts: [0, 3, 4, 0xFF]),
    FieldRule(.leSetAdvertisingData, "Advertising_Data_Length", at: 0, accepts: [0, 1, 31], refuses: [32, 0xFF]),
    FieldRule(.leSetScanResponseData, "Scan_Response_Data_Length", at: 0, accepts: [0, 31], refuses: [32, 0xFF]),
    FieldRule(.leSetAdvertisingEnable, "Advertising_Enable", at: 0, accepts: flag, refuses: notFlag),
    FieldRule(.leSetScanParameters, "LE_Scan_Type", at: 0, accepts: flag, refuses: notFlag),
    FieldRule(
      .leSetScanParameters, "LE_Scan_Interval", at: 1, width: 2, accepts: [16, 0x4000], refuses: [0, 15, 0x4001]),
    FieldRule(
      .leSetScanParameters, "LE_Scan_Interval of 2.5 ms", at: 1, width: 2, with: [3: 4], accepts: [4], refuses: [3]),
    FieldRule(.leSetScanParameters, "LE_Scan_Window", at: 3, width: 2, accepts: [4, 16], refuses: [0, 3, 17]),
    FieldRule(.leSetScanParameters, "Own_Address_Type", at: 5, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
    FieldRule(.leSetScanParameters, "Scanning_Filter_Policy", at: 6, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
    FieldRule(.leSetScanEnable, "LE_Scan_Enable", at: 0, accepts: flag, refuses: notFlag),
    FieldRule(.leSetScanEnable, "Filter_Duplicates", at: 1, accepts: flag, refuses: notFlag),
    FieldRule(
      .leSetScanEnable, "Filter_Duplicates, ignored when scanning is disabled", at: 1, with: [0: 0],
      accepts: [0, 1, 2, 0xFF]),
  ]

  private static let lists: [FieldRule] = [
    FieldRule(.leAddDeviceToFilterAcceptList, "Address_Type", at: 0, accepts: [0, 1, 0xFF], refuses: [2, 3, 0xFE]),
    FieldRule(
      .leRemoveDeviceFromFilterAcceptList, "Address_Type", at: 0, accepts: [0, 1, 0xFF], refuses: [2, 3, 0xFE]),
    FieldRule(
      .leAddDeviceToResolvingList, "Peer_Identity_Address_Type", at: 0, with: [6: 0xC6], accepts: flag,
      refuses: notFlag),
    FieldRule(
      .leAddDeviceToResolvingList, "Peer_Identity_Address that is random", at: 6, with: [0: 1],
      accepts: [0xC0, 0xFF], refuses: [0x00, 0x40, 0x80]),
    FieldRule(
      .leAddDeviceToResolvingList, "Peer_Identity_Address that is on the list", at: 0, after: [onResolvingList],
      refuses: [0]),
    FieldRule(
      .leAddDeviceToResolvingList, "Peer_IRK that is on the list", at: 1, after: [onResolvingList], refuses: [2]),
    FieldRule(
      .leRemoveDeviceFromResolvingList, "Peer_Identity_Address_Type", at: 0, after: [onResolvingList], accepts: [0],
      refuses: notFlag),
    FieldRule(
      .leReadPeerResolvableAddress, "Peer_Identity_Address_Type", at: 0, accepts: flag,
      as: .unknownConnectionIdentifier, refuses: notFlag),
    FieldRule(
      .leReadLocalResolvableAddress, "Peer_Identity_Address_Type", at: 0, after: [onResolvingList], accepts: [0],
      refuses: notFlag),
    FieldRule(.leSetAddressResolutionEnable, "Address_Resolution_Enable", at: 0, accepts: flag, refuses: notFlag),
    FieldRule(
      .leSetResolvablePrivateAddressTimeout, "RPA_Timeout", at: 0, width: 2, accepts: [1, 0x0E10],
      refuses: [0, 0x0E11, 0xFFFF]),
    FieldRule(
      .leSetPrivacyMode, "Peer_Identity_Address_Type", at: 0, after: [onResolvingList], accepts: [0], refuses: notFlag),
    FieldRule(
      .leSetPrivacyMode, "Privacy_Mode", at: 7, after: [onResolvingList], accepts: flag, refuses: notFlag),
  ]

  private static let onResolvingList = FieldRule.Step(
    .leAddDeviceToResolvingList, CommandTable.peer + CommandTable.key + CommandTable.otherKey)

  private static let connections: [FieldRule] =
    initiating(.leCreateConnection, policy: 4, peer: 5, own: 12)
    + scanTimes(.leCreateConnection, at: 0, longest: 0x4000)
    + FieldRule.connectionParameters(.leCreateConnection, at: 13)
    + FieldRule.connectionParameters(.leConnectionUpdate, at: 0, on: .central)
    + FieldRule.connectionParameters(.leRemoteConnectionParameterRequestReply, at: 0, on: .asked)
    + dataLengths(.leSetDataLength, on: .central)
    + dataLengths(.leWriteSuggestedDefaultDataLength, on: .unconnected)
    + phyPreferences(.leSetDefaultPHY, on: .unconnected) + phyPreferences(.leSetPHY, on: .central)
    + [
      FieldRule(
        .leSetHostChannelClassification, "Channel_Map", at: 0, width: 5, accepts: [1, 3, 0x1F_FFFF_FFFF], refuses: [0]),
      FieldRule(.leSetPHY, "PHY_Options", at: 3, width: 2, on: .central, accepts: [0, 1, 2]),
    ]

  private static func initiating(_ code: HCI.Opcode, policy: Int, peer: Int, own: Int) -> [FieldRule] {
    [
      FieldRule(code, "Initiator_Filter_Policy", at: policy, accepts: flag, refuses: notFlag),
      FieldRule(
        code, "Peer_Address_Type", at: peer, accepts: [0, 1, 2, 3], refuses: [4, 0xFC, 0xFD, 0xFE, 0xFF]),
      FieldRule(
        code, "Peer_Address_Type, ignored with the Filter Accept List", at: peer, with: [policy: 1],
        accepts: [0, 4, 0xFE, 0xFF]),
      // The device has a public address and no random address.
      FieldRule(code, "Own_Address_Type", at: own, accepts: [0, 2], refuses: [1, 3, 4, 0xFF]),
    ]
  }

  private static func scanTimes(_ code: HCI.Opcode, at offset: Int, longest: UInt64) -> [FieldRule] {
    [
      FieldRule(
        code, "Scan_Interval", at: offset, width: 2, accepts: [16, longest],
        refuses: [0, 15] + (longest < 0xFFFF ? [longest + 1] : [])),
      FieldRule(
        code, "Scan_Interval of 2.5 ms", at: offset, width: 2, with: [offset + 2: 4], accepts: [4], refuses: [3]),
      FieldRule(code, "Scan_Window", at: offset + 2, width: 2, accepts: [4, 16], refuses: [0, 3, 17]),
    ]
  }

  private static func dataLengths(_ code: HCI.Opcode, on setup: FieldRule.Setup) -> [FieldRule] {
    [
      FieldRule(
        code, "TX_Octets", at: 0, width: 2, on: setup, accepts: [0x1B, 0xFB], refuses: [0, 0x1A, 0xFC, 0xFFFF]),
      FieldRule(
        code, "TX_Time", at: 2, width: 2, on: setup, accepts: [0x0148, 0x4290], refuses: [0, 0x0147, 0x4291, 0xFFFF]),
    ]
  }

  private static func phyPreferences(_ code: HCI.Opcode, on setup: FieldRule.Setup) -> [FieldRule] {
    let all: [UInt64] = [1, 2, 3, 4, 5, 6, 7]
    return [
      FieldRule(code, "TX_PHYs", at: 1, on: setup, accepts: all, refuses: [0], unsupported: [8, 9, 0xFF]),
      FieldRule(code, "RX_PHYs", at: 2, on: setup, accepts: all, refuses: [0], unsupported: [8, 9, 0xFF]),
      FieldRule(code, "TX_PHYs, ignored", at: 1, with: [0: 1], on: setup, accepts: [0, 1, 8, 0xFF]),
      FieldRule(code, "RX_PHYs, ignored", at: 2, with: [0: 2], on: setup, accepts: [0, 1, 8, 0xFF]),
    ]
  }

  private static let security: [FieldRule] = [
    FieldRule(.leGenerateDHKeyV2, "Key_Type", at: 64, accepts: [1], refuses: notFlag),
    FieldRule(.leGenerateDHKeyV2, "Key_Type without a key pair", at: 64, refuses: [0], .commandDisallowed),
    FieldRule(.leGenerateDHKeyV2, "Key_X_Coordinate that is not on the curve", at: 0, refuses: [0x77]),
    FieldRule(
      .leGenerateDHKeyV2, "Key_Type with a key pair", at: 64, after: [FieldRule.Step(.leReadLocalP256PublicKey, [])],
      accepts: flag),
  ]

  private static let scanning: [FieldRule] =
    [
      FieldRule(.leSetExtendedScanParameters, "Own_Address_Type", at: 0, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
      FieldRule(
        .leSetExtendedScanParameters, "Scanning_Filter_Policy", at: 1, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
      FieldRule(
        .leSetExtendedScanParameters, "Scanning_PHYs", at: 2, accepts: [1, 4], refuses: [0],
        unsupported: [2, 3, 8, 9, 0xFF]),
      FieldRule(.leSetExtendedScanParameters, "Scan_Type", at: 3, accepts: flag, refuses: notFlag),
      FieldRule(.leSetExtendedScanEnable, "Enable", at: 0, accepts: flag, refuses: notFlag),
      FieldRule(.leSetExtendedScanEnable, "Filter_Duplicates", at: 1, accepts: flag, refuses: [2, 3, 0xFF]),
      FieldRule(
        .leSetExtendedScanEnable, "Filter_Duplicates with periods", at: 1, with: [2: 1, 4: 1], accepts: [0, 1, 2],
        refuses: [3, 0xFF]),
      FieldRule(
        .leSetExtendedScanEnable, "Filter_Duplicates, ignored when scanning is disabled", at: 1, with: [0: 0],
        accepts: [0, 2, 3, 0xFF]),
      // A period of 1.28 s.
      FieldRule(
        .leSetExtendedScanEnable, "Duration", at: 2, width: 2, with: [4: 1], accepts: [0, 1, 127],
        refuses: [128, 0xFFFF]),
      FieldRule(
        .leSetExtendedScanEnable, "Duration, ignored when scanning is disabled", at: 2, width: 2, with: [0: 0, 4: 1],
        accepts: [128, 0xFFFF]),
    ]
    + scanTimes(.leSetExtendedScanParameters, at: 4, longest: 0xFFFF)
    + initiating(.leExtendedCreateConnection, policy: 0, peer: 2, own: 1)
    + scanTimes(.leExtendedCreateConnection, at: 10, longest: 0xFFFF)
    + FieldRule.connectionParameters(.leExtendedCreateConnection, at: 14)
    + [
      FieldRule(
        .leExtendedCreateConnection, "Initiating_PHYs", at: 9, accepts: [1, 4], refuses: [0, 2],
        unsupported: [8, 0x10, 0xFF])
    ]
}
