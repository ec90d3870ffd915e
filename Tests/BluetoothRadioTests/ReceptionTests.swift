import BluetoothWire
import Requirements
import Testing

@testable import BluetoothRadio

@Suite("Reception")
struct ReceptionTests {
  /// A packet of 37 octets of payload.
  private let long = AirPacket(
    accessAddress: 0x1234_5678, crcInit: 0x55, header: 0x2500, payload: ByteSlice(Array(repeating: 7, count: 37)))

  /// Returns the share of packets of `modulation` that arrive over a path with a loss of `loss` dB.
  private func arriving(_ modulation: Modulation, loss: Double, of count: UInt64 = 300) -> Double {
    share(of: count) { seed in
      let scene = Scene(seed: seed)
      let receiver = Scripted([(.microseconds(50), listen(phy: modulation.phy, until: 5_000))])
      let one = scene.add(Scripted([(.microseconds(100), send(long, modulation: modulation))]))
      let other = scene.add(receiver, metres: 1)
      scene.engine.setLoss(Decibel(rounding: loss), between: one, and: other)
      scene.run()
      return receiver.outcomes == [.intact]
    }
  }

  @Test(
    "At its sensitivity, a packet of 37 octets arrives as often as 368 bits of which one in 1,000 is lost",
    .requirement("L214"),
    arguments: [(.le1M, 90), (.le2M, 87), (.codedS2, 95), (.codedS8, 102)] as [(Modulation, Double)])
  func sensitivity(modulation: Modulation, loss: Double) {
    // 0.999^368 = 0.69
    #expect((0.60...0.78).contains(arriving(modulation, loss: loss)))
    #expect(arriving(modulation, loss: loss - 3, of: 50) == 1)
    #expect(arriving(modulation, loss: loss + 6, of: 50) == 0)
  }

  @Test("A receiver on LE Coded receives both codings and reports which one was used")
  func bothCodings() {
    let receiver = Scripted([(.microseconds(50), listen(phy: .leCoded)), (.microseconds(9_000), listen(phy: .leCoded))])
    run([
      (
        Scripted([
          (.microseconds(100), send(modulation: .codedS2)), (.microseconds(10_000), send(modulation: .codedS8)),
        ]), 0
      ), (receiver, 2),
    ])
    let modulations = receiver.modulations
    #expect(modulations == [.codedS2, .codedS8])
  }

  /// True if the packet arrives while another sender, whose signal is `stronger` dB stronger, is on a channel beside
  /// it.
  private func arrives(_ modulation: Modulation, stronger: Int, channelsAway: UInt8, seed: UInt64 = 1) -> Bool {
    let scene = Scene(seed: seed)
    let receiver = Scripted([(.microseconds(50), listen(phy: modulation.phy, until: 5_000))])
    let sender = scene.add(Scripted([(.microseconds(100), send(long, modulation: modulation))]))
    let noise = AirPacket(accessAddress: 1, crcInit: 0, header: 0, payload: ByteSlice(Array(repeating: 0, count: 255)))
    let other = scene.add(
      Scripted((0..<3).map { (.microseconds(60 + 2_200 * $0), send(noise, channel: 7 + channelsAway)) }))
    let place = scene.add(receiver)
    scene.engine.setLoss(Decibel(70), between: sender, and: place)
    scene.engine.setLoss(Decibel(70 - stronger), between: other, and: place)
    scene.run()
    return receiver.outcomes == [.intact]
  }

  @Test(
    "A receiver rejects a stronger signal beside its channel up to the C/I of Vol 6, Part A, 4.2, and not much beyond",
    arguments: [
      (.le1M, 1, 38), (.le1M, 2, 48), (.le1M, 20, 48), (.le2M, 1, 6), (.le2M, 2, 38), (.le2M, 3, 48),
      (.codedS8, 1, 47), (.codedS8, 2, 57), (.codedS2, 1, 42), (.codedS2, 2, 52),
    ] as [(Modulation, UInt8, Int)])
  func adjacentChannels(modulation: Modulation, channelsAway: UInt8, rejection: Int) {
    // A rejection of 21 − C/I leaves the wanted signal 21 dB above a signal that is stronger by −C/I. No packet is lost
    // there or at 14 dB, and all packets are lost at 5 dB.
    #expect(arrives(modulation, stronger: rejection - 14, channelsAway: channelsAway))
    #expect(!arrives(modulation, stronger: rejection - 5, channelsAway: channelsAway))
  }

