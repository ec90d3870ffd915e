import BluetoothRadio
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothController

@Suite("Extended advertising")
struct ExtendedAdvertisingTests {
  private let air: PerfectAir
  private let device, other: ControllerHarness

  init() { (air, device, other) = PerfectAir.pair("device", "other") }

  private var primary: [PerfectAir.Transmission] { air.log.filter { $0.isPrimary && $0.device == 0 } }

  @Test("ADV_EXT_IND on 37, 38, 39 points to the AUX_ADV_IND with the address and the data")
  func auxiliaryPacket() throws {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.advertisingSID = 5 }))
    #expect(device.setData([3, 9, 65, 66]) == .success)
    #expect(device.enable(1) == .success)
    air.run(for: .seconds(1))
    #expect(primary.count >= 27)
    #expect(primary.prefix(3).map { ChannelIndex($0.channel).number } == [37, 38, 39])
    for packet in primary {
      let chain = air.chain(from: packet)
      #expect(chain.count == 1)
      let auxiliary = try #require(chain.first?.extended)
      #expect(packet.extended?.advertiser == nil && packet.extended?.data.isEmpty == true)
      #expect(packet.extended?.dataInfo?.sid == 5 && auxiliary.dataInfo == packet.extended?.dataInfo)
      #expect(auxiliary.advertiser == device.address && auxiliary.data == [3, 9, 65, 66])
      #expect(chain[0].start - packet.end >= LL.minimumAuxiliaryFrameSpace)
    }
    // The secondary channels vary.
    #expect(Set(air.log.filter { !$0.isPrimary }.map(\.channel)).count > 5)
  }

  @Test("Without data there is no AUX_ADV_IND, and ADV_EXT_IND has the address")
  func noAuxiliaryPacket() {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    device.enable(1)
    air.run(for: .milliseconds(500))
    #expect(!air.log.isEmpty && air.log.allSatisfy { $0.isPrimary })
    #expect(air.log.allSatisfy { $0.extended?.advertiser == device.address && $0.extended?.auxiliary == nil })
  }

  @Test(
    "An undirected anonymous set ignores its own address type",
    arguments: [HCI.OwnAddressType.public, .random, .resolvableOrPublic, .resolvableOrRandom])
  func anonymousOwnAddress(type: HCI.OwnAddressType) {
    // The set has no random address, and the resolving list has no entry.
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms(1, .anonymous) { $0.ownAddressType = type }
    #expect(device.send(.leSetExtendedAdvertisingParameters(parameters)) == .success)
    #expect(device.enable(1) == .success)
    air.run(for: .milliseconds(500))
    #expect(air.log.contains { !$0.isPrimary })
    #expect(air.log.allSatisfy { $0.extended?.advertiser == nil })
  }

  @Test("An anonymous set never sends its address")
  func anonymous() {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms(1, .anonymous)))
    device.setData([2, 1, 6])
    device.enable(1)
    air.run(for: .milliseconds(500))
    #expect(air.log.contains { !$0.isPrimary && $0.extended?.data == [2, 1, 6] })
    #expect(air.log.allSatisfy { $0.extended != nil && $0.extended?.advertiser == nil })
  }

  @Test(
    "1,650 octets are sent as a chain, each packet 300 µs or more after the packet that points to it",
    arguments: [RadioPHY.le1M, .le2M, .leCoded])
  func chain(phy: RadioPHY) throws {
    let data = (0..<1_650).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let parameters = HCI.ExtendedAdvertisingParameters.every100ms {
      ($0.primaryPHY, $0.secondaryPHY) = (phy == .leCoded ? .leCoded : .le1M, phy)
      ($0.minimumInterval, $0.maximumInterval) = (800, 800)
    }
    device.send(.leSetExtendedAdvertisingParameters(parameters))
    #expect(device.setData(data) == .success)
    #expect(device.enable(1) == .success)
    air.run(for: .seconds(1))
    let first = try #require(primary.first)
    let chain = air.chain(from: first)
    #expect(chain.count >= 7)
    #expect(chain.flatMap { $0.extended?.data.bytes ?? [] } == data)
    #expect(chain.allSatisfy { $0.modulation.phy == phy && $0.extended?.dataInfo == first.extended?.dataInfo })
    for (one, next) in zip(chain, chain.dropFirst()) {
      #expect(next.start - one.end >= LL.minimumAuxiliaryFrameSpace)
    }
    #expect(Set(chain.map(\.channel)).count > 1)
  }

  @Test(
    "The second version of the parameters lets a host choose the coding",
    arguments: [
      (HCI.ExtendedAdvertisingParameters.Coding.requiresS2, Modulation.codedS2), (.prefersS8, .codedS8),
      (.noPreference, .codedS8),
    ])
  func coding(_ coding: HCI.ExtendedAdvertisingParameters.Coding, _ modulation: Modulation) {
    device.send(
      .leSetExtendedAdvertisingParametersV2(
        .every100ms {
          ($0.primaryPHY, $0.secondaryPHY) = (.leCoded, .leCoded)
          ($0.primaryCoding, $0.secondaryCoding) = (coding, coding)
        }))
    device.setData([1])
    device.enable(1)
    air.run(for: .milliseconds(300))
    #expect(!air.log.isEmpty && air.log.allSatisfy { $0.modulation == modulation })
  }

  @Test("Several sets advertise concurrently, each with its own data and address")
  func severalSets() {
    for number in 0..<ControllerAdvertisingSets.capacity {
      let handle = HCI.AdvertisingHandle(rawValue: UInt8(number))
      #expect(
        device.send(
          .leSetExtendedAdvertisingParameters(
            .every100ms(handle) {
              $0.ownAddressType = .random
              $0.advertisingSID = UInt8(number)
            })) == .success)
      device.setData([UInt8(number)], of: handle)
      #expect(device.send(.leSetAdvertisingSetRandomAddress(handle, 0xC000_0000_0000 + UInt64(number))) == .success)
      #expect(device.enable(handle) == .success)
    }
    #expect(
      device.send(.leSetExtendedAdvertisingParameters(.every100ms(200))) == .memoryCapacityExceeded)
    air.run(for: .seconds(3))
    for number in 0..<ControllerAdvertisingSets.capacity {
      let own = air.log.filter { $0.extended?.dataInfo?.sid == UInt8(number) }
      #expect(own.count { $0.isPrimary } >= 3 * 25)
      let auxiliary = own.filter { !$0.isPrimary }
      #expect(auxiliary.count >= 25)
      #expect(auxiliary.allSatisfy { $0.extended?.data == [UInt8(number)] })
      #expect(auxiliary.allSatisfy { $0.extended?.advertiser?.value == 0xC000_0000_0000 + UInt64(number) })
    }
  }

  @Test("A set with the legacy property sends legacy PDUs")
  func legacyPDUs() {
    let types: [(HCI.ExtendedAdvertisingParameters.Properties, UInt16)] = [
      ([.legacy, .connectable, .scannable], 0), ([.legacy], 2), ([.legacy, .scannable], 6),
      ([.legacy, .connectable, .directed], 1),
    ]
    for (properties, code) in types {
      #expect(
        device.send(
          .leSetExtendedAdvertisingParameters(
            .every100ms(1, properties) { $0.peer = HCI.PeerAddress(other.address) })) == .success)
      if code != 1 { #expect(device.setData([2, 1, 6]) == .success) }
      device.enable(1)
      air.clearLog()
      air.run(for: .milliseconds(500))
      #expect(!air.log.isEmpty && air.log.allSatisfy { $0.packet.header & 0xF == code })
      device.disable(1)
      air.run(for: .milliseconds(10))
      device.send(.leRemoveAdvertisingSet(1))
    }
  }

  @Test(
    "A set ends after its duration, with 0x3C and, if the host gave a maximum, the number of its events",
    arguments: [UInt8(0), 100])
  func duration(maximumEvents: UInt8) {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    device.enable(1, duration: 50, maximumEvents: maximumEvents)
    air.run(for: .milliseconds(499))
    #expect(device.terminatedSets.isEmpty)
    air.run(for: .milliseconds(2))
    let events = primary.count { ChannelIndex($0.channel).number == 39 }
    #expect(events > 3)
    #expect(
      device.events.contains(
        .leAdvertisingSetTerminated(
          .advertisingTimeout, 1, HCI.ConnectionHandle(rawValue: 0),
          completedEvents: maximumEvents == 0 ? 0 : UInt8(events))))
    air.clearLog()
    air.run(for: .seconds(1))
    #expect(air.log.isEmpty)
  }

  @Test("A set that a connection has ended reports no number of events, even if the host gave a maximum")
  func connectedSet() throws {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms(1, .connectable)))
    device.enable(1, maximumEvents: 100)
    air.run(for: .milliseconds(250))
    other.connectExtended(to: device)
    air.run(for: .seconds(1))
    let handle = try #require(device.connectionCompletes.first).handle
    #expect(device.events.contains(.leAdvertisingSetTerminated(.success, 1, handle, completedEvents: 0)))
  }

  @Test("A set ends after its number of events, with 0x43, and can be enabled again")
  func maximumEvents() {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    device.setData([1, 2, 3])
    for _ in 0..<2 {
      device.clear()
      air.clearLog()
      device.enable(1, maximumEvents: 7)
      air.run(for: .seconds(3))
      #expect(
        device.events.contains(
          .leAdvertisingSetTerminated(.limitReached, 1, HCI.ConnectionHandle(rawValue: 0), completedEvents: 7)))
      #expect(primary.count == 21)
      #expect(air.log.count { !$0.isPrimary } == 7)
    }
  }

  @Test("Secondary_Advertising_Max_Skip is a maximum: every event has its AUX_ADV_IND", arguments: [UInt8(0), 1, 255])
  func maximumSkip(skip: UInt8) {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms { $0.secondaryMaximumSkip = skip }))
    device.setData([1])
    device.enable(1)
    air.run(for: .milliseconds(1_950))
    let primary = air.log.filter { $0.isPrimary }
    #expect(primary.count >= 50 && primary.allSatisfy { air.chain(from: $0).count == 1 })
  }

  @Test("New data change the DID, and so does a host that declares unchanged data as new")
  func dataID() throws {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms()))
    device.setData([1])
    device.enable(1)
    func did() throws -> UInt16 {
      air.clearLog()
      air.run(for: .milliseconds(300))
      return try #require(primary.last?.extended?.dataInfo?.did)
    }
    let first = try did()
    #expect(try did() == first)
    device.setData([2])
    let second = try did()
    #expect(second != first)
    #expect(air.chain(from: try #require(primary.last)).first?.extended?.data == [2])
    #expect(device.send(.leSetExtendedAdvertisingData(1, HCI.AdvertisingDataFragment(.unchanged, []))) == .success)
    #expect(try did() != second)
  }

  @Test("The power of a set is its transmit power, and the value of its TxPower field", .requirement("L080"))
  func transmitPower() throws {
    let selected = device.complete(
      .leSetExtendedAdvertisingParameters(
        .every100ms(1, .includesTransmitPower) { $0.transmitPower = -7 }))
    #expect(selected == .leSelectedTransmitPower(-7))
    let most = device.complete(.leSetExtendedAdvertisingParameters(.every100ms(2) { $0.transmitPower = -100 }))
    #expect(most == .leSelectedTransmitPower(-20))
    device.setData([1])
    device.enable(1)
    air.run(for: .milliseconds(100))
    #expect(air.chain(from: try #require(primary.first)).first?.extended?.transmitPower == -7)
  }

  @Test("Invalid parameters and states of a set are refused with the error codes of the specification")
  func errors() {
    func set(
      _ properties: HCI.ExtendedAdvertisingParameters.Properties,
      change: (inout HCI.ExtendedAdvertisingParameters) -> Void = { _ in }
    )
      -> HCI.ErrorCode?
    {
      device.send(.leSetExtendedAdvertisingParameters(.every100ms(1, properties, change: change)))
    }
    #expect(device.setData([1]) == .unknownAdvertisingIdentifier)
    #expect(device.enable(1) == .unknownAdvertisingIdentifier)
    #expect(device.send(.leRemoveAdvertisingSet(1)) == .unknownAdvertisingIdentifier)
    #expect(device.send(.leSetAdvertisingSetRandomAddress(1, 0xC000_0000_0001)) == .unknownAdvertisingIdentifier)
    #expect(set([.connectable, .scannable]) == .invalidHCICommandParameters)
    #expect(set([.anonymous, .connectable]) == .invalidHCICommandParameters)
    #expect(set([.highDutyCycle, .connectable, .directed]) == .invalidHCICommandParameters)
    #expect(set([.legacy, .connectable]) == .invalidHCICommandParameters)
    #expect(set([], change: { $0.channelMap = 0 }) == .invalidHCICommandParameters)
    #expect(set([], change: { $0.minimumInterval = 0x1F }) == .invalidHCICommandParameters)
    #expect(set([], change: { $0.transmitPower = 21 }) == .invalidHCICommandParameters)
    #expect(set([], change: { $0.primaryPHY = .le2M }) == .unsupportedFeatureOrParameterValue)
    #expect(set([.scannable]) == .success)
    // A scannable set needs a scan response, and has no advertising data.
    #expect(device.enable(1) == .commandDisallowed)
    #expect(device.setData([1]) == .invalidHCICommandParameters)
    #expect(set([.connectable]) == .success)
    #expect(device.setResponse([1]) == .invalidHCICommandParameters)
    #expect(device.setData(Array(repeating: 1, count: 251)) == .packetTooLong)
    #expect(set([]) == .success)
    #expect(device.send(.leSetExtendedAdvertisingData(1, HCI.AdvertisingDataFragment(.first, [1]))) == .success)
    #expect(device.enable(1) == .commandDisallowed)
    #expect(device.setData(Array(repeating: 1, count: 1_651)) == .memoryCapacityExceeded)
    #expect(device.setData([1]) == .success)
    #expect(device.enable(1, 1) == .invalidHCICommandParameters)
    #expect(device.enable() == .invalidHCICommandParameters)
    #expect(device.enable(1) == .success)
    #expect(set([]) == .commandDisallowed)
    #expect(device.send(.leRemoveAdvertisingSet(1)) == .commandDisallowed)
    #expect(device.send(.leClearAdvertisingSets) == .commandDisallowed)
    #expect(
      device.send(.leSetExtendedAdvertisingData(1, HCI.AdvertisingDataFragment(.first, [1]))) == .commandDisallowed)
    #expect(device.disable() == .success)
    #expect(device.send(.leClearAdvertisingSets) == .success)
    #expect(device.disable(1) == .unknownAdvertisingIdentifier)
  }

  @Test("A set with data can't change to a type without data until it is removed")
  func typeWithoutData() {
    func set(_ properties: HCI.ExtendedAdvertisingParameters.Properties) -> HCI.ErrorCode? {
      device.send(.leSetExtendedAdvertisingParameters(.every100ms(1, properties)))
    }
    #expect(set([.legacy, .connectable, .scannable]) == .success)
    #expect(device.setData([2, 1, 6]) == .success)
    #expect(set([.legacy, .connectable, .directed]) == .invalidHCICommandParameters)
    #expect(set(.scannable) == .invalidHCICommandParameters)
    #expect(set(.connectable) == .success)
    #expect(device.send(.leRemoveAdvertisingSet(1)) == .success)
    #expect(set(.scannable) == .success)
  }

  @Test("A set needs its random address to use one; a connectable set can't change it while it advertises")
  func randomAddress() {
    device.send(.leSetExtendedAdvertisingParameters(.every100ms(1, .connectable) { $0.ownAddressType = .random }))
    #expect(device.enable(1) == .invalidHCICommandParameters)
    #expect(device.send(.leSetAdvertisingSetRandomAddress(1, 0xC000_0000_0001)) == .success)
    #expect(device.enable(1) == .success)
    #expect(device.send(.leSetAdvertisingSetRandomAddress(1, 0xC000_0000_0002)) == .commandDisallowed)
    device.disable(1)
    device.send(.leSetExtendedAdvertisingParameters(.every100ms(1) { $0.ownAddressType = .random }))
    device.enable(1)
    #expect(device.send(.leSetAdvertisingSetRandomAddress(1, 0xC000_0000_0003)) == .success)
    air.run(for: .milliseconds(20))
    air.clearLog()
    air.run(for: .milliseconds(300))
    #expect(air.log.allSatisfy { $0.extended?.advertiser?.value == 0xC000_0000_0003 } && !air.log.isEmpty)
  }
}
