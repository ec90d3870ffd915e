import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Features and versions of a controller")
struct FeatureTests {
  /// Returns a link between a modern central and an accessory of 2010.
  private func link() throws -> LinkHarness {
    try LinkHarness(peripheral: { $0 = .bluetooth40Peripheral(address: $0.address, name: $0.name) })
  }

  private func oldDevice(_ air: PerfectAir) -> ControllerHarness {
    let device = ControllerHarness("old", address: 0x3333_3333_3333) {
      $0 = .bluetooth40Peripheral(address: $0.address, name: $0.name)
    }
    air.add(device)
    return device
  }

  @Test(
    "A Bluetooth 4.0 peripheral claims only encryption, its version, and states without scanning and initiating",
    .requirement("L079", "L099"))
  func claims() {
    let air = PerfectAir()
    let device = oldDevice(air)
    #expect(device.complete(.leReadLocalSupportedFeatures) == .leLocalSupportedFeatures(.encryption))
    guard case .localVersionInformation(let version)? = device.complete(.readLocalVersionInformation) else {
      Issue.record("no version")
      return
    }
    #expect(version.hciVersion == 6 && version.lmpVersion == 6)
    #expect(device.complete(.leReadBufferSize) == .leBufferSize(aclLength: 27, aclCount: 8))
    // Advertising of four kinds, the peripheral role, and that role with non-connectable advertising.
    #expect(device.complete(.leReadSupportedStates) == .leSupportedStates(0x30_008F))
  }

  @Test("Commands that a Bluetooth 4.0 peripheral lacks are neither in its bitmap nor executed")
  func commands() {
    let air = PerfectAir()
    let device = oldDevice(air)
    guard case .localSupportedCommands(let commands)? = device.complete(.readLocalSupportedCommands) else {
      Issue.record("no bitmap")
      return
    }
    let missing: [HCI.Opcode] = [
      .setEventMaskPage2, .readAuthenticatedPayloadTimeout, .writeAuthenticatedPayloadTimeout, .leSetScanParameters,
      .leSetScanEnable, .leCreateConnection, .leEnableEncryption, .leRemoteConnectionParameterRequestReply,
      .leSetDataLength, .leReadMaximumDataLength, .leReadLocalP256PublicKey, .leGenerateDHKey, .leGenerateDHKeyV2,
      .leReadPHY, .leSetDefaultPHY, .leSetPHY, .leReadTransmitPower, .leRequestPeerSCA,
      .leSetExtendedAdvertisingParameters, .leSetExtendedScanParameters, .leSetPrivacyMode,
    ]
    for opcode in missing {
      #expect(!commands.contains(opcode))
      let answer = device.send(raw: .command(opcode: opcode, parameters: []), opcode: opcode)
      #expect(answer?.status == .unknownHCICommand, "\(opcode)")
    }
    for opcode: HCI.Opcode in [.leSetAdvertisingEnable, .leLongTermKeyRequestReply, .leEncrypt, .disconnect] {
      #expect(commands.contains(opcode))
    }
  }

