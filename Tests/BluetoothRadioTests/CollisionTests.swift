import BluetoothWire
import Foundation
import Requirements
import Testing

@testable import BluetoothRadio

/// Sends one packet repeatedly, at an interval plus a random delay of 0 to 10 ms.
private final class Beacon: SimulatedDevice {
  private let interval: TimeSpan
  private let packet: AirPacket
  private var random: RandomStream
  private(set) var deadline: Instant?
  private var command: RadioCommand?

  init(interval: TimeSpan, packet: AirPacket, random: RandomStream) {
    self.interval = interval
    self.packet = packet
    self.random = random
    deadline = .zero + TimeSpan(nanoseconds: Int64.random(in: 0..<interval.nanoseconds, using: &self.random))
  }

  func timeReached(_ now: Instant) {
    command = .transmit(packet, on: RadioChannel(0), modulation: .le1M, power: Decibel(0))
    deadline = now + interval + TimeSpan(nanoseconds: Int64.random(in: 0...10_000_000, using: &random))
  }

  func takeRadioCommand() -> RadioCommand? {
    defer { command = nil }
    return command
  }

  func radio(_ event: RadioEvent, at now: Instant) {}
}

/// Listens all the time and counts the intact packets.
private final class Counter: SimulatedDevice {
  private(set) var received = 0
  private var isListening = false

  var deadline: Instant? { nil }
  func timeReached(_ now: Instant) {}
  func radio(_ event: RadioEvent, at now: Instant) {
    isListening = false
    if case .received(_, _, _, _, isIntact: true) = event { received += 1 }
  }
  func takeRadioCommand() -> RadioCommand? {
    defer { isListening = true }
    return isListening ? nil : listen(channel: 0)
  }
}

@Suite("Collisions")
struct CollisionTests {
  /// Returns how many packets with 31 octets of data one receiver gets per second from `count` equidistant advertisers.
  private func received(advertisers count: Int, interval: TimeSpan, seconds: Int64) -> Double {
    let scene = Scene()
    let counter = Counter()
    scene.engine.add(counter, radio: RadioProperties(position: GridPosition(x: 0)))
    let packet = AirPacket(
      accessAddress: 0x1234_5678, crcInit: 0x55, header: 0x2502, payload: ByteSlice(Array(repeating: 0, count: 37)))
    let generator = RandomStream(seed: 10)
    for number in 0..<count {
      scene.engine.add(
        Beacon(interval: interval, packet: packet, random: generator.split("\(number)")),
        radio: RadioProperties(position: GridPosition(x: 10_000)))
    }
    scene.run(until: .zero + .seconds(1))
    let before = counter.received
    scene.run(until: .zero + .seconds(1 + seconds))
    return Double(counter.received - before) / Double(seconds)
  }

  /// Returns the expected number of packets per second. A packet of 376 µs arrives if no other one is on the air at its
  /// beginning and none begins before its end. Of a packet that begins right before its end, 2.3 bits are tolerated on
  /// average: at equal levels 0.7 of the bits arrive.
  private func expected(advertisers count: Int, interval: Double) -> Double {
    let rate = Double(count) / (interval + 0.005)
    return rate * exp(-rate * (2 * 376 - 2.3) * 1e-6)
  }

  @Test(
    "A receiver gets 471 of the 995 packets that 1,000 advertisers at 1 s send per second", .requirement("L086", "L210")
  )
  func slow() {
    let expected = expected(advertisers: 1_000, interval: 1)
    #expect(abs(expected - 471) < 2)
    let share = received(advertisers: 1_000, interval: .seconds(1), seconds: 3) / expected
    #expect((0.94...1.06).contains(share))
  }

  @Test(
    "A receiver gets 7.5 of the 9,524 packets that 1,000 advertisers at 100 ms send per second", .requirement("L086"))
  func fast() {
    let expected = expected(advertisers: 1_000, interval: 0.1)
    #expect(abs(expected - 7.5) < 0.1)
    let share = received(advertisers: 1_000, interval: .milliseconds(100), seconds: 4) / expected
    // 30 packets are expected, with a standard deviation of 5.5.
    #expect((0.6...1.4).contains(share))
  }
}
