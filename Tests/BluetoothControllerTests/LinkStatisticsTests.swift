import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

@Suite("Link statistics")
struct LinkStatisticsTests {
  @Test("Both sides count the same packets, octets and air time of each direction")
  func traffic() throws {
    let link = try LinkHarness()
    for _ in 0..<3 { link.central.send(Array(repeating: 1, count: 20), on: link.centralHandle) }
    link.peripheral.send(Array(repeating: 1, count: 7), on: link.peripheralHandle)
    link.runEvents(10)
    let central = try #require(link.statistics(true))
    let peripheral = try #require(link.statistics(false))
    #expect(central.sent.octets == 60 && central.received.octets == 7)
    #expect(central.sent == peripheral.received && peripheral.sent == central.received)
    #expect(central.attendedEvents == 10 && central.missedEvents == 0)
    let empty = Int64(central.sent.packets - 3)
    #expect(central.sent.airTime == .microseconds(80) * empty + .microseconds(240) * 3)
    #expect(central.lastLevel == Decibel(-50) && central.meanLevel == Decibel(-50))
    #expect(central.retransmissions == 0 && central.crcErrors == 0 && central.receiveTimeouts == 0)
  }

  @Test("Retransmissions and their causes are counted")
  func losses() throws {
    let link = try LinkHarness()
    link.runEvents(3)
    var spoiled = 0
    link.air.outcome = { transmission in
      guard transmission.device == 0, transmission.dataHeader?.llid == .start, spoiled < 4 else { return .arrives }
      spoiled += 1
      return spoiled <= 2 ? .corrupt : .lost
    }
    link.central.send(Array(repeating: 1, count: 20), on: link.centralHandle)
    link.runEvents(10)
    let central = try #require(link.statistics(true))
    let peripheral = try #require(link.statistics(false))
    #expect(central.retransmissions == 4 && central.sent.octets == 20)
    #expect(peripheral.crcErrors == 2 && peripheral.received.octets == 20)
    #expect(central.receiveTimeouts >= 2 && peripheral.receiveTimeouts >= 2)
  }

  @Test("The statistics remain readable after the connection has ended, and unknown handles have none")
  func ended() throws {
    let link = try LinkHarness()
    link.runEvents(5)
    link.central.send(.disconnect(link.centralHandle, reason: .remoteUserTerminatedConnection))
    link.runEvents(5)
    #expect(link.central.disconnections.count == 1)
    #expect(link.statistics(true)?.sent.octets == 2)
    let foreign = link.central.controller.linkStatistics(of: HCI.ConnectionHandle(rawValue: 0x77))
    #expect(foreign == nil)
  }
}

extension LinkHarness {
  func statistics(_ isCentral: Bool) -> ConnectionStatistics? {
    let (device, handle) = side(isCentral)
    return device.controller.linkStatistics(of: handle)
  }
}
