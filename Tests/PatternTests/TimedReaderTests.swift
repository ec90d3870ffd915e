import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

/// A peripheral app that answers a read only when the test says so.
private final class HesitantServer: NSObject, CBPeripheralManagerDelegate {
  private(set) var requests: [CBATTRequest] = []

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    requests.append(request)
  }
}

@Suite struct TimedReaderTests {
  /// Connects to the lamp. Returns a reader that is the delegate of the lamp's peripheral, and a characteristic.
  private static func reader(in air: Lamp) throws -> (TimedReader, CBCharacteristic) {
    let (peripheral, characteristic) = try air.connect()
    let reader = TimedReader(of: peripheral, after: air.timers.after)
    peripheral.delegate = reader
    return (reader, characteristic)
  }

  @Test(
    "A read without an answer ends at its time limit, and a later answer does not end it again", .requirement("A077"))
  func limit() throws {
    let air = try Lamp()
    let (reader, characteristic) = try Self.reader(in: air)
    let server = HesitantServer()
    air.lamp.manager.delegate = server
    var ends: [(time: Duration, isLimit: Bool)] = []
    let start = air.world.now
    reader.read(characteristic) { result in
      ends.append((air.world.now - start, (try? result.get()) == nil))
    }
    air.timers.run(limit: .seconds(10))
    #expect(ends.map(\.time) == [.seconds(5)])
    #expect(ends.map(\.isLimit) == [true])
    let request = try #require(server.requests.first)
    request.value = Data([7])
    air.lamp.manager.respond(to: request, withResult: .success)
    air.timers.run(limit: .seconds(5))
    #expect(characteristic.value == Data([7]))
    #expect(ends.count == 1)
  }

  @Test(
    "A read that is answered within its time limit ends with the value, and the limit has no effect afterwards",
    .requirement("A077"))
  func inTime() throws {
    let air = try Lamp()
    air.lamp.recorder.values[Lamp.value] = [80]
    let (reader, characteristic) = try Self.reader(in: air)
    var values: [Data?] = []
    reader.read(characteristic) { values.append(try? $0.get()) }
    air.timers.run(limit: .seconds(1))
    #expect(values == [Data([80])])
    air.timers.run(limit: .seconds(10))
    #expect(values.count == 1)
  }

  @Test("Two reads of one characteristic both end, each with its own value")
  func twoReads() throws {
    let air = try Lamp()
    var count: UInt8 = 0
    air.lamp.recorder.answerRead = { request in
      count += 1
      request.value = Data([count])
      return .success
    }
    let (reader, characteristic) = try Self.reader(in: air)
    var ends: [(read: Int, value: Data?)] = []
    for read in 1...2 { reader.read(characteristic) { ends.append((read, try? $0.get())) } }
    air.timers.run(limit: .seconds(10))
    #expect(ends.map(\.read) == [1, 2])
    #expect(ends.map(\.value) == [Data([1]), Data([2])])
  }

  @Test("Two reads of one characteristic without an answer end at their own time limits")
  func twoLimits() throws {
    let air = try Lamp()
    let (reader, characteristic) = try Self.reader(in: air)
    let server = HesitantServer()
    air.lamp.manager.delegate = server
    var ends: [(read: Int, time: Duration)] = []
    let start = air.world.now
    reader.read(characteristic, timeLimit: 3) { _ in ends.append((1, air.world.now - start)) }
    reader.read(characteristic, timeLimit: 1) { _ in ends.append((2, air.world.now - start)) }
    air.timers.run(limit: .seconds(10))
    #expect(ends.map(\.read) == [2, 1])
    #expect(ends.map(\.time) == [.seconds(1), .seconds(3)])
  }
}
