import BluetoothWire
import Testing

@testable import BluetoothController

/// A command's octets and the error that the specification requires for them.
private struct Refusal: CustomTestStringConvertible, Sendable {
  let opcode: HCI.Opcode
  let octets: [UInt8]
  let status: HCI.ErrorCode
  let why: String

  init(_ opcode: HCI.Opcode, _ octets: [UInt8], _ status: HCI.ErrorCode, _ why: String) {
    self.opcode = opcode
    self.octets = octets
    self.status = status
    self.why = why
  }

  var testDescription: String { "\(opcode): \(why)" }
}

/// Returns `octets` with some octets replaced.
private func changed(_ octets: [UInt8], _ changes: [Int: UInt8]) -> [UInt8] {
  var octets = octets
  for (index, value) in changes { octets[index] = value }
  return octets
}

private let peer: [UInt8] = [0, 1, 2, 3, 4, 5, 6]
private let connection: [UInt8] = [24, 0, 24, 0, 0, 0, 200, 0]

/// Valid commands, which the tests make invalid.
private enum Right {
  /// Interval 32 to 64, ADV_IND, public, peer, all channels, no filter.
  static let advertising: [UInt8] = [32, 0, 64, 0, 0, 0] + peer + [7, 0]
  /// Passive, 16 of 16, public, no filter.
  static let scanning: [UInt8] = [0, 16, 0, 16, 0, 0, 0]
  static let creating: [UInt8] = [16, 0, 16, 0, 0] + peer + [0] + connection + [0, 0, 0, 0]
  /// Handle 0, connectable, 32 to 64, all channels, public, peer, no filter, any power, 1M, no skip, 1M, SID 0, no
  /// notification.
  static let set: [UInt8] = [0, 1, 0, 32, 0, 0, 64, 0, 0, 7, 0] + peer + [0, 127, 1, 0, 1, 0, 0]
  /// Public, no filter, 1M, passive, 16 of 16.
  static let extendedScanning: [UInt8] = [0, 0, 1, 0, 16, 0, 16, 0]
  static let extendedCreating: [UInt8] = [0, 0] + peer + [1, 16, 0, 16, 0] + connection + [0, 0, 0, 0]
  /// No options, SID 0, peer, no skip, 1 s, any CTE.
  static let sync: [UInt8] = [0, 0] + peer + [0, 0, 100, 0, 0]
  /// Reports, no skip, 1 s, any CTE.
  static let transfer: [UInt8] = [2, 0, 0, 100, 0, 0]
}

/// Returns a row for each change that makes a command invalid.
private func refusals(_ opcode: HCI.Opcode, _ right: [UInt8], _ wrong: [([Int: UInt8], String)]) -> [Refusal] {
  wrong.map { Refusal(opcode, changed(right, $0.0), .invalidHCICommandParameters, $0.1) }
}

