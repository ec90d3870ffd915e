import BluetoothWire

@testable import BluetoothController

/// The limits of the parameters of extended and periodic advertising · Vol 4, Part E, 7.8.52 to 7.8.63, 7.8.67 to
/// 7.8.92.
extension FieldTable {
  private static let flag: [UInt64] = [0, 1]
  private static let notFlag: [UInt64] = [2, 0xFF]

  /// Returns a step that creates the table's advertising set with some octets replaced.
  private static func made(_ changes: [Int: UInt8] = [:]) -> FieldRule.Step {
    FieldRule.Step(
      .leSetExtendedAdvertisingParameters,
      changes.reduce(into: CommandTable.advertisingSet) { $0[$1.key] = $1.value })
  }

  private static let scanResponse = FieldRule.Step(.leSetExtendedScanResponseData, [1, 3, 0, 3, 2, 9, 65])
  private static let data = FieldRule.Step(.leSetExtendedAdvertisingData, [1, 3, 0, 3, 2, 1, 6])
  private static let enabled = FieldRule.Step(.leSetExtendedAdvertisingEnable, [1, 1, 1, 0, 0, 0])
  private static let train = FieldRule.Step(.leSetPeriodicAdvertisingParameters, [1, 80, 0, 160, 0, 0, 0])

  static let extended: [FieldRule] = parameters + properties + fragments + enabling

  private static let parameters: [FieldRule] =
    setParameters(.leSetExtendedAdvertisingParameters, CommandTable.advertisingSet)
    + setParameters(.leSetExtendedAdvertisingParametersV2, CommandTable.advertisingSet + [0, 0])
    + [
      FieldRule(
        .leSetExtendedAdvertisingParametersV2, "Primary_Advertising_PHY_Options", at: 25, with: [20: 3],
        accepts: [0, 1, 2, 3, 4], unsupported: [5, 0xFF]),
      FieldRule(
        .leSetExtendedAdvertisingParametersV2, "Primary_Advertising_PHY_Options, ignored on LE 1M", at: 25,
        accepts: [0, 4, 5, 0xFF]),
      FieldRule(
        .leSetExtendedAdvertisingParametersV2, "Secondary_Advertising_PHY_Options", at: 26, with: [22: 3],
        accepts: [0, 1, 2, 3, 4], unsupported: [5, 0xFF]),
      FieldRule(
        .leSetExtendedAdvertisingParametersV2, "Secondary_Advertising_PHY_Options, ignored on LE 2M", at: 26,
        with: [22: 2], accepts: [0, 4, 5, 0xFF]),
      FieldRule(
        .leSetAdvertisingSetRandomAddress, "Advertising_Handle", at: 0, accepts: [0, 0xEF],
        as: .unknownAdvertisingIdentifier, refuses: [0xF0, 0xFF]),
      FieldRule(
        .leSetDataRelatedAddressChanges, "Change_Reasons", at: 1, after: [made()], accepts: [0, 1, 2, 3]),
      FieldRule(
        .leSetDataRelatedAddressChanges, "Advertising_Handle", at: 0, accepts: [0, 0xEF],
        as: .unknownAdvertisingIdentifier, refuses: [0xF0, 0xFF]),
    ]

