import BluetoothWire
import Testing

@testable import BluetoothController

/// Recorded start-up sequences of real hosts, with the checks that the hosts make on the answers.
@Suite("Init sequences of real hosts")
struct InitSequenceTests {
  private let air = PerfectAir()

  private func device(_ change: (inout ControllerConfiguration) -> Void = { _ in }) -> ControllerHarness {
    let device = ControllerHarness("device", address: 0x1122_3344_5566, change)
    air.add(device)
    return device
  }

  /// Sends a command, which must succeed, and returns its return parameters.
  @discardableResult
  private func succeed(
    _ device: ControllerHarness, _ command: HCI.Command, sourceLocation: SourceLocation = #_sourceLocation
  ) -> HCI.ReturnParameters? {
    let result = device.complete(command)
    #expect(result?.status == .success, "\(command.opcode)", sourceLocation: sourceLocation)
    return result
  }

  private func commands(_ device: ControllerHarness) -> HCI.SupportedCommands {
    guard case .localSupportedCommands(let commands)? = succeed(device, .readLocalSupportedCommands) else {
      Issue.record("no bitmap")
      return HCI.SupportedCommands()
    }
    return commands
  }

  private func features(_ device: ControllerHarness) -> HCI.LEFeatures {
    guard case .leLocalSupportedFeatures(let features)? = succeed(device, .leReadLocalSupportedFeatures) else {
      Issue.record("no features")
      return []
    }
    return features
  }

  /// Sets the default data length to the maximum, and the preferred PHYs.
  private func linuxTail(_ device: ControllerHarness, _ features: HCI.LEFeatures) {
    succeed(device, .setEventMaskPage2(.authenticatedPayloadTimeoutExpired))
    guard case .leMaximumDataLength(let transmit, _)? = succeed(device, .leReadMaximumDataLength) else {
      Issue.record("LE Read Maximum Data Length gives no lengths")
      return
    }
    succeed(device, .leWriteSuggestedDefaultDataLength(transmit))
    var phys: HCI.PHYs = .le1M
    if features.contains(.le2MPHY) { phys.insert(.le2M) }
    if features.contains(.leCodedPHY) { phys.insert(.leCoded) }
    succeed(device, .leSetDefaultPHY(HCI.PHYPreference(transmit: phys, receive: phys)))
  }

  @Test("Linux 6.1 sends the commands that the bitmap and the features offer, and all of them succeed")
  func linux() {
    let device = device()
    succeed(device, .reset)
    guard case .localSupportedFeatures(let lmp)? = succeed(device, .readLocalSupportedFeatures) else {
      Issue.record("Read Local Supported Features gives no features")
      return
    }
    // With BR/EDR claimed, Linux would send many more commands; without LE, none.
    #expect(lmp.contains(.bredrNotSupported) && lmp.contains(.leSupported))
    succeed(device, .readLocalVersionInformation)
    // Linux refuses an address of zeros.
    #expect(succeed(device, .readBDADDR) == .bdADDR(0x1122_3344_5566))
    let commands = commands(device)
    #expect(!lmp.contains(.extendedFeatures))
    let features = features(device)
    guard case .leBufferSize(let length, let count)? = succeed(device, .leReadBufferSize) else {
      Issue.record("LE Read Buffer Size gives no size")
      return
    }
    #expect(length >= 27 && count > 0)
    succeed(device, .leReadSupportedStates)
    succeed(device, .setEventMask(HCI.EventMask(rawValue: 0x2000_8000_0204_E890)))
    succeed(device, .leSetEventMask(HCI.LEEventMask(rawValue: 0x4DFF_FFFF)))
    let gated: [HCI.Command] = [
      .leReadAdvertisingPhysicalChannelTxPower, .leReadTransmitPower, .leReadFilterAcceptListSize,
      .leClearFilterAcceptList, .leReadResolvingListSize, .leClearResolvingList,
      .leSetResolvablePrivateAddressTimeout(900), .leReadMaximumDataLength, .leReadSuggestedDefaultDataLength,
      .leReadNumberOfSupportedAdvertisingSets,
    ]
    for command in gated where commands.contains(command.opcode) {
      // Linux omits the legacy command if there are advertising sets.
      if command.opcode == .leReadAdvertisingPhysicalChannelTxPower, features.contains(.extendedAdvertising) {
        continue
      }
      succeed(device, command)
    }
    linuxTail(device, features)
  }

