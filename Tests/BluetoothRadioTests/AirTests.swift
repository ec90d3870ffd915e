import BluetoothWire
import Testing

@testable import BluetoothRadio

@Suite("Air")
struct AirTests {
  @Test("A receiver gets a packet when its last bit ends, attenuated by the path loss")
  func reception() throws {
    let sender = Scripted([(.microseconds(100), send())])
    let receiver = Scripted([(.microseconds(50), listen())])
    run([(sender, 0), (receiver, 10)])
    let (time, event) = try #require(receiver.heard.first)
    // Preamble 1, access address 4, header 2, payload 6, CRC 3 octets at 8 µs.
    #expect(time == .microseconds(100 + 16 * 8))
    guard case .received(packet, modulation: .le1M, start: .microseconds(100), let level, isIntact: true) = event else {
      Issue.record("\(event)")
      return
    }
    #expect(level.rounded == -65)
    guard case .transmitted? = sender.heard.first?.1 else {
      Issue.record("\(sender.heard)")
      return
    }
  }

  @Test("A receiver on another channel, with another access address, or that starts too late receives nothing")
  func nothing() {
    let others = [
      Scripted([(.microseconds(50), listen(channel: 8, until: 1_000))]),
      Scripted([(.microseconds(50), listen(accessAddress: 0x1234_5679, until: 1_000))]),
      Scripted([(.microseconds(101), listen(until: 1_000))]),
    ]
    run([(Scripted([(.microseconds(100), send())]), 0)] + others.map { ($0, 1) })
    for other in others {
      #expect(other.heard.count == 1)
      #expect(other.heard.first?.0 == .microseconds(1_000))
      guard case .nothingReceived? = other.heard.first?.1 else {
        Issue.record("\(other.heard)")
        continue
      }
    }
  }

  @Test("A receiver whose window ends within a packet listens to the end of the packet")
  func windowEndsWithinPacket() {
    let receiver = Scripted([(.microseconds(50), listen(until: 120))])
    run([(Scripted([(.microseconds(100), send())]), 0), (receiver, 1)])
    #expect(receiver.heard.map(\.0) == [.microseconds(228)])
  }

  @Test("A receiver whose window ends within an access address that it does not detect stops at that address's end")
  func windowEndsWithinDrownedAddress() {
    let receiver = Scripted([(.microseconds(50), listen(until: 120))])
    let louder = Scripted([(.microseconds(104), send(power: 20))])
    run([(Scripted([(.microseconds(100), send())]), 20), (receiver, 1), (louder, 0)])
    #expect(receiver.outcomes == [.nothing])
    #expect(receiver.heard.map(\.0) == [.microseconds(140)])
  }

  @Test(
    "A receiver whose window ends within a packet stops when the packet breaks off, but not before the window ends",
    arguments: [(110, 120), (130, 130)])
  func windowEndsWithinBrokenPacket(brokenOffAt: Int64, end: Int64) {
    let receiver = Scripted([(.microseconds(50), listen(until: 120))])
    run([(Scripted([(.microseconds(100), send()), (.microseconds(brokenOffAt), .stop)]), 0), (receiver, 1)])
    #expect(receiver.outcomes == [.nothing])
    #expect(receiver.heard.map(\.0) == [.microseconds(end)])
  }

  @Test("A receiver gets a packet that begins with its window, and misses one that begins when the window ends")
  func windowTouchesPacket() {
    let (first, last) = (
      Scripted([(.microseconds(100), listen(until: 120))]), Scripted([(.microseconds(50), listen(until: 100))])
    )
    run([(Scripted([(.microseconds(100), send())]), 0), (first, 1), (last, 1)])
    #expect(first.heard.map(\.0) == [.microseconds(228)])
    #expect(last.outcomes == [.nothing])
    #expect(last.heard.map(\.0) == [.microseconds(100)])
  }

  @Test("A receiver with another CRC initialization value gets the packet as corrupt")
  func wrongCRCInit() {
    let receiver = Scripted([(.microseconds(50), listen(crcInit: 0x56))])
    run([(Scripted([(.microseconds(100), send())]), 0), (receiver, 1)])
    guard case .received(_, _, _, _, isIntact: false)? = receiver.heard.first?.1 else {
      Issue.record("\(receiver.heard)")
      return
    }
  }

