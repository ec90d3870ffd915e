import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

@Suite struct WriterTests {
  /// The result of a transfer.
  private struct Transfer {
    /// The rate of the app's data in bit/s.
    var rate: Double
    /// The number of pauses of the writer.
    var pauses: Int
    /// The phone's packets during the transfer.
    var sent: LinkStatistics.Direction
  }

  /// Sends data to a lamp of a generation.
  private func send(_ count: Int, to generation: DeviceOptions.Generation) throws -> Transfer {
    var options = DeviceOptions()
    options.generation = generation
    let air = try Lamp(options)
    let (peripheral, characteristic) = try air.connect()
    // The peers agree on PHY and lengths first.
    air.timers.run(limit: .seconds(2))
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let writer = HighThroughputWriter(characteristic, of: peripheral)
    peripheral.delegate = writer
    let (start, before) = (air.world.now, air.phone.device.statistics)
    var isAccepted = false
    writer.send(data) { isAccepted = true }
    #expect(!isAccepted, "the system does not buffer everything")
    var octets = 0
    air.timers.run(until: {
      octets = air.received.reduce(0) { $0 + $1.value.count }
      return octets == count
    })
    #expect(isAccepted)
    #expect(Data(air.received.flatMap(\.value)) == data)
    let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
    #expect(air.received.dropLast().allSatisfy { $0.value.count == length })
    let link = try #require(air.phone.device.statistics.since(before).links.first)
    return Transfer(
      rate: Double(8 * count) / ((air.world.now - start) / .seconds(1)), pauses: writer.pauses, sent: link.sent)
  }

  @Test(
    "The high-throughput writer sends some 100 kbit/s of the 1 Mbit/s of LE 1M to an accessory of Bluetooth 4.0",
    .requirement("A059"))
  func practice() throws {
    let transfer = try send(20_000, to: .bluetooth40)
    #expect((100_000...236_700).contains(transfer.rate), "\(transfer.rate) bit/s")
    #expect(transfer.pauses > 1)
    // Preamble, access address, header and CRC are 10 octets.
    let bits = Double(8 * (transfer.sent.octets + 10 * transfer.sent.packets))
    let theory = bits / (transfer.sent.airTime / .seconds(1))
    #expect(abs(theory - 1_000_000) < 1_000, "\(theory) bit/s")
  }

  @Test(
    "The high-throughput writer sends more than 1 Mbit/s to an accessory with long packets on LE 2M",
    .requirement("A059"))
  func longPackets() throws {
    let transfer = try send(100_000, to: .bluetooth54)
    #expect((1_000_000...1_400_000).contains(transfer.rate), "\(transfer.rate) bit/s")
    #expect(transfer.pauses > 1)
  }

  @Test("Data sent while others wait follow them, and each call's completion is called once")
  func twoTransfers() throws {
    let air = try Lamp()
    let (peripheral, characteristic) = try air.connect()
    air.timers.run(limit: .seconds(2))
    let (first, second) = (Data(repeating: 1, count: 20_000), Data(repeating: 2, count: 10_000))
    let writer = HighThroughputWriter(characteristic, of: peripheral)
    peripheral.delegate = writer
    var completions: [(call: Int, time: Duration)] = []
    for (call, data) in [first, second, Data()].enumerated() {
      writer.send(data) { completions.append((call, air.world.now)) }
    }
    #expect(completions.isEmpty, "the system does not buffer everything")
    #expect(air.timers.run(until: { air.received.reduce(0) { $0 + $1.value.count } == 30_000 }))
    #expect(Data(air.received.flatMap(\.value)) == first + second)
    #expect(completions.map(\.call) == [0, 1, 2])
    let times = completions.map(\.time)
    #expect(times.count == 3 && times[0] < times[1] && times[1] == times[2])
  }

  @Test("A timed writer sends one part in each interval, in order", .requirement("G040"))
  func timer() throws {
    let air = try Lamp()
    let (peripheral, characteristic) = try air.connect()
    // The peers agree on PHY and lengths first.
    air.timers.run(limit: .seconds(2))
    let writer = TimedWriter(characteristic, of: peripheral, interval: 0.2, after: air.timers.after)
    let start = air.world.now
    writer.send((0..<5).map { Data([$0]) })
    // More parts come in the interval of the fifth one.
    air.timers.run(limit: .milliseconds(850))
    writer.send((5..<10).map { Data([$0]) })
    air.timers.run(limit: .seconds(3))
    #expect(air.received.map(\.value) == (0..<10).map { [$0] })
    #expect(
      air.calls("writeValue", since: start) == (0..<10).map { .milliseconds(200 * $0) })
    for (index, part) in air.received.enumerated() {
      let delay = part.time - start - .milliseconds(200 * index)
      #expect(delay > .zero && delay < .milliseconds(100), "\(delay)")
    }
  }

  @Test(
    "Numbered packets that the receiver has dropped are sent again, and the data arrive complete", .requirement("G038"))
  func numbers() throws {
    let air = try Lamp()
    let (peripheral, characteristic) = try air.connect()
    air.timers.run(limit: .seconds(2))
    let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
    let count = 20 * (length - NumberedPackets.headerLength)
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    var collection = PacketCollection()
    var dropped: Set<UInt16> = [3, 7, 19]
    air.lamp.recorder.answerWrite = { requests in
      for packet in requests.compactMap(\.value) {
        // A receiver without room drops the packet.
        if dropped.remove(NumberedPackets.numbers(packet)[0]) == nil { collection.add(packet) }
      }
      return .success
    }
    air.lamp.recorder.answerRead = { request in
      request.value = collection.missing
      return .success
    }
    let sender = NumberedPacketSender(characteristic, of: peripheral)
    peripheral.delegate = sender
    var isDone = false
    sender.send(data) { isDone = $0 == nil }
    #expect(air.timers.run(until: { isDone }))
    #expect(sender.repeated == [3, 7, 19])
    #expect(collection.data == data)
    #expect(air.received.count == 23)
    // A second transfer of the same length loses a packet that the first one has brought.
    let second = Data(data.map { ~$0 })
    dropped = [5]
    isDone = false
    sender.send(second) { isDone = $0 == nil }
    #expect(air.timers.run(until: { isDone }))
    #expect(sender.repeated == [3, 7, 19, 5])
    #expect(collection.data == second)
  }

  @Test("A transfer after another one, complete or not, has none of its packets")
  func transfers() {
    let (first, second) = (Data(repeating: 1, count: 60), Data(repeating: 2, count: 60))
    let old = NumberedPackets.split(first, length: 20, transfer: 255)
    let new = NumberedPackets.split(second, length: 20, transfer: 0)
    #expect(old.count == 4 && new.count == 4)
    for number in [2, 4] {
      var collection = PacketCollection()
      for packet in old.prefix(number) { collection.add(packet) }
      #expect(collection.data == (number == 4 ? first : nil))
      for packet in new.dropFirst() { collection.add(packet) }
      #expect(collection.data == nil)
      #expect(NumberedPackets.numbers(collection.missing) == [0])
      collection.add(new[0])
      #expect(collection.data == second)
      #expect(collection.missing.isEmpty)
    }
  }
}