  private static func setParameters(_ code: HCI.Opcode, _ base: [UInt8]) -> [FieldRule] {
    [
      FieldRule(code, "Advertising_Handle", at: 0, accepts: [0, 0xEF], refuses: [0xF0, 0xFF]),
      FieldRule(
        code, "Primary_Advertising_Interval_Min", at: 3, width: 3, accepts: [0x20, 0x40],
        refuses: [0, 0x1F, 0x41, 0xFF_FFFF]),
      FieldRule(
        code, "Primary_Advertising_Interval_Max", at: 6, width: 3, accepts: [0x20, 0xFF_FFFF], refuses: [0, 0x1F]),
      FieldRule(
        code, "Primary_Advertising_Interval_Min at high duty cycle", at: 3, width: 3, with: [1: 0x1D],
        accepts: [0, 0x1F, 0xFF_FFFF]),
      FieldRule(code, "Primary_Advertising_Channel_Map", at: 9, accepts: [1, 2, 3, 4, 5, 6, 7], refuses: [0]),
      FieldRule(code, "Own_Address_Type", at: 10, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
      FieldRule(
        code, "Peer_Address_Type, directed", at: 11, with: [1: 4], accepts: flag, refuses: notFlag),
      FieldRule(code, "Advertising_Filter_Policy", at: 18, accepts: [0, 1, 2, 3], refuses: [4, 0xFF]),
      FieldRule(
        code, "Advertising_Filter_Policy, directed", at: 18, with: [1: 5], accepts: [0, 3, 4, 0xFF]),
      // -127 to 20 dBm; 127 means no preference.
      FieldRule(
        code, "Advertising_TX_Power", at: 19, accepts: [0x81, 0, 20, 0x7F], refuses: [21, 0x7E, 0x80]),
      FieldRule(code, "Primary_Advertising_PHY", at: 20, accepts: [1, 3], unsupported: [0, 2, 4, 0xFF]),
      FieldRule(
        code, "Primary_Advertising_PHY of legacy PDUs", at: 20, with: [1: 0x10], accepts: [1], refuses: [3]),
      FieldRule(code, "Secondary_Advertising_Max_Skip", at: 21, accepts: [0, 0xFF]),
      FieldRule(code, "Secondary_Advertising_PHY", at: 22, accepts: [1, 2, 3], unsupported: [0, 4, 0xFF]),
      FieldRule(
        code, "Secondary_Advertising_PHY of legacy PDUs", at: 22, with: [1: 0x10], accepts: [0, 1, 4, 0xFF]),
      FieldRule(code, "Advertising_SID", at: 23, accepts: [0, 15], refuses: [16, 0xFF]),
      FieldRule(code, "Advertising_SID of legacy PDUs", at: 23, with: [1: 0x10], accepts: [0, 16, 0xFF]),
      FieldRule(code, "Scan_Request_Notification_Enable", at: 24, accepts: flag, refuses: notFlag),
    ]
  }

  private static let properties: [FieldRule] = [
    FieldRule(
      .leSetExtendedAdvertisingParameters, "Advertising_Event_Properties, legacy PDUs", at: 1, width: 2,
      accepts: [0x10, 0x12, 0x13, 0x15, 0x1D],
      refuses: [0x11, 0x14, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1E, 0x1F, 0x30, 0x50]),
    FieldRule(
      .leSetExtendedAdvertisingParameters, "Advertising_Event_Properties, extended PDUs", at: 1, width: 2,
      accepts: [0, 1, 2, 4, 5, 6, 0x20, 0x24, 0x40, 0x41, 0x42, 0x60],
      refuses: [3, 7, 8, 9, 0x0C, 0x0D, 0x21, 0x22, 0x25, 0x26]),
    // The set's data do not fit the type.
    FieldRule(
      .leSetExtendedAdvertisingParameters, "Advertising_Event_Properties of a set with data", at: 1, width: 2,
      after: [made(), data], accepts: [0, 1, 0x10, 0x13], refuses: [0x15, 0x1D, 2]),
    FieldRule(
      .leSetExtendedAdvertisingParameters, "Advertising_Event_Properties of an enabled set", at: 1, width: 2,
      after: [made(), enabled], refuses: [0, 1], .commandDisallowed),
    // Only an enabled train excludes other types · 7.8.53.
    FieldRule(
      .leSetExtendedAdvertisingParameters, "Advertising_Event_Properties of a set with a train", at: 1, width: 2,
      after: [made(), train], accepts: [0, 1, 2, 0x10, 0x20]),
    FieldRule(
      .leSetExtendedAdvertisingParameters, "Advertising_Event_Properties of a set with an enabled train", at: 1,
      width: 2, after: [made(), train, FieldRule.Step(.leSetPeriodicAdvertisingEnable, [1, 1])], accepts: [0, 4],
      refuses: [1, 2, 0x10, 0x20]),
  ]

  private static let fragments: [FieldRule] = [
    operation("data of a set that is not enabled", [made()], accepts: [1, 3], refuses: [0, 2, 4, 5, 0xFF]),
    operation("data of an enabled set", [made(), enabled], accepts: [3], refuses: [4, 5, 0xFF]),
    operation("data of an enabled set", [made(), enabled], refuses: [0, 1, 2], .commandDisallowed),
    operation("data of legacy PDUs", [made([1: 0x10])], accepts: [3], refuses: [0, 1, 2, 4]),
    operation("data of directed legacy PDUs", [made([1: 0x15])], refuses: [0, 1, 2, 3, 4]),
    operation("data of a scannable set", [made([1: 2])], refuses: [0, 1, 2, 3, 4]),
    emptyOperation(.leSetExtendedAdvertisingData, [made()], accepts: [3], refuses: [0, 1, 2, 4]),
    emptyOperation(.leSetExtendedAdvertisingData, [made(), data, enabled], accepts: [3, 4], refuses: [0, 1, 2]),
    emptyOperation(.leSetExtendedScanResponseData, [made()], accepts: [3], refuses: [0, 1, 2, 4]),
    emptyOperation(
      .leSetExtendedScanResponseData, [made([1: 2]), scanResponse, enabled], refuses: [3], .commandDisallowed),
    response("of a set that is not scannable", [made()], refuses: [0, 1, 2, 3, 4]),
    response("of a scannable set", [made([1: 2])], accepts: [1, 3], refuses: [0, 2, 4]),
    response("of scannable legacy PDUs", [made([1: 0x13])], accepts: [3], refuses: [0, 1, 2, 4]),
    response(
      "of an enabled set", [made([1: 2]), scanResponse, enabled], refuses: [0, 1, 2], .commandDisallowed),
    FieldRule(
      .leSetExtendedAdvertisingData, "Fragment_Preference", at: 2, after: [made()], accepts: flag, refuses: notFlag),
    length(31, [made([1: 0x10])], .success), length(32, [made([1: 0x10])], .invalidHCICommandParameters),
    length(251, [made()], .success),
    // No room after the header: one PDU holds all the data of a connectable set · 7.8.54.
    length(251, [made([1: 1])], .packetTooLong), length(251, [made([1: 1]), enabled], .packetTooLong),
  ]

  /// Returns a rule for the operation, with three octets of data.
  private static func operation(
    _ name: String, _ steps: [FieldRule.Step], accepts: [UInt64] = [], refuses: [UInt64],
    _ error: HCI.ErrorCode = .invalidHCICommandParameters
  ) -> FieldRule {
    FieldRule(
      .leSetExtendedAdvertisingData, "Operation, \(name)", at: 1, after: steps, accepts: accepts, refuses: refuses,
      error)
  }

  private static func response(
    _ name: String, _ steps: [FieldRule.Step], accepts: [UInt64] = [], refuses: [UInt64],
    _ error: HCI.ErrorCode = .invalidHCICommandParameters
  ) -> FieldRule {
    FieldRule(
      .leSetExtendedScanResponseData, "Operation, the scan response \(name)", at: 1, base: [1, 3, 0, 3, 2, 9, 65],
      after: steps, accepts: accepts, refuses: refuses, error)
  }

  private static func emptyOperation(
    _ code: HCI.Opcode, _ steps: [FieldRule.Step], accepts: [UInt64] = [], refuses: [UInt64],
    _ error: HCI.ErrorCode = .invalidHCICommandParameters
  ) -> FieldRule {
    FieldRule(
      code, "Operation without data", at: 1, base: [1, 3, 0, 0], after: steps, accepts: accepts, refuses: refuses,
      error)
  }

  /// Returns a rule for advertising data of a given length.
  private static func length(_ count: Int, _ steps: [FieldRule.Step], _ status: HCI.ErrorCode) -> FieldRule {
    FieldRule(
      .leSetExtendedAdvertisingData, "\(count) octets of data", at: 3,
      base: [1, 3, 0, 0] + [UInt8](repeating: 7, count: count), after: steps, accepts: [UInt64(count)], as: status)
  }

  private static let enabling: [FieldRule] = [
    FieldRule(.leSetExtendedAdvertisingEnable, "Enable", at: 0, after: [made()], accepts: flag, refuses: notFlag),
    FieldRule(.leSetExtendedAdvertisingEnable, "Num_Sets", at: 1, base: [1, 0], after: [made()], refuses: [0]),
    FieldRule(.leSetExtendedAdvertisingEnable, "Num_Sets", at: 1, base: [0, 0], after: [made()], accepts: [0]),
    FieldRule(
      .leSetExtendedAdvertisingEnable, "Advertising_Handle", at: 2, after: [made()], accepts: [1],
      refuses: [0xF0, 0xFF]),
    // The same set occurs twice · 7.8.56.
    FieldRule(
      .leSetExtendedAdvertisingEnable, "Enable for a set that is named twice", at: 0,
      base: [1, 2, 1, 0, 0, 0, 1, 0, 0, 0], after: [made()], refuses: flag),
    FieldRule(
      .leSetExtendedAdvertisingEnable, "Duration at high duty cycle", at: 3, width: 2, after: [made([1: 0x1D])],
      accepts: [1, 128], refuses: [0, 129, 0xFFFF]),
    FieldRule(
      .leSetExtendedAdvertisingEnable, "Enable for a scannable set without scan response", at: 0,
      after: [made([1: 2])], refuses: [1], .commandDisallowed),
    FieldRule(
      .leSetExtendedAdvertisingEnable, "Enable for a set with part of its data", at: 0,
      after: [made(), FieldRule.Step(.leSetExtendedAdvertisingData, [1, 1, 0, 1, 7])], refuses: [1],
      .commandDisallowed),
    FieldRule(
      .leSetExtendedAdvertisingEnable, "Enable for a set without its random address", at: 0, after: [made([10: 1])],
      accepts: [0], refuses: [1]),
    FieldRule(
      .leRemoveAdvertisingSet, "Advertising_Handle", at: 0, accepts: [0, 0xEF], as: .unknownAdvertisingIdentifier,
      refuses: [0xF0, 0xFF]),
  ]

  static let periodic: [FieldRule] = trains + syncs

  private static let trains: [FieldRule] = [
    FieldRule(
      .leSetPeriodicAdvertisingParameters, "Periodic_Advertising_Interval_Min", at: 1, width: 2, after: [made()],
      accepts: [6, 160], refuses: [0, 5, 161, 0xFFFF]),
    FieldRule(
      .leSetPeriodicAdvertisingParameters, "Periodic_Advertising_Interval_Max", at: 3, width: 2, after: [made()],
      accepts: [80, 0xFFFF], refuses: [0, 79]),
    FieldRule(
      .leSetPeriodicAdvertisingParameters, "Advertising_Handle", at: 0, accepts: [0, 0xEF],
      as: .unknownAdvertisingIdentifier, refuses: [0xF0, 0xFF]),
    FieldRule(
      .leSetPeriodicAdvertisingData, "Operation", at: 1, after: [made(), train], accepts: [1, 3],
      refuses: [0, 2, 4, 5, 0xFF]),
    FieldRule(
      .leSetPeriodicAdvertisingData, "Operation without data", at: 1, base: [1, 3, 0], after: [made(), train],
      accepts: [3], refuses: [0, 1, 2, 4]),
    FieldRule(
      .leSetPeriodicAdvertisingData, "Operation while enabled", at: 1,
      after: [made(), train, FieldRule.Step(.leSetPeriodicAdvertisingEnable, [1, 1])], refuses: [0, 1, 2],
      .commandDisallowed),
    // 252 octets need 2.1 ms on LE 1M, and 17 ms on LE Coded, which is more than the interval of 7.5 ms.
    FieldRule(
      .leSetPeriodicAdvertisingData, "252 octets in an interval of 7.5 ms", at: 2,
      base: [1, 3, 252] + [UInt8](repeating: 7, count: 252),
      after: [made([22: 3]), FieldRule.Step(.leSetPeriodicAdvertisingParameters, [1, 6, 0, 6, 0, 0, 0])],
      accepts: [252], as: .packetTooLong),
    FieldRule(
      .leSetPeriodicAdvertisingData, "252 octets in an interval of 7.5 to 200 ms", at: 2,
      base: [1, 3, 252] + [UInt8](repeating: 7, count: 252),
      after: [made([22: 3]), FieldRule.Step(.leSetPeriodicAdvertisingParameters, [1, 6, 0, 160, 0, 0, 0])],
      accepts: [252]),
    FieldRule(
      .leSetPeriodicAdvertisingEnable, "Enable", at: 0, after: [made(), train], accepts: [0, 1, 2, 3]),
    FieldRule(
      .leSetPeriodicAdvertisingEnable, "Enable on a set that is connectable now", at: 0,
      after: [made(), train, made([1: 1])], accepts: [0], refuses: [1], .commandDisallowed),
  ]

  private static let syncs: [FieldRule] =
    [
      FieldRule(.lePeriodicAdvertisingCreateSync, "Advertising_SID", at: 1, accepts: [0, 15], refuses: [16, 0xFF]),
      FieldRule(
        .lePeriodicAdvertisingCreateSync, "Advertising_SID, ignored with the list", at: 1, with: [0: 1],
        accepts: [0, 16, 0xFF]),
      FieldRule(
        .lePeriodicAdvertisingCreateSync, "Advertiser_Address_Type", at: 2, accepts: flag, refuses: notFlag),
      FieldRule(
        .lePeriodicAdvertisingCreateSync, "Advertiser_Address_Type, ignored with the list", at: 2, with: [0: 1],
        accepts: [0, 2, 0xFF]),
      FieldRule(
        .leAddDeviceToPeriodicAdvertiserList, "Advertiser_Address_Type", at: 0, accepts: flag, refuses: notFlag),
      FieldRule(
        .leAddDeviceToPeriodicAdvertiserList, "Advertising_SID", at: 7, accepts: [0, 15], refuses: [16, 0xFF]),
      FieldRule(
        .leAddDeviceToPeriodicAdvertiserList, "Advertiser_Address that is on the list", at: 1,
        after: [FieldRule.Step(.leAddDeviceToPeriodicAdvertiserList, CommandTable.peer + [0])], refuses: [1]),
      FieldRule(
        .leRemoveDeviceFromPeriodicAdvertiserList, "Advertiser_Address_Type", at: 0, accepts: flag,
        as: .unknownAdvertisingIdentifier, refuses: notFlag),
      FieldRule(
        .leRemoveDeviceFromPeriodicAdvertiserList, "Advertising_SID", at: 7, accepts: [0, 15],
        as: .unknownAdvertisingIdentifier, refuses: [16, 0xFF]),
      FieldRule(
        .lePeriodicAdvertisingTerminateSync, "Sync_Handle", at: 0, width: 2, accepts: [0, 0x0EFF],
        as: .unknownAdvertisingIdentifier),
    ]
    + keeping(.lePeriodicAdvertisingCreateSync, skip: 9)
    + transfers(.leSetDefaultPeriodicAdvertisingSyncTransferParameters, on: .unconnected)
    + transfers(.leSetPeriodicAdvertisingSyncTransferParameters, on: .central)

  private static func transfers(_ code: HCI.Opcode, on setup: FieldRule.Setup) -> [FieldRule] {
    [FieldRule(code, "Mode", at: 0, on: setup, accepts: [0, 1, 2, 3], refuses: [4, 0xFF])]
      + keeping(code, skip: 1, on: setup)
  }

  private static func keeping(
    _ code: HCI.Opcode, skip: Int, on setup: FieldRule.Setup = .unconnected
  ) -> [FieldRule] {
    var rules = [
      FieldRule(
        code, "Skip", at: skip, width: 2, on: setup, accepts: [0, 0x01F3], refuses: [0x01F4, 0xFFFF]),
      FieldRule(
        code, "Sync_Timeout", at: skip + 2, width: 2, on: setup, accepts: [0x000A, 0x4000],
        refuses: [0, 9, 0x4001, 0xFFFF]),
    ]
    // No advertiser would remain · 7.8.67.
    if code == .lePeriodicAdvertisingCreateSync {
      rules.append(
        FieldRule(
          code, "Sync_CTE_Type", at: skip + 4, accepts: [0, 1, 0x0F], refuses: [0x1F, 0xFF], .commandDisallowed))
    }
    return rules
  }
}
