import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Legacy and extended commands")
struct CommandGenerationTests {
  private static let legacy: [HCI.Opcode] = [
    .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
    .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
  ]
  private static let extended: [HCI.Opcode] = [
    .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingParametersV2, .leSetExtendedAdvertisingData,
    .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
    .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
    .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
    .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
    .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync,
    .leAddDeviceToPeriodicAdvertiserList, .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList,
    .leReadPeriodicAdvertiserListSize, .leSetDefaultPeriodicAdvertisingSyncTransferParameters,
  ]

  private func isRefused(_ opcode: HCI.Opcode, by device: ControllerHarness) -> Bool {
    let packet = HCI.Packet.command(opcode: opcode, parameters: [])
    return device.send(raw: packet, opcode: opcode)?.status == .commandDisallowed
  }

  private func device() -> (PerfectAir, ControllerHarness) {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.start(device)
    return (air, device)
  }

  @Test("After a legacy command every extended command is refused with 0x0C, until a reset", arguments: extended)
  func extendedAfterLegacy(_ opcode: HCI.Opcode) {
    let (air, device) = device()
    let isSupported = device.controller.device.supports(opcode)
    #expect(isSupported)
    #expect(!isRefused(.leSetScanParameters, by: device))
    #expect(isRefused(opcode, by: device))
    #expect(!isRefused(.leSetScanParameters, by: device))
    device.send(.reset)
    #expect(
      device.send(raw: .command(opcode: opcode, parameters: [0xFF]), opcode: opcode)?.status != .commandDisallowed)
    withExtendedLifetime(air) {}
  }

  @Test("After an extended command every legacy command is refused with 0x0C, until a reset", arguments: legacy)
  func legacyAfterExtended(_ opcode: HCI.Opcode) {
    let (air, device) = device()
    #expect(device.send(.leReadMaximumAdvertisingDataLength) == .success)
    #expect(isRefused(opcode, by: device))
    #expect(device.send(.leReadMaximumAdvertisingDataLength) == .success)
    device.send(.reset)
    #expect(!isRefused(opcode, by: device))
    withExtendedLifetime(air) {}
  }

  @Test("Commands that are neither legacy nor extended may be mixed with both")
  func neutral() {
    let (air, device) = device()
    for command: HCI.Command in [
      .leSetRandomAddress(0xC000_0000_0001), .leReadFilterAcceptListSize,
      .leSetScanParameters(
        HCI.ScanParameters(isActive: false, interval: 16, window: 16, ownAddressType: .public)),
      .leSetRandomAddress(0xC000_0000_0002), .leReadFilterAcceptListSize,
    ] {
      #expect(device.send(command) == .success)
    }
    withExtendedLifetime(air) {}
  }
}
