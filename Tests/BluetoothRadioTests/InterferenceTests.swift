import BluetoothWire
import Requirements
import Testing

@testable import BluetoothRadio

@Suite("Interference")
struct InterferenceTests {
  /// Returns the share of time in which a source sends, in thousandths, its frequencies and its number of bursts.
  private func activity(
    _ kind: InterferenceSource.Kind, seed: UInt64 = 3, for span: TimeSpan = .seconds(10)
  ) -> (perMille: Int64, frequencies: Set<Int>, bursts: Int) {
    let source = InterferenceSource(kind, at: GridPosition(x: 0), power: Decibel(0))
    var now = Instant.zero
    var on: Int64 = 0
    var bursts = 0
    var frequencies: Set<Int> = []
    while now < .zero + span {
      let phase = source.phase(at: now, seed: seed)
      precondition(phase.until > now, "a phase without end")
      if let frequency = phase.frequency {
        on += (phase.until - now).nanoseconds
        bursts += 1
        frequencies.insert(frequency)
      }
      now = phase.until
    }
    return (on * 1_000 / now.nanoseconds, frequencies, bursts)
  }

  @Test("Wi-Fi sends bursts of its length for its duty cycle, at times that depend on the seed")
  func wiFiTimes() {
    let transmitter = WiFiTransmitter(channel: 6, dutyCyclePerMille: 250, burstLength: .milliseconds(2))
    let (share, _, bursts) = activity(.wiFi(transmitter))
    #expect(share == 250)
    #expect(bursts == 1_250)
    let first = transmitter.pattern.phase(at: .zero, seed: 1)
    #expect(first == transmitter.pattern.phase(at: .zero, seed: 1))
    #expect(first != transmitter.pattern.phase(at: .zero, seed: 2))
  }

  @Test("A microwave oven runs for half of each period of the mains and drifts from 2,450 to 2,480 MHz")
  func microwaveTimes() {
    let (share, frequencies, _) = activity(.microwaveOven(MicrowaveOven()))
    #expect(share == 500)
    #expect(frequencies == Set(2_450...2_480))
  }

  @Test("Classic Bluetooth hops over 79 channels, 1,600 times a second")
  func classicTimes() {
    let (share, frequencies, bursts) = activity(.classicBluetooth(ClassicBluetooth()))
    #expect(bursts == 16_000)
    #expect(share == 585)  // 366 of 625 µs
    #expect(frequencies == Set(2_402...2_480))
    let (half, _, _) = activity(.classicBluetooth(ClassicBluetooth(dutyCyclePerMille: 500)))
    #expect((280...305).contains(half))
  }

  /// Returns the share of short packets that arrive on a channel over 10 m, with a source 2 m from the receiver.
  private func arriving(
    on channel: UInt8, modulation: Modulation = .le1M, power: Int = 15, _ kind: InterferenceSource.Kind
  ) -> Double {
    let scene = Scene()
    scene.engine.interference = [
      InterferenceSource(kind, at: GridPosition(x: 2_000), power: Decibel(power))
    ]
    // The period is out of step with every source.
    let times = (0..<400).map { Int64($0) * 3_137 }
    let receiver = Scripted(
      times.map { (.microseconds($0 + 50), listen(channel: channel, phy: modulation.phy, until: $0 + 3_000)) })
    scene.add(receiver)
    scene.add(
      Scripted(times.map { (.microseconds($0 + 100), send(channel: channel, modulation: modulation)) }), metres: 10)
    scene.run()
    return Double(receiver.outcomes.count { $0 == .intact }) / Double(times.count)
  }

  @Test(
    "Packets within the 22 MHz of Wi-Fi are lost as often as they meet a burst, and other packets arrive",
    .requirement("L082", "L088"))
  func wiFiLosses() {
    let source = InterferenceSource.Kind.wiFi(WiFiTransmitter(channel: 6, dutyCyclePerMille: 300))
    // Of a packet of 128 µs the last 120 µs count. A burst of 1 ms comes every 3.33 ms: (1 + 0.12) / 3.33 = 34 %.
    let within = arriving(on: 17, source)
    #expect((0.60...0.72).contains(within))
    #expect(arriving(on: 1, source) == 1)
    #expect(arriving(on: 35, source) == 1)
  }

  @Test(
    "Wi-Fi on channel 1, 6 or 11 destroys packets at 2,412, 2,437 or 2,462 MHz, and not at the other two frequencies",
    .requirement("L088"),
    arguments: [(1, 5), (6, 17), (11, 30)] as [(Int, UInt8)])
  func wiFiChannels(wiFi: Int, struck: UInt8) {
    let source = InterferenceSource.Kind.wiFi(
      WiFiTransmitter(channel: wiFi, dutyCyclePerMille: 1_000))
    for channel: UInt8 in [5, 17, 30] {
      #expect(arriving(on: channel, source) == (channel == struck ? 0 : 1), "\(2_402 + 2 * Int(channel)) MHz")
    }
  }

  @Test("Packets coded with S=8 survive Wi-Fi that destroys uncoded packets")
  func wiFiAgainstCoded() {
    // The signal arrives at −65 dBm. Wi-Fi arrives at −57.5 dBm: 13.4 dB less count, and coding takes off another 9 dB.
    let source = InterferenceSource.Kind.wiFi(WiFiTransmitter(channel: 6, dutyCyclePerMille: 1_000))
    #expect(arriving(on: 17, modulation: .le1M, power: -10, source) == 0)
    #expect(arriving(on: 17, modulation: .codedS8, power: -10, source) == 1)
  }

  @Test(
    "A microwave oven destroys up to half of the packets on the frequencies that it sweeps, and few far from them",
    .requirement("L082"))
  func microwaveLosses() {
    let source = InterferenceSource.Kind.microwaveOven(MicrowaveOven())
    let passed = arriving(on: 30, source)
    #expect((0.75...0.97).contains(passed))
    #expect(arriving(on: 2, power: 0, source) == 1)
  }

  @Test("Classic Bluetooth destroys some packets on every channel", .requirement("L217"))
  func classicLosses() {
    let source = InterferenceSource.Kind.classicBluetooth(ClassicBluetooth())
    for channel: UInt8 in [0, 20, 39] {
      let arrived = arriving(on: channel, power: 0, source)
      #expect((0.9...0.995).contains(arrived))
    }
  }

  @Test("A jammer destroys all packets on its channels, and none three channels away")
  func jammer() {
    let source = InterferenceSource.Kind.jammer(Jammer(channels: [RadioChannel(7), RadioChannel(9)]))
    #expect(arriving(on: 7, power: 0, source) == 0)
    #expect(arriving(on: 9, power: 0, source) == 0)
    #expect(arriving(on: 12, power: 0, source) == 1)
  }

  @Test("Interference weakens with distance: a jammer 300 m away destroys no packet")
  func distance() {
    let scene = Scene()
    scene.engine.interference = [
      InterferenceSource(
        .jammer(Jammer(channels: [RadioChannel(7)])), at: GridPosition(x: 300_000), power: Decibel(0))
    ]
    let receiver = Scripted([(.microseconds(50), listen(until: 500))])
    scene.add(receiver)
    scene.add(Scripted([(.microseconds(100), send())]), metres: 10)
    scene.run()
    #expect(receiver.outcomes == [.intact])
  }
}