  @Test("Coding lets a packet survive a stronger disturbance on its own channel")
  func codingGain() {
    #expect(!arrives(.le1M, stronger: -5, channelsAway: 0))
    #expect(arrives(.le1M, stronger: -14, channelsAway: 0))
    #expect(arrives(.codedS8, stronger: -5, channelsAway: 0))
    #expect(arrives(.codedS2, stronger: -10, channelsAway: 0))
  }

  @Test("Only overlapping transmissions disturb a packet")
  func overlap() {
    func outcome(otherStartsAt start: Int64) -> [Scripted.Outcome] {
      let receiver = Scripted([(.microseconds(50), listen(until: 5_000))])
      var other = packet
      other.accessAddress = 1
      run([
        (Scripted([(.microseconds(1_000), send(long))]), 10), (Scripted([(.microseconds(start), send(other))]), 5),
        (receiver, 0),
      ])
      return receiver.outcomes
    }
    // The long packet lasts 376 µs, the other one 128 µs.
    #expect(outcome(otherStartsAt: 872) == [.intact])
    // From 1 to 30 µs into the packet: the receiver does not find the access address.
    #expect(outcome(otherStartsAt: 902) == [.nothing])
    #expect(outcome(otherStartsAt: 1_300) == [.corrupt])
    #expect(outcome(otherStartsAt: 1_376) == [.intact])
  }

  @Test("A receiver that misses an access address can receive the next packet while the first one lasts")
  func freeAgain() {
    let receiver = Scripted([(.microseconds(50), listen(until: 5_000))])
    // A packet of another link drowns the access address of the first packet, but not its beginning.
    var other = packet
    other.accessAddress = 1
    run([
      (Scripted([(.microseconds(100), send(long))]), 10), (Scripted([(.microseconds(109), send(other))]), 5),
      (Scripted([(.microseconds(300), send())]), 1), (receiver, 0),
    ])
    let times = receiver.heard.map(\.0)
    #expect(receiver.outcomes == [.intact])
    #expect(times == [.microseconds(428)])
  }

  @Test("A receiver does not lock onto a packet that begins below the level of another one")
  func drowned() {
    let receiver = Scripted([(.microseconds(50), listen(until: 5_000))])
    var other = long
    other.accessAddress = 1
    // The weak packet begins below another one. The receiver gets the strong packet, which begins after both.
    run([
      (Scripted([(.microseconds(100), send(other))]), 2), (Scripted([(.microseconds(110), send(long))]), 20),
      (Scripted([(.microseconds(120), send())]), 0), (receiver, 0),
    ])
    #expect(receiver.outcomes == [.intact])
  }

  @Test("A receiver is overloaded from 3.6 dB above its maximum input level", .requirement("L093"))
  func saturation() {
    func outcome(power: Int, maximum: Int) -> [Scripted.Outcome] {
      let scene = Scene()
      let receiver = Scripted([(.microseconds(50), listen(until: 5_000))])
      let sender = scene.add(Scripted([(.microseconds(100), send(long, power: power))]))
      let place = scene.add(receiver) { $0.maximumInputLevel = Decibel(maximum) }
      scene.engine.setLoss(Decibel(15), between: sender, and: place)
      scene.run()
      return receiver.outcomes
    }
    #expect(outcome(power: 0, maximum: -10) == [.intact])
    #expect(outcome(power: 10, maximum: -10) != [.intact])
    #expect(outcome(power: 10, maximum: 0) == [.intact])
  }

  @Test("Antenna gains count at both ends", .requirement("L073"))
  func antennas() throws {
    let scene = Scene()
    let receiver = Scripted([(.microseconds(50), listen())])
    scene.add(Scripted([(.microseconds(100), send())])) { $0.antennaGain = Decibel(3) }
    scene.add(receiver, metres: 10) { $0.antennaGain = Decibel(-5) }
    scene.run()
    #expect(try #require(receiver.levels.first).rounded == -67)
  }

  @Test("A chip reports a level with its error, in its steps, and within its range")
  func signalStrength() {
    let chip = SignalStrengthIndicator(
      offset: Decibel(3), step: Decibel(2), minimum: Decibel(-100), maximum: Decibel(-20))
    #expect(chip.reading(of: Decibel(-60)) == Decibel(-56))
    #expect(chip.reading(of: Decibel(rounding: -60.1)) == Decibel(-58))
    #expect(chip.reading(of: Decibel(-120)) == Decibel(-100))
    #expect(chip.reading(of: Decibel(0)) == Decibel(-20))
    let plain = SignalStrengthIndicator()
    #expect(plain.reading(of: Decibel(rounding: -65.37)) == Decibel(rounding: -65.37))
  }
}
