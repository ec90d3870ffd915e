import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("HCI of the controller")
struct HCITests {
  private let air = PerfectAir()
  private let device = ControllerHarness("device", address: 0x1111_1111_1111)
  private let gone = HCI.ConnectionHandle(rawValue: 0x0123)

  init() {
    air.start(device)
  }

  /// Returns a command packet with `count` octets of zero, which may be too few.
  private func raw(_ opcode: HCI.Opcode, count: Int) -> HCI.Packet {
    .command(opcode: opcode, parameters: ByteSlice(Array(repeating: 0, count: count)))
  }

  @Test("The controller knows exactly the commands of its bitmap")
  func bitmap() throws {
    guard case .localSupportedCommands(let commands)? = device.complete(.readLocalSupportedCommands) else {
      Issue.record("no bitmap")
      return
    }
    for group in [UInt8(0x01), 0x03, 0x04, 0x05, 0x08] {
      for number in UInt16(0)...0x90 {
        let opcode = HCI.Opcode(group: group, command: number)
        guard opcode != .reset, opcode != .readLocalSupportedCommands else { continue }
        // Exactly the commands outside the bitmap are answered with Unknown HCI Command.
        let answers = (0...40).map { device.send(raw: raw(opcode, count: $0), opcode: opcode)?.status }
        #expect(answers.allSatisfy { ($0 != .unknownHCICommand) == commands.contains(opcode) }, "\(opcode)")
      }
    }
    #expect(commands.contains(.reset))
  }