private let outOfRange: [Refusal] = {
  var rows: [Refusal] = []
  rows += refusals(
    .leSetAdvertisingParameters, Right.advertising,
    [
      ([0: 31], "interval below 20 ms"), ([2: 31], "largest interval below the smallest"),
      ([3: 0x41], "interval too long"),
      ([4: 5], "no such type"), ([5: 4], "no such own address type"),
      ([4: 1, 6: 2], "no such peer address type"), ([13: 0], "no channel"), ([13: 8], "no such channel"),
      ([14: 4], "no such filter policy"),
    ])
  rows += refusals(
    .leSetScanParameters, Right.scanning,
    [
      ([0: 2], "no such type"), ([1: 3, 3: 3], "interval below 2.5 ms"), ([3: 17], "window longer than the interval"),
      ([2: 0x41], "interval above 10.24 s"), ([5: 4], "no such own address type"), ([6: 4], "no such filter policy"),
    ])
  rows += refusals(
    .leCreateConnection, Right.creating,
    [
      ([0: 3, 2: 3], "scan interval below 2.5 ms"), ([2: 17], "scan window longer than the interval"),
      ([1: 0x41], "scan interval above 10.24 s"), ([4: 2], "no such filter policy"),
      ([5: 9], "no such peer address type"),
      ([12: 1], "no random address is set"), ([13: 5, 15: 5], "connection interval below 7.5 ms"),
      ([16: 0x0D], "connection interval above 4 s"), ([18: 2], "latency above 499"), ([19: 9], "timeout below 100 ms"),
      ([20: 0x0D], "timeout above 32 s"), ([17: 200], "timeout not longer than what the latency allows"),
    ])
  rows += refusals(
    .leSetExtendedAdvertisingParameters, Right.set,
    [
      ([0: 0xF0], "no such handle"), ([3: 31], "interval below 20 ms"),
      ([6: 31], "largest interval below the smallest"),
      ([9: 0], "no channel"), ([9: 8], "no such channel"), ([10: 4], "no such own address type"),
      ([18: 4], "no such filter policy"), ([23: 16], "no such SID"), ([24: 2], "no such notification"),
      ([1: 0b11], "connectable and scannable"), ([1: 0b10_0001], "connectable and anonymous"),
      ([1: 0b1000], "high duty cycle without direction"), ([1: 0b1_0001], "connectable, not scannable and legacy"),
    ])
  rows += refusals(
    .leSetExtendedScanParameters, Right.extendedScanning,
    [
      ([0: 4], "no such own address type"), ([1: 4], "no such filter policy"), ([2: 0], "no PHY"),
      ([3: 2], "no such type"),
      ([4: 3, 6: 3], "interval below 2.5 ms"), ([6: 17], "window longer than the interval"),
    ])
  rows += refusals(
    .leExtendedCreateConnection, Right.extendedCreating,
    [
      ([0: 2], "no such filter policy"), ([1: 4], "no such own address type"), ([2: 9], "no such peer address type"),
      ([9: 0], "no PHY"), ([9: 2], "2M alone"), ([10: 3, 12: 3], "scan interval below 2.5 ms"),
      ([14: 5, 16: 5], "connection interval below 7.5 ms"), ([19: 2], "latency above 499"),
      ([20: 9], "timeout below 100 ms"),
    ])
  rows += refusals(
    .lePeriodicAdvertisingCreateSync, Right.sync,
    [
      ([1: 16], "no such SID"), ([2: 2], "no such address type"), ([10: 2], "skip above 499"),
      ([11: 9], "timeout below 100 ms"), ([12: 0x41], "timeout above 163.84 s"),
    ])
  rows += refusals(
    .leSetDefaultPeriodicAdvertisingSyncTransferParameters, Right.transfer,
    [
      ([0: 4], "no such mode"), ([2: 2], "skip above 499"), ([3: 9], "timeout below 100 ms"),
      ([4: 0x41], "timeout too long"),
    ])
  return rows + others
}()

private let others: [Refusal] = [
  Refusal(.leSetAdvertisingData, [32] + [UInt8](repeating: 0, count: 31), .invalidHCICommandParameters, "32 octets"),
  Refusal(.leSetScanResponseData, [32] + [UInt8](repeating: 0, count: 31), .invalidHCICommandParameters, "32 octets"),
  Refusal(.leSetAdvertisingEnable, [2], .invalidHCICommandParameters, "neither on nor off"),
  Refusal(.leSetScanEnable, [2, 0], .invalidHCICommandParameters, "neither on nor off"),
  Refusal(.leSetScanEnable, [1, 2], .invalidHCICommandParameters, "no such duplicate filter"),
  Refusal(.leAddDeviceToFilterAcceptList, changed(peer, [0: 2]), .invalidHCICommandParameters, "no such type"),
  Refusal(.leSetHostChannelClassification, [0, 0, 0, 0, 0], .invalidHCICommandParameters, "no channel"),
  Refusal(.leWriteSuggestedDefaultDataLength, [26, 0, 72, 1], .invalidHCICommandParameters, "26 octets"),
  Refusal(.leWriteSuggestedDefaultDataLength, [252, 0, 72, 1], .invalidHCICommandParameters, "252 octets"),
  Refusal(.leWriteSuggestedDefaultDataLength, [27, 0, 71, 1], .invalidHCICommandParameters, "327 µs"),
  Refusal(.leWriteSuggestedDefaultDataLength, [27, 0, 0x91, 0x42], .invalidHCICommandParameters, "17,041 µs"),
  Refusal(.readLocalExtendedFeatures, [1], .invalidHCICommandParameters, "no such page"),
  Refusal(.setControllerToHostFlowControl, [4], .invalidHCICommandParameters, "no such mode"),
  Refusal(.leSetExtendedScanEnable, [1, 3, 0, 0, 0, 0], .invalidHCICommandParameters, "no such duplicate filter"),
  Refusal(.leSetExtendedScanEnable, [1, 2, 0, 0, 0, 0], .invalidHCICommandParameters, "periods without a period"),
  Refusal(
    .leSetExtendedScanEnable, [1, 0, 128, 0, 1, 0], .invalidHCICommandParameters, "a period as long as the duration"),
  Refusal(.leSetExtendedAdvertisingEnable, [1, 0], .invalidHCICommandParameters, "no set is to be enabled"),
  Refusal(.leSetResolvablePrivateAddressTimeout, [0, 0], .invalidHCICommandParameters, "0 s"),
  Refusal(.leSetResolvablePrivateAddressTimeout, [0x11, 0x0E], .invalidHCICommandParameters, "3,601 s"),
  Refusal(.leSetAddressResolutionEnable, [2], .invalidHCICommandParameters, "neither on nor off"),
]

