import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Periodic advertising")
struct PeriodicAdvertisingTests {
  private let air = PerfectAir()
  private let device = ControllerHarness("device", address: 0x2222_2222_2222)

  init() {
    air.start(device)
    device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.advertisingSID = 3 }))
  }

  /// An interval of 50 to 100 ms.
  private let parameters = HCI.PeriodicAdvertisingParameters(handle: 1, minimumInterval: 40, maximumInterval: 80)

  private var trains: [PerfectAir.Transmission] { air.log.filter { $0.train != nil } }

  private func begin(_ data: [UInt8], _ enable: HCI.PeriodicAdvertisingEnable = .enabled) {
    #expect(device.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(device.setPeriodicData(data) == .success)
    #expect(device.send(.leSetPeriodicAdvertisingEnable(enable, 1)) == .success)
    #expect(device.enable(1) == .success)
  }

  @Test("AUX_SYNC_IND comes every interval, on channels of algorithm #2, at the time and place of SyncInfo")
  func train() throws {
    begin([1, 2, 3])
    air.run(for: .seconds(3))
    #expect(trains.count >= 55)
    for (one, next) in zip(trains, trains.dropFirst()) { #expect(next.start - one.start == .milliseconds(50)) }
    #expect(trains.allSatisfy { $0.train?.data == [1, 2, 3] && $0.train?.dataInfo == nil })
    let auxiliary = air.log.filter { $0.isAdvertising && !$0.isPrimary }
    #expect(auxiliary.count >= 20)
    for packet in auxiliary.dropLast() {
      let info = try #require(packet.extended?.syncInfo)
      let earliest = packet.start + info.span
      let meant = try #require(trains.first { $0.start >= earliest && $0.start <= earliest + info.offset.unit })
      #expect(info.isValid && info.interval == 40)
      #expect(meant.packet.accessAddress == info.accessAddress && meant.packet.crcInit == info.crcInit)
      let selection = LL.ChannelSelection.algorithm2(accessAddress: info.accessAddress)
      #expect(
        meant.channel
          == selection.channel(event: Int(info.eventCounter), map: info.channelMap).radioChannel)
      #expect(packet.extended?.dataInfo?.sid == 3)
    }
  }

  @Test("The train continues when the set is disabled, and ends when the train is disabled")
  func independence() {
    begin([1])
    air.run(for: .seconds(1))
    device.disable(1)
    air.run(for: .milliseconds(20))
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(trains.count == 20 && trains.count == air.log.count)
    #expect(device.send(.leRemoveAdvertisingSet(1)) == .commandDisallowed)
    #expect(device.send(.leSetPeriodicAdvertisingEnable([], 1)) == .success)
    air.run(for: .milliseconds(20))
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(air.log.isEmpty)
    #expect(device.controller.deadline == nil)
  }

  @Test("Data that do not fit into AUX_SYNC_IND follow in a chain")
  func chain() throws {
    let data = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    begin(data)
    air.run(for: .seconds(1))
    let first = try #require(trains.first)
    let packets = [first] + air.chain(from: first)
    #expect(packets.count == 4)
    #expect(packets.flatMap { $0.train?.data.bytes ?? [] } == data)
    #expect(packets.allSatisfy { $0.packet.accessAddress == first.packet.accessAddress })
  }

  @Test("New data are in the next event, and have another DID if ADI is included")
  func changes() throws {
    begin([1], [.enabled, .includesADI])
    air.run(for: .seconds(1))
    let before = try #require(trains.last?.train?.dataInfo)
    #expect(before.sid == 3)
    #expect(device.setPeriodicData([2]) == .success)
    air.run(for: .milliseconds(10))
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(!trains.isEmpty && trains.allSatisfy { $0.train?.data == [2] && $0.train?.dataInfo != before })
    let after = try #require(trains.last?.train?.dataInfo)
    #expect(device.send(.leSetPeriodicAdvertisingData(1, HCI.AdvertisingDataFragment(.unchanged, []))) == .success)
    air.run(for: .seconds(1))
    #expect(trains.last?.train?.dataInfo != after)
  }

  @Test("The train includes TxPower if the host requests it")
  func transmitPower() {
    var parameters = parameters
    parameters.properties = .includesTransmitPower
    device.send(.leSetPeriodicAdvertisingParameters(parameters))
    device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1))
    device.enable(1)
    air.run(for: .milliseconds(500))
    #expect(!trains.isEmpty && trains.allSatisfy { $0.train?.transmitPower == 0 })
  }

  @Test("Invalid parameters and states of a train are refused with the error codes of the specification")
  func errors() {
    #expect(device.send(.leSetPeriodicAdvertisingEnable(.enabled, 2)) == .unknownAdvertisingIdentifier)
    #expect(device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .commandDisallowed)
    #expect(device.setPeriodicData([1]) == .commandDisallowed)
    var wrong = parameters
    wrong.minimumInterval = 5
    #expect(device.send(.leSetPeriodicAdvertisingParameters(wrong)) == .invalidHCICommandParameters)
    for properties in [.connectable, .scannable, .anonymous, .legacy] as [HCI.ExtendedAdvertisingParameters.Properties]
    {
      device.send(.leSetExtendedAdvertisingParameters(.every100ms(2, properties)))
      wrong = parameters
      wrong.handle = 2
      #expect(device.send(.leSetPeriodicAdvertisingParameters(wrong)) == .invalidHCICommandParameters)
      device.send(.leRemoveAdvertisingSet(2))
    }
    #expect(device.send(.leSetPeriodicAdvertisingParameters(parameters)) == .success)
    #expect(
      device.send(.leSetPeriodicAdvertisingData(1, HCI.AdvertisingDataFragment(.first, [1]))) == .success)
    #expect(device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .commandDisallowed)
    #expect(device.setPeriodicData(Array(repeating: 1, count: 1_651)) == .memoryCapacityExceeded)
    #expect(device.send(.leSetPeriodicAdvertisingEnable(.enabled, 1)) == .success)
    #expect(device.send(.leSetPeriodicAdvertisingParameters(parameters)) == .commandDisallowed)
    #expect(
      device.send(.leSetExtendedAdvertisingParameters(.every100ms(1, .connectable))) == .invalidHCICommandParameters)
  }

  @Test("LL_PERIODIC_SYNC_IND gives the place of the train relative to an event of the connection")
  func periodicSyncInd() throws {
    let other = ControllerHarness("other", address: 0x1111_1111_1111)
    air.start(other)
    device.send(.leSetExtendedAdvertisingParameters(.every100ms(2, .connectable)))
    device.enable(2)
    other.connectExtended(to: device)
    #expect(air.run(until: { !device.connectionCompletes.isEmpty }))
    let handle = try #require(device.connectionCompletes.first).handle
    func transfer(_ connection: HCI.ConnectionHandle, _ set: HCI.AdvertisingHandle) -> HCI.ErrorCode? {
      device.send(.lePeriodicAdvertisingSetInfoTransfer(connection, serviceData: 0x1234, set))
    }
    #expect(transfer(HCI.ConnectionHandle(rawValue: 0x0EEE), 1) == .unknownConnectionIdentifier)
    #expect(transfer(handle, 9) == .unknownAdvertisingIdentifier)
    #expect(transfer(handle, 1) == .commandDisallowed)
    begin([1, 2, 3])
    air.run(for: .seconds(1))
    air.clearLog()
    #expect(transfer(handle, 1) == .success)
    let event = try #require(device.controller.connections.first).schedule.next
    let anchor = try #require(device.controller.connections.first).schedule.anchor(of: event)
    air.run(for: .milliseconds(500))
    let sent = air.log.compactMap { packet -> LL.PeriodicSyncTransfer? in
      if case .periodicSyncInd(let transfer)? = packet.controlPDU { transfer } else { nil }
    }
    let sentTransfer = try #require(sent.first)
    #expect(
      sentTransfer.serviceData == 0x1234 && sentTransfer.advertisingSID == 3
        && sentTransfer.advertiser == device.address)
    #expect(sentTransfer.connectionEventCount == UInt16(truncatingIfNeeded: event))
    let earliest = anchor + sentTransfer.syncInfo.span
    let meant = trains.first { $0.start >= earliest && $0.start <= earliest + sentTransfer.syncInfo.offset.unit }
    #expect(meant?.packet.accessAddress == sentTransfer.syncInfo.accessAddress)
  }
}
