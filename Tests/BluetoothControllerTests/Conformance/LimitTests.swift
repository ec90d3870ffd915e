import BluetoothWire
import Testing

@testable import BluetoothController

/// Rules that need several commands, or a controller with fewer features.
@Suite("HCI conformance: limits of a controller's resources")
struct LimitTests {
  private func status(_ world: SweepWorld, _ opcode: HCI.Opcode, _ parameters: [UInt8]? = nil) throws -> HCI.ErrorCode?
  {
    let row = try #require(CommandTable.row(opcode))
    return world.device.status(of: opcode, parameters ?? row.octets(world.handle))
  }

  @Test("LE Extended Create Connection without a free connection is refused with 0x0D · 7.8.66")
  func connectionLimit() throws {
    let world = SweepWorld { $0.connectionLimit = 1 }
    try world.connect(as: .central, isExtended: true)
    #expect(try status(world, .leExtendedCreateConnection) == .connectionRejectedLimitedResources)
  }

  @Test("LE Read Suggested Default Data Length returns the length that the host has written · 7.8.34")
  func suggestedLength() throws {
    let world = SweepWorld { $0.features.subtract([.leCodedPHY]) }
    let length = HCI.DataLength(octets: 251, time: 17_040)
    #expect(world.device.send(.leWriteSuggestedDefaultDataLength(length)) == .success)
    #expect(world.device.complete(.leReadSuggestedDefaultDataLength) == .leSuggestedDefaultDataLength(length))
  }

  @Test("Without Periodic Advertising ADI Support its options are refused with 0x11 · 7.8.63, 7.8.67, 7.8.91, 7.8.92")
  func withoutADI() throws {
    let world = SweepWorld { $0.features.subtract([.periodicAdvertisingADI]) }
    world.send(.leSetExtendedAdvertisingParameters, CommandTable.advertisingSet)
    world.send(.leSetPeriodicAdvertisingParameters, [1, 80, 0, 160, 0, 0, 0])
    let unsupported = HCI.ErrorCode.unsupportedFeatureOrParameterValue
    #expect(try status(world, .leSetPeriodicAdvertisingEnable, [3, 1]) == unsupported)
    let sync = CommandTable.peer + [0, 0, 100, 0, 0]
    #expect(try status(world, .lePeriodicAdvertisingCreateSync, [4, 0] + sync) == unsupported)
    let transfer: [UInt8] = [3, 0, 0, 100, 0, 0]
    #expect(try status(world, .leSetDefaultPeriodicAdvertisingSyncTransferParameters, transfer) == unsupported)
    // With reports disabled there are no duplicates.
    #expect(try status(world, .lePeriodicAdvertisingCreateSync, [6, 0] + sync) == .success)
  }

  @Test("Without LE Set Periodic Advertising Receive Enable, Create Sync with reports off fails with 0x3E · 7.8.67")
  func withoutReceiveEnable() throws {
    let world = SweepWorld {
      $0.features.subtract([.periodicAdvertisingADI, .periodicAdvertisingSyncTransferRecipient])
    }
    let sync = CommandTable.peer + [0, 0, 100, 0, 0]
    #expect(try status(world, .lePeriodicAdvertisingCreateSync, [2, 0] + sync) == .connectionFailedToBeEstablished)
  }

  @Test("Data that do not fit into an event are discarded with 0x45 · 7.8.54, 7.8.55, 7.8.62")
  func tooLong() throws {
    let world = SweepWorld()
    // 20 ms, LE Coded, scannable.
    var scannable = CommandTable.advertisingSet
    scannable[1] = 2
    scannable[6] = 32
    scannable[22] = 3
    world.send(.leSetExtendedAdvertisingParameters, scannable)
    world.send(.leSetExtendedScanResponseData, [1, 3, 0, 3, 2, 9, 65])
    #expect(world.device.setResponse([UInt8](repeating: 7, count: 500), of: 1) == .packetTooLong)
    // The scan response has been deleted.
    #expect(try status(world, .leSetExtendedAdvertisingEnable) == .commandDisallowed)
  }

  @Test("A set uses the longest interval of its range if its data need it · 7.8.53, 7.8.54")
  func longestInterval() throws {
    let world = SweepWorld()
    var parameters = CommandTable.advertisingSet
    // 20 ms to 10.24 s, on LE Coded, where 1,650 octets take more than 100 ms.
    parameters[7] = 0x40
    parameters[22] = 3
    world.send(.leSetExtendedAdvertisingParameters, parameters)
    #expect(world.device.setData([UInt8](repeating: 7, count: 1_650), of: 1) == .success)
    // 20 ms alone is too short.
    parameters[6] = 32
    parameters[7] = 0
    #expect(try status(world, .leSetExtendedAdvertisingParameters, parameters) == .packetTooLong)
    #expect(try status(world, .leSetExtendedAdvertisingEnable) == .success)
  }

  @Test("Each list accepts its stated number of entries, and one more gets 0x07 · 7.8.16, 7.8.38, 7.8.53, 7.8.70")
  func capacities() throws {
    let lists: [(HCI.Opcode, HCI.Opcode, (UInt8) -> [UInt8])] = [
      (.leReadFilterAcceptListSize, .leAddDeviceToFilterAcceptList, { [0, $0, 2, 3, 4, 5, 6] }),
      (
        .leReadResolvingListSize, .leAddDeviceToResolvingList,
        { [0, $0, 2, 3, 4, 5, 6] + [UInt8](repeating: $0 + 1, count: 16) + CommandTable.key }
      ),
      (.leReadPeriodicAdvertiserListSize, .leAddDeviceToPeriodicAdvertiserList, { [0, $0, 2, 3, 4, 5, 6, 0] }),
      (
        .leReadNumberOfSupportedAdvertisingSets, .leSetExtendedAdvertisingParameters,
        { [$0] + CommandTable.advertisingSet.dropFirst() }
      ),
    ]
    for (size, add, octets) in lists {
      let world = SweepWorld()
      var capacity: UInt8 = 0
      world.device.onPacket = {
        if case .event(HCI.EventCode.commandComplete, let octets) = $0 { capacity = octets[octets.count - 1] }
      }
      world.device.controller.receive(.command(opcode: size, parameters: []), at: .zero)
      world.air.processOutput(of: world.device.number)
      #expect(capacity > 0, "\(size)")
      for number in 0..<capacity { world.send(add, octets(number)) }
      #expect(try status(world, add, octets(capacity)) == .memoryCapacityExceeded, "\(add)")
    }
  }
}