  @Test("A receiver gets most short packets at its sensitivity, and none out of range")
  func range() {
    // 0 dBm, −90 dBm: 100 m. The noise is 10.9 dB below: 273 m.
    func received(at metres: Int64) -> Int {
      (0..<200).count { seed in
        let receiver = Scripted([(.microseconds(50), listen(until: 500))])
        run([(Scripted([(.microseconds(100), send())]), 0), (receiver, metres)], seed: UInt64(seed))
        if case .received(_, _, _, _, isIntact: true)? = receiver.heard.first?.1 { return true }
        return false
      }
    }
    #expect(received(at: 50) == 200)
    #expect((160..<200).contains(received(at: 100)))
    #expect(received(at: 280) == 0)
  }

  @Test("Two simultaneous packets on one channel destroy each other, unless one is far stronger")
  func collisions() {
    func outcome(otherAt metres: Int64) -> RadioEvent? {
      let receiver = Scripted([(.microseconds(50), listen())])
      var other = packet
      other.accessAddress = 0x8765_4321
      run([
        (Scripted([(.microseconds(100), send())]), 1), (Scripted([(.microseconds(150), send(other))]), metres),
        (receiver, 0),
      ])
      return receiver.heard.first?.1
    }
    guard case .received(_, _, _, _, isIntact: false)? = outcome(otherAt: 1) else {
      Issue.record("two equal signals")
      return
    }
    guard case .received(_, _, _, _, isIntact: true)? = outcome(otherAt: 60) else {
      Issue.record("one 44 dB stronger")
      return
    }
  }

  @Test("Each sender of packets that end at the same instant is notified that its own packet was sent")
  func simultaneousEnds() {
    let senders = (0..<3).map { _ in Scripted([(.microseconds(100), send()), (.microseconds(900), send())]) }
    let receiver = Scripted([(.microseconds(50), listen(until: 800))])
    run(senders.map { ($0, 5) } + [(receiver, 0)])
    let ends: [Instant] = [.microseconds(228), .microseconds(1_028)]
    for sender in senders {
      let times = sender.heard.map(\.0)
      #expect(times == ends)
    }
    // The receiver locked onto one packet, did not receive it, and listened to the end of its window.
    let time = receiver.heard.first?.0
    #expect(time == .microseconds(800))
  }

  @Test("One seed gives one outcome")
  func determinism() {
    func outcomes(seed: UInt64) -> [Bool] {
      let receiver = Scripted((0..<50).map { (.microseconds(1_000 * $0 + 50), listen(until: 1_000 * $0 + 900)) })
      let sender = Scripted((0..<50).map { (.microseconds(1_000 * $0 + 100), send()) })
      run([(sender, 0), (receiver, 105)], seed: seed)
      return receiver.heard.map { if case .received(_, _, _, _, isIntact: true) = $0.1 { true } else { false } }
    }
    #expect(outcomes(seed: 5) == outcomes(seed: 5))
    #expect(outcomes(seed: 5) != outcomes(seed: 6))
  }

  @Test("Transmissions out of a receiver's range do not change what it receives")
  func independence() {
    func outcomes(withOthers: Bool) -> [Scripted.Outcome] {
      let scene = Scene(seed: 5)
      let receiver = Scripted((0..<50).map { (.microseconds(1_000 * $0 + 50), listen(until: 1_000 * $0 + 900)) })
      scene.add(Scripted((0..<50).map { (.microseconds(1_000 * $0 + 100), send()) }))
      scene.add(receiver, metres: 105)
      if withOthers {
        scene.add(Scripted((0..<50).map { (.microseconds(900 * $0 + 90), send()) }), metres: 1_000_000)
        scene.add(Scripted([(.microseconds(60), listen())]), metres: 1_000_300)
      }
      scene.run()
      return receiver.outcomes
    }
    let alone = outcomes(withOthers: false)
    #expect(Set(alone).count > 1)
    #expect(alone == outcomes(withOthers: true))
  }

  @Test("A radio takes little memory")
  func memory() {
    #expect(MemoryLayout<Radio>.stride <= 256)
    #expect(MemoryLayout<Transmission>.stride <= 96)
    #expect(MemoryLayout<ListeningRadio>.stride <= 80)
  }
}