  @Test("The thirteen commands that Linux 6.1 sends for an empty bitmap all succeed")
  func linuxWithoutBitmap() {
    let device = device()
    for command: HCI.Command in [
      .reset, .readLocalSupportedFeatures, .readLocalVersionInformation, .readBDADDR, .readLocalSupportedCommands,
      .leReadLocalSupportedFeatures, .leReadBufferSize, .leReadSupportedStates,
      .setEventMask(HCI.EventMask(rawValue: 0x2000_8000_0204_E890)),
      .leSetEventMask(HCI.LEEventMask(rawValue: 0x4DFF_FFFF)),
      .setEventMaskPage2(.authenticatedPayloadTimeoutExpired),
      .leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2120)),
      .leSetDefaultPHY(HCI.PHYPreference(transmit: [.le1M, .le2M], receive: [.le1M, .le2M])),
    ] { succeed(device, command) }
  }

  @Test("Linux 6.1 starts on a Bluetooth 4.0 controller too")
  func linuxWithOldController() {
    let device = device { configuration in
      configuration = .bluetooth40Peripheral(address: configuration.address)
    }
    for command: HCI.Command in [
      .reset, .readLocalSupportedFeatures, .readLocalVersionInformation, .readBDADDR, .readLocalSupportedCommands,
      .leReadLocalSupportedFeatures, .leReadBufferSize, .leReadSupportedStates,
      .setEventMask(HCI.EventMask(rawValue: 0x2000_8000_0204_E890)), .leSetEventMask(.initial),
      .leReadAdvertisingPhysicalChannelTxPower, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    ] { succeed(device, command) }
  }

  @Test("All commands of Bumble's power-on succeed")
  func bumble() {
    let device = device()
    succeed(device, .reset)
    let commands = commands(device)
    succeed(device, .readLocalVersionInformation)
    let features = features(device)
    if commands.contains(.readLocalExtendedFeatures) {
      var page: UInt8 = 0
      var last: UInt8 = 0
      repeat {
        guard case .localExtendedFeatures(_, let maximum, _)? = succeed(device, .readLocalExtendedFeatures(page: page))
        else {
          Issue.record("Read Local Extended Features gives no page \(page)")
          return
        }
        last = maximum
        page += 1
      } while page <= last
    }
    succeed(device, .readLocalSupportedFeatures)
    succeed(device, .setEventMask(HCI.EventMask(rawValue: 0x3DBF_F807_FFFB_FFFF)))
    succeed(device, .setEventMaskPage2(.encryptionChangeV2))
    succeed(device, .leSetEventMask(HCI.LEEventMask(rawValue: 0x0F_FFFF_FFFF)))
    if commands.contains(.readBufferSize) { succeed(device, .readBufferSize) }
    succeed(device, commands.contains(.leReadBufferSizeV2) ? .leReadBufferSizeV2 : .leReadBufferSize)
    if commands.contains(.leReadSuggestedDefaultDataLength) {
      succeed(device, .leReadSuggestedDefaultDataLength)
      succeed(device, .leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2120)))
    }
    if features.contains(.extendedAdvertising) {
      succeed(device, .leReadNumberOfSupportedAdvertisingSets)
      succeed(device, .leReadMaximumAdvertisingDataLength)
    }
    succeed(device, .readBDADDR)
    if commands.contains(.writeLEHostSupport) { succeed(device, .writeLEHostSupport(true)) }
    succeed(device, .leSetRandomAddress(0xF0F1_F2F3_F4F5))
  }
}