private let notSupported: [Refusal] = [
  Refusal(.setControllerToHostFlowControl, [2], .unsupportedFeatureOrParameterValue, "synchronous data"),
  Refusal(
    .leSetExtendedAdvertisingParameters, changed(Right.set, [20: 4]), .unsupportedFeatureOrParameterValue, "PHY 4"),
  Refusal(
    .leSetExtendedAdvertisingParameters, changed(Right.set, [22: 0]), .unsupportedFeatureOrParameterValue, "PHY 0"),
  Refusal(
    .leSetExtendedAdvertisingParametersV2, changed(Right.set, [20: 3]) + [5, 0], .unsupportedFeatureOrParameterValue,
    "no such coding"),
  Refusal(
    .leSetExtendedScanParameters, changed(Right.extendedScanning, [2: 2]), .unsupportedFeatureOrParameterValue,
    "2M is not scanned"),
  Refusal(
    .leExtendedCreateConnection, changed(Right.extendedCreating, [9: 8]), .unsupportedFeatureOrParameterValue, "PHY 4"),
  Refusal(.leSetDefaultPHY, [0, 8, 1], .unsupportedFeatureOrParameterValue, "no such PHY"),
  Refusal(.leSetDataRelatedAddressChanges, [5, 4], .unsupportedFeatureOrParameterValue, "no such reason"),
  Refusal(
    .lePeriodicAdvertisingCreateSync, changed(Right.sync, [13: 0b1_0000]), .unsupportedFeatureOrParameterValue,
    "only with a Constant Tone Extension"),
  Refusal(.leSetHostFeature, [32, 1], .unsupportedFeatureOrParameterValue, "no such bit of the host"),
]

private let unknownAdvertisingSet: [Refusal] = [
  Refusal(.leSetAdvertisingSetRandomAddress, [5, 1, 2, 3, 4, 5, 0xC6], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetExtendedAdvertisingData, [5, 3, 0, 0], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetExtendedScanResponseData, [5, 3, 0, 0], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetExtendedAdvertisingEnable, [1, 1, 5, 0, 0, 0], .unknownAdvertisingIdentifier, ""),
  Refusal(.leRemoveAdvertisingSet, [5], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetPeriodicAdvertisingParameters, [5, 6, 0, 6, 0, 0, 0], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetPeriodicAdvertisingData, [5, 3, 0], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetPeriodicAdvertisingEnable, [1, 5], .unknownAdvertisingIdentifier, ""),
  Refusal(.leSetDataRelatedAddressChanges, [5, 1], .unknownAdvertisingIdentifier, ""),
  Refusal(.lePeriodicAdvertisingTerminateSync, [5, 0], .unknownAdvertisingIdentifier, "a synchronization"),
  Refusal(.leSetPeriodicAdvertisingReceiveEnable, [5, 0, 1], .unknownAdvertisingIdentifier, "a synchronization"),
  Refusal(.leRemoveDeviceFromPeriodicAdvertiserList, peer + [0], .unknownAdvertisingIdentifier, "an advertiser"),
]