  @Test(
    "A controller without the central role has LE Set Host Channel Classification if a peripheral or advertiser uses it",
    arguments: [
      (.all, .encryption, true), ([.advertiser, .peripheral], .encryption, false),
      ([.advertiser, .peripheral], [.encryption, .channelClassification], true),
      ([.advertiser, .peripheral], [.encryption, .extendedAdvertising], true),
    ] as [(ControllerRoles, HCI.LEFeatures, Bool)])
  func channelClassification(_ roles: ControllerRoles, _ features: HCI.LEFeatures, _ isSupported: Bool) {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x3333_3333_3333) {
      $0.roles = roles
      $0.features = features
    }
    air.add(device)
    guard case .localSupportedCommands(let commands)? = device.complete(.readLocalSupportedCommands) else {
      Issue.record("no bitmap")
      return
    }
    #expect(commands.contains(.leSetHostChannelClassification) == isSupported)
    let status: HCI.ErrorCode = isSupported ? .success : .unknownHCICommand
    #expect(device.send(.leSetHostChannelClassification(0x1F)) == status)
  }

  @Test("With a Bluetooth 4.0 peripheral a connection uses PDUs of up to 27 octets, and no later procedure")
  func oldPeripheral() throws {
    let link = try link()
    link.central.send(.leReadRemoteFeatures(link.centralHandle))
    link.central.send(.readRemoteVersionInformation(link.centralHandle))
    link.central.send([UInt8](0..<100), on: link.centralHandle)
    link.peripheral.send([UInt8](0..<27), on: link.peripheralHandle)
    link.runEvents(20)
    #expect(link.central.events.contains(.leReadRemoteFeaturesComplete(.success, link.centralHandle, .encryption)))
    #expect(link.peripheral.data.flatMap(\.payload.bytes) == [UInt8](0..<100))
    #expect(link.central.data.flatMap(\.payload.bytes) == [UInt8](0..<27))
    #expect(link.air.log.allSatisfy { $0.isAdvertising || $0.packet.payload.count <= 27 })
    let known: [LL.ControlOpcode] = [
      .unknownRsp, .featureReq, .featureRsp, .versionInd, .terminateInd, .channelMapInd, .connectionUpdateInd,
    ]
    for sent in link.air.log where sent.device == link.peripheral.number {
      guard let opcode = sent.controlPDU?.opcode else { continue }
      #expect(known.contains(opcode), "\(opcode)")
    }
    #expect(link.isAlive())
  }

  @Test("ADV_IND has ChSel set if and only if the advertiser supports algorithm #2")
  func channelSelection() throws {
    for isOld in [false, true] {
      let link =
        isOld ? try link() : try LinkHarness()
      let chosen = link.air.log.compactMap { sent -> Bool? in
        if case .advInd(_, _, let usesAlgorithm2)? = sent.advertisingPDU { usesAlgorithm2 } else { nil }
      }
      #expect(!chosen.isEmpty && chosen.allSatisfy { $0 == !isOld })
    }
  }

  @Test("A peripheral without a feature answers the PDU of that feature with LL_UNKNOWN_RSP")
  func withoutDataLength() throws {
    let link = try LinkHarness(peripheral: { $0.features.remove(.dataPacketLengthExtension) })
    #expect(link.injectFromCentral([0x14, 251, 0, 0x48, 0x08, 251, 0, 0x48, 0x08]) == [[0x07, 0x14]])
    link.runEvents(10)
    #expect(link.isAlive())
  }

  @Test("LE Set Host Feature accepts only bits that a host may set, and is refused while there are connections")
  func hostFeature() throws {
    let air = PerfectAir()
    let device = ControllerHarness("device", address: 0x1111_1111_1111)
    air.add(device)
    #expect(device.send(.leSetHostFeature(bit: 32, true)) == .unsupportedFeatureOrParameterValue)
    #expect(device.send(.leSetHostFeature(bit: 200, true)) == .unsupportedFeatureOrParameterValue)
    #expect(device.send(.leSetHostFeature(bit: 41, true)) == .success)
    #expect(device.controller.device.features.contains(.advertisingCodingSelectionHostSupport))
    #expect(device.send(.leSetHostFeature(bit: 41, false)) == .success)
    #expect(!device.controller.device.features.contains(.advertisingCodingSelectionHostSupport))
    let link = try LinkHarness()
    #expect(link.central.send(.leSetHostFeature(bit: 41, true)) == .commandDisallowed)
    let plain = ControllerHarness("plain", address: 0x3333_3333_3333) {
      $0.features.remove(.advertisingCodingSelection)
    }
    air.add(plain)
    #expect(plain.send(.leSetHostFeature(bit: 41, true)) == .unknownHCICommand)
  }
}
