import BluetoothWire
import Testing

@testable import BluetoothRadio

/// The engine caches the path losses between radios. No cached loss may outlive a change.
@Suite("Levels after a change")
struct LossMemoryTests {
  enum Change: String, CaseIterable {
    case senderPlaced, receiverPlaced, senderMoves, receiverMoves, senderStops, givenLoss, givenLossTaken, exponent
    case margin, shadowing, antennaGainOfSender, antennaGainOfReceiver, sensitivity

    func take(place world: WorldEngine, _ sender: RadioID, _ receiver: RadioID) {
      let path = MovementPath([
        .init(.microseconds(1_000), GridPosition(x: 20_000)), .init(.microseconds(500_000), GridPosition(x: 70_000)),
      ])
      switch self {
      case .senderPlaced: world[sender].position.x += 9_000
      case .receiverPlaced: world[receiver].position.y += 9_000
      case .senderMoves: world.move(sender, along: path)
      case .receiverMoves: world.move(receiver, along: path)
      case .senderStops:
        world.move(sender, along: path)
        world.move(sender, along: nil)
      case .givenLoss: world.setLoss(Decibel(61), between: receiver, and: sender)
      case .givenLossTaken:
        world.setLoss(Decibel(61), between: receiver, and: sender)
        world.setLoss(nil, between: sender, and: receiver)
      case .exponent: world.pathLoss = PathLossModel(exponent: 200)
      case .margin: world.pathLoss.margin = Decibel(7)
      case .shadowing: world.pathLoss.shadowing = Decibel(6)
      case .antennaGainOfSender: world[sender].antennaGain = Decibel(-3)
      case .antennaGainOfReceiver: world[receiver].antennaGain = Decibel(5)
      case .sensitivity: world[receiver].sensitivity1M = Decibel(-95)
      }
    }
  }

  /// Returns the levels at the receiver of the first of two senders that send together repeatedly, packet by packet.
  private func levels(_ change: Change, at instant: Int64, packetsBefore: Bool) -> [Decibel] {
    let scene = Scene()
    let times = (1...20).map { Int64($0) * 10_000 }.filter { packetsBefore || $0 > instant }
    let sender = scene.add(Scripted(times.map { (.microseconds($0), send()) }), metres: 20)
    scene.add(Scripted(times.map { (.microseconds($0 + 3), send(channel: 30)) }), metres: 25)
    let listener = Scripted(times.map { (.microseconds($0 - 100), listen()) })
    let receiver = scene.add(listener)
    scene.engine.schedule(at: .microseconds(instant)) { change.take(place: $0, sender, receiver) }
    scene.run()
    #expect(listener.levels.count == times.count)
    return Array(listener.levels.suffix(times.count { $0 > instant }))
  }

  @Test("After any change, a known and an unknown sender arrive at the same level", arguments: Change.allCases)
  func changes(change: Change) {
    let fresh = levels(change, at: 95_000, packetsBefore: false)
    #expect(levels(change, at: 95_000, packetsBefore: true) == fresh)
    #expect(fresh.count == 11)
  }

  @Test("A change in the middle of a packet takes effect with the next packet", arguments: Change.allCases)
  func changesWhileSending(change: Change) {
    let fresh = levels(change, at: 95_000, packetsBefore: false)
    let after = levels(change, at: 90_050, packetsBefore: true)
    #expect(Array(after.suffix(11)) == fresh)
  }

  @Test("A interferer that moves nearer disturbs packets with its new level")
  func disturberComesNear() {
    let scene = Scene()
    let times = (1...20).map { Int64($0) * 10_000 }
    scene.add(Scripted(times.map { (.microseconds($0), send()) }), metres: 20)
    let interferer = scene.add(Scripted(times.map { (.microseconds($0 + 45), send()) }), metres: 900)
    let listener = Scripted(times.map { (.microseconds($0 - 100), listen()) })
    scene.add(listener)
    scene.engine.schedule(at: .microseconds(105_000)) { $0[interferer].position.x = 10_000 }
    scene.run()
    #expect(listener.outcomes == Array(repeating: .intact, count: 10) + Array(repeating: .corrupt, count: 10))
  }

  @Test("The cache returns a loss only for the two places that it was stored for")
  func places() {
    var losses = LossCache()
    let places = (0..<40_000).map { _ in losses.nextPlace() }
    for (number, place) in places.enumerated() where number % 7 == 0 {
      losses.set(Decibel(number % 90), from: place, to: places[3])
      #expect(losses.loss(from: place, to: places[3]) == Decibel(number % 90))
      #expect(losses.loss(from: place, to: places[4]) == nil)
    }
    let known = places.enumerated().filter { losses.loss(from: $1, to: places[3]) != nil }
    #expect(!known.isEmpty)
    #expect(known.allSatisfy { $0 % 7 == 0 && losses.loss(from: $1, to: places[3]) == Decibel($0 % 90) })
    losses.set(Decibel(1), from: .passing, to: places[3])
    #expect(losses.loss(from: .passing, to: places[3]) == nil)
    losses.set(Decibel(1), from: places[3], to: .passing)
    #expect(losses.loss(from: places[3], to: .passing) == nil)
    losses.removeAll()
    #expect(places.allSatisfy { losses.loss(from: $0, to: places[3]) == nil })
  }
}