  @Test("The controller is a Low Energy controller of version 5.4 without BR/EDR")
  func identity() {
    #expect(
      device.complete(.readLocalVersionInformation)
        == .localVersionInformation(
          HCI.VersionInformation(
            hciVersion: 0x0D, hciSubversion: 1, lmpVersion: 0x0D, companyIdentifier: 0xFFFF, lmpSubversion: 1)))
    #expect(
      device.complete(.readLocalSupportedFeatures) == .localSupportedFeatures([.bredrNotSupported, .leSupported]))
    #expect(device.complete(.readBDADDR) == .bdADDR(0x1111_1111_1111))
    #expect(device.complete(.leReadBufferSize) == .leBufferSize(aclLength: 251, aclCount: 64))
    #expect(
      device.complete(.leReadMaximumDataLength)
        == .leMaximumDataLength(
          transmit: HCI.DataLength(octets: 251, time: 17_040),
          receive: HCI.DataLength(octets: 251, time: 17_040)))
  }

  @Test("LE Rand returns different numbers")
  func rand() {
    #expect(device.complete(.leRand) != device.complete(.leRand))
  }

  @Test("Commands for an unknown connection are refused with 0x02")
  func unknownConnection() {
    let commands: [HCI.Command] = [
      .disconnect(gone, reason: .remoteUserTerminatedConnection), .readRemoteVersionInformation(gone),
      .readTransmitPowerLevel(gone, isMaximum: false), .readRSSI(gone), .leReadChannelMap(gone),
      .leReadRemoteFeatures(gone), .leSetDataLength(gone, HCI.DataLength(octets: 27, time: 328)),
      .writeAuthenticatedPayloadTimeout(gone, 3000), .readAuthenticatedPayloadTimeout(gone),
      .leConnectionUpdate(
        gone, LinkParameters(minimumInterval: 6, maximumInterval: 6, latency: 0, supervisionTimeout: 100),
        HCI.ConnectionEventLength()),
    ]
    for command in commands { #expect(device.send(command) == .unknownConnectionIdentifier, "\(command)") }
  }

  @Test("Parameters outside their ranges are refused with 0x12", .requirement("L102"))
  func invalidParameters() {
    func advertising(_ change: (inout HCI.AdvertisingParameters) -> Void) -> HCI.Command {
      var parameters = HCI.AdvertisingParameters(
        minimumInterval: 32, maximumInterval: 64, type: .connectableScannableUndirected, ownAddressType: .public)
      change(&parameters)
      return .leSetAdvertisingParameters(parameters)
    }
    func scan(_ interval: UInt16, _ window: UInt16, _ policy: UInt8 = 0) -> HCI.Command {
      .leSetScanParameters(
        HCI.ScanParameters(
          isActive: false, interval: interval, window: window, ownAddressType: .public, filterPolicy: policy))
    }
    func create(_ change: (inout HCI.CreateConnection) -> Void) -> HCI.Command {
      var request = HCI.CreateConnection.to(device)
      change(&request)
      return .leCreateConnection(request)
    }
    let commands: [HCI.Command] = [
      advertising { $0.minimumInterval = 31 }, advertising { $0.maximumInterval = 31 },
      advertising { $0.maximumInterval = 0x4001 }, advertising { $0.channelMap = 0 },
      advertising { $0.channelMap = 8 }, advertising { $0.filterPolicy = 4 },
      scan(3, 3), scan(4, 5), scan(0x4001, 4), scan(16, 16, 4),
      create { $0.scanWindow = 100 }, create { $0.scanInterval = 3 }, create { $0.parameters.latency = 500 },
      create { $0.parameters.supervisionTimeout = 5 }, create { $0.parameters.maximumInterval = 5 },
      create { $0.ownAddressType = .random },
      .leSetHostChannelClassification(0), .leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 26, time: 328)),
      .leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 252, time: 328)),
      .leAddDeviceToFilterAcceptList(HCI.PeerAddress(type: 7, value: 1)),
    ]
    for command in commands { #expect(device.send(command) == .invalidHCICommandParameters, "\(command)") }
  }

  @Test("Parameters of an enabled activity can't be changed: 0x0C")
  func disallowed() {
    device.advertise()
    device.scan()
    #expect(device.send(.leSetRandomAddress(0xC000_0000_0001)) == .commandDisallowed)
    #expect(
      device.send(
        .leSetScanParameters(
          HCI.ScanParameters(isActive: false, interval: 16, window: 16, ownAddressType: .public)))
        == .commandDisallowed)
    #expect(
      device.send(
        .leSetAdvertisingParameters(
          HCI.AdvertisingParameters(
            minimumInterval: 32, maximumInterval: 64, type: .connectableScannableUndirected, ownAddressType: .public)))
        == .commandDisallowed)
  }

  @Test("The accept list holds the stated number of devices")
  func acceptListSize() {
    guard case .leFilterAcceptListSize(let size)? = device.complete(.leReadFilterAcceptListSize) else {
      Issue.record("no size")
      return
    }
    for number in 0..<UInt64(size) {
      #expect(device.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(type: 1, value: number))) == .success)
    }
    #expect(
      device.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(type: 1, value: 999))) == .memoryCapacityExceeded)
    #expect(device.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(type: 1, value: 0))) == .success)
    #expect(device.send(.leRemoveDeviceFromFilterAcceptList(HCI.PeerAddress(type: 1, value: 0))) == .success)
    #expect(device.send(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(type: 1, value: 999))) == .success)
    #expect(device.send(.leClearFilterAcceptList) == .success)
  }

  @Test("Masked events are never sent, and after a reset no LE meta event is sent")
  func masks() throws {
    for allows in [false, true] {
      let link = try LinkHarness()
      // The bit of LE Read Remote Features Complete, or that of LE Connection Complete · 7.8.1.
      link.central.send(.leSetEventMask(HCI.LEEventMask(rawValue: allows ? 1 << 3 : 1 << 0)))
      link.central.send(.leReadRemoteFeatures(link.centralHandle))
      link.runEvents(3)
      let came = link.central.events.contains {
        if case .leReadRemoteFeaturesComplete = $0 { true } else { false }
      }
      #expect(came == allows)
    }
    device.send(.reset)
    let other = ControllerHarness("other", address: 0x2222_2222_2222)
    air.start(other)
    other.advertise()
    device.scan()
    air.run(for: .seconds(1))
    #expect(device.reports.isEmpty)
  }

  @Test("RSSI is the level of the last packet")
  func rssi() throws {
    let link = try LinkHarness()
    #expect(link.central.complete(.readRSSI(link.centralHandle)) == .rssi(link.centralHandle, 127))
    link.runEvents(2)
    #expect(link.central.complete(.readRSSI(link.centralHandle)) == .rssi(link.centralHandle, -50))
  }

  @Test("A second connection to the same peer, and a connection beyond the limit, are refused", .requirement("L171"))
  func connectionLimits() throws {
    let link = try LinkHarness(central: { $0.connectionLimit = 1 })
    #expect(link.central.send(.leCreateConnection(.to(link.peripheral))) == .connectionLimitExceeded)
    link.central.advertise(.nonConnectableUndirected)
    link.central.send(.leSetAdvertisingEnable(false))
    link.central.send(
      .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: 32, maximumInterval: 64, type: .connectableScannableUndirected, ownAddressType: .public)))
    #expect(link.central.send(.leSetAdvertisingEnable(true)) == .connectionLimitExceeded)
    #expect(link.peripheral.send(.leCreateConnection(.to(link.central))) == .connectionAlreadyExists)
  }

  @Test("ACL packets beyond the number of buffers are dropped with a Data Buffer Overflow event")
  func bufferOverflow() throws {
    let link = try LinkHarness(central: { $0.aclBufferCount = 3 })
    for number in 0..<4 { link.central.send([UInt8(number)], on: link.centralHandle) }
    #expect(link.central.events == [.dataBufferOverflow(linkType: 1)])
    link.runEvents(3)
    #expect(link.peripheral.data.map(\.payload) == [[0], [1], [2]])
    #expect(link.central.completedPackets == 3)
    #expect(link.isAlive())
  }

  @Test("ACL packets for an unknown connection, and events from the host, have no effect")
  func strayPackets() {
    device.send([1, 2, 3], on: gone)
    device.controller.receive(.event(code: 0x0E, parameters: [1, 2, 3]), at: device.now)
    #expect(device.events.isEmpty && device.data.isEmpty)
    #expect(device.controller.deadline == nil)
  }

  @Test("Disconnect is refused with a reason that a host may not use, and when it is repeated")
  func disconnectErrors() throws {
    let link = try LinkHarness()
    #expect(
      link.central.send(.disconnect(link.centralHandle, reason: .connectionTimeout)) == .invalidHCICommandParameters)
    #expect(link.central.send(.disconnect(link.centralHandle, reason: .remoteUserTerminatedConnection)) == .success)
    #expect(
      link.central.send(.disconnect(link.centralHandle, reason: .remoteUserTerminatedConnection))
        == .commandDisallowed)
  }
}
