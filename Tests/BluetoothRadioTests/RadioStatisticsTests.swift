import BluetoothWire
import Testing

@testable import BluetoothRadio

@Suite("Radio statistics")
struct RadioStatisticsTests {
  @Test("A radio's time is the sum of sending at each power, receiving and idling")
  func times() {
    let scene = Scene()
    let radio = scene.add(
      Scripted([
        (.microseconds(100), send(power: 0)), (.microseconds(1_000), listen(until: 1_600)),
        (.microseconds(2_000), send(power: -20)), (.microseconds(3_000), send(power: 0)),
        (.microseconds(4_000), listen()),
      ]))
    scene.run(until: .microseconds(4_500))
    let statistics = scene.engine.statistics(of: radio)
    #expect(
      statistics.transmitting == [
        RadioStatistics.Transmitting(power: 0, time: .microseconds(256)),
        RadioStatistics.Transmitting(power: -20, time: .microseconds(128)),
      ])
    #expect(statistics.airTime == .microseconds(384))
    #expect(statistics.receiving == .microseconds(1_100))
    #expect(statistics.idle == .microseconds(3_016))
    #expect(statistics.packetsSent == 3)
  }

  @Test("A radio counts as receiving until its packet ends, even after the end of its window")
  func receivingPacket() {
    let scene = Scene()
    scene.add(Scripted([(.microseconds(100), send())]))
    let radio = scene.add(Scripted([(.microseconds(50), listen(until: 120))]), metres: 1)
    scene.run(until: .microseconds(1_000))
    #expect(scene.engine.statistics(of: radio).receiving == .microseconds(178))
  }

  @Test("Packets are counted as received, corrupt, or missed")
  func counts() {
    let scene = Scene()
    var other = packet
    other.accessAddress = 1
    // Undisturbed; disturbed at its end; disturbed in its access address; with another CRCInit.
    let sender = Scripted((0..<4).map { (.microseconds(1_000 * $0 + 100), send()) })
    let interferer = Scripted([(.microseconds(1_200), send(other)), (.microseconds(2_109), send(other))])
    let radio = scene.add(
      Scripted(
        (0..<4).map { (.microseconds(1_000 * $0), listen(crcInit: $0 == 3 ? 1 : 0x55, until: 1_000 * $0 + 900)) }),
      metres: 5)
    scene.add(sender)
    scene.add(interferer, metres: 4)
    scene.run()
    let statistics = scene.engine.statistics(of: radio)
    #expect(statistics.packetsReceived == 1)
    #expect(statistics.crcErrors == 2)
    #expect(statistics.missedPackets == 1)
  }

  @Test("A muted radio spends its time as before, but sends nothing")
  func muted() {
    let scene = Scene()
    let radio = scene.add(Scripted([(.microseconds(100), send())]))
    scene.engine.setMuted(true, radio)
    scene.run(until: .microseconds(1_000))
    let statistics = scene.engine.statistics(of: radio)
    #expect(statistics.packetsSent == 0)
    #expect(statistics.airTime == .microseconds(128))
  }
}