private let unknownConnection: [Refusal] = {
  let handle: [UInt8] = [0x23, 0x01]
  let key = [UInt8](repeating: 1, count: 16)
  let octets: [(HCI.Opcode, [UInt8])] = [
    (.disconnect, handle + [0x13]), (.readRemoteVersionInformation, handle), (.readTransmitPowerLevel, handle + [0]),
    (.readAuthenticatedPayloadTimeout, handle), (.writeAuthenticatedPayloadTimeout, handle + [0xB8, 0x0B]),
    (.readRSSI, handle), (.leConnectionUpdate, handle + connection + [0, 0, 0, 0]), (.leReadChannelMap, handle),
    (.leReadRemoteFeatures, handle), (.leEnableEncryption, handle + [UInt8](repeating: 0, count: 10) + key),
    (.leLongTermKeyRequestReply, handle + key), (.leLongTermKeyRequestNegativeReply, handle),
    (.leRemoteConnectionParameterRequestReply, handle + connection + [0, 0, 0, 0]),
    (.leRemoteConnectionParameterRequestNegativeReply, handle + [0x3B]), (.leSetDataLength, handle + [27, 0, 72, 1]),
    (.leReadPHY, handle), (.leSetPHY, handle + [0, 1, 1, 0, 0]), (.leRequestPeerSCA, handle),
    (.lePeriodicAdvertisingSyncTransfer, handle + [0, 0, 0, 0]),
    (.lePeriodicAdvertisingSetInfoTransfer, handle + [0, 0, 0]),
    (.leSetPeriodicAdvertisingSyncTransferParameters, handle + Right.transfer),
  ]
  return octets.map { Refusal($0.0, $0.1, .unknownConnectionIdentifier, "") }
}()

private let notNow: [Refusal] = [
  Refusal(.leCreateConnectionCancel, [], .commandDisallowed, "nothing is being connected to"),
  Refusal(.lePeriodicAdvertisingCreateSyncCancel, [], .commandDisallowed, "nothing is being synchronized with"),
  Refusal(.leGenerateDHKey, [UInt8](repeating: 1, count: 64), .commandDisallowed, "there is no key pair"),
]

@Suite("Errors of commands")
struct ParameterErrorTests {
  /// Sends the command to a new controller, which must support it, and returns the status of its answer.
  private func status(of opcode: HCI.Opcode, _ octets: [UInt8]) -> HCI.ErrorCode? {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.start(device)
    let isSupported = device.controller.device.supports(opcode)
    #expect(isSupported, "\(opcode)")
    return device.send(raw: .command(opcode: opcode, parameters: ByteSlice(octets)), opcode: opcode)?.status
  }

  private func expect(_ row: Refusal) { #expect(status(of: row.opcode, row.octets) == row.status) }

  @Test("A parameter out of its range is refused with 0x12", arguments: outOfRange)
  private func invalid(_ row: Refusal) { expect(row) }

  @Test("An unsupported or reserved parameter value is refused with 0x11", arguments: notSupported)
  private func unsupported(_ row: Refusal) { expect(row) }

  @Test(
    "An unknown advertising set, synchronization or list entry is refused with 0x42",
    arguments: unknownAdvertisingSet)
  private func unknownSet(_ row: Refusal) { expect(row) }

  @Test("An unknown connection is refused with 0x02", arguments: unknownConnection)
  private func unknownHandle(_ row: Refusal) { expect(row) }

  @Test("A command in the wrong state is refused with 0x0C", arguments: notNow)
  private func disallowed(_ row: Refusal) { expect(row) }

  @Test("The unchanged commands of these tests succeed")
  func right() {
    for (opcode, octets): (HCI.Opcode, [UInt8]) in [
      (.leSetAdvertisingParameters, Right.advertising), (.leSetScanParameters, Right.scanning),
      (.leCreateConnection, Right.creating), (.leSetExtendedAdvertisingParameters, Right.set),
      (.leSetExtendedScanParameters, Right.extendedScanning), (.leExtendedCreateConnection, Right.extendedCreating),
      (.lePeriodicAdvertisingCreateSync, Right.sync),
      (.leSetDefaultPeriodicAdvertisingSyncTransferParameters, Right.transfer),
    ] {
      #expect(status(of: opcode, octets) == .success, "\(opcode)")
    }
  }

  @Test("Every supported command refuses 255 octets of zeros with 0x11 or 0x12")
  func lengths() throws {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.add(device)
    for opcode in device.controller.device.supportedOpcodes {
      // 255 octets of zeros are too many for every command: counts of zero are followed by further octets.
      let status = device.send(
        raw: .command(opcode: opcode, parameters: ByteSlice([UInt8](repeating: 0, count: 255))), opcode: opcode)?.status
      #expect(
        status.map { [.invalidHCICommandParameters, .unsupportedFeatureOrParameterValue].contains($0) } == true,
        "\(opcode)")
      device.send(.reset)
    }
  }
}
