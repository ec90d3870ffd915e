import BluetoothWire
import Foundation
import Requirements
import Testing

@testable import BluetoothRadio

@Suite("Places")
struct PlacesTests {
  private func loss(_ model: PathLossModel, metres: Double) -> Double {
    let millimetres = UInt64((metres * 1_000).rounded())
    return model.loss(squaredDistance: millimetres * millimetres).value
  }

  @Test(
    "The default loss is 40 + 25 log10 d dB", .requirement("L215"),
    arguments: [0.5, 1, 2, 10, 15.8, 100, 251, 1_000, 100_000])
  func defaultLoss(metres: Double) {
    let expected = 40 + 25 * log10(metres)
    #expect(abs(loss(.free, metres: metres) - expected) < 0.01)
  }

  @Test("Distances below 10 cm count as 10 cm")
  func nearest() {
    #expect(abs(loss(.free, metres: 0) - 15) < 0.01)
  }

  @Test("The loss follows another exponent and reference", arguments: [2, 2.7, 3.5, 4])
  func exponents(exponent: Double) {
    let model = PathLossModel(reference: Decibel(46), exponent: Int((exponent * 100).rounded()))
    let expected = 46 + 10 * exponent * log10(37)
    #expect(abs(loss(model, metres: 37) - expected) < 0.02)
  }

  @Test(
    "Each environment reaches its nominal distance at a sensitivity of −90 dBm",
    arguments: [
      (.free, 10, 251), (.free, -20, 15.8), (.free, 0, 100), (.lineOfSight, 10, 50), (.office, 10, 30),
    ] as [(PathLossModel, Double, Double)])
  func environments(model: PathLossModel, power: Double, metres: Double) {
    let level = power - loss(model, metres: metres)
    #expect(abs(level + 90) < 0.15)
  }

  @Test(
    "With an exponent of 2.31 and a margin of 20.75 dB, +10 dBm reach 50 m and −20 dBm reach 2.5 m",
    .requirement("L213"))
  func greatestAndLeastPower() {
    let model = PathLossModel(exponent: 231, margin: Decibel(steps: 5_312))
    for (power, metres) in [(10, 50), (-20, 2.5)] as [(Double, Double)] {
      #expect(abs(power - loss(model, metres: metres) + 90) < 0.15)
      #expect(power - loss(model, metres: metres * 1.2) < -91)
    }
  }

  @Test("The margin is the level left over in free space: 17.5 dB at 50 m in sight, 23 dB at 30 m in an office")
  func margins() {
    let margins = [50, 30].map { 100 - loss(.free, metres: $0) }
    #expect(abs(margins[0] - 17.5) < 0.05)
    #expect(abs(margins[1] - 23) < 0.1)
  }

  @Test(
    "Shadowing is symmetric, has the requested deviation, and depends on the seed")
  func shadowing() {
    func losses(seed: UInt64) -> [Double] {
      let scene = Scene(seed: seed)
      scene.engine.pathLoss = PathLossModel(shadowing: Decibel(6))
      let radios = (0..<60).map { _ in scene.add(Scripted([]), metres: 0) }
      for one in radios { scene.engine[one].position = GridPosition(x: 10_000 * Int64(one.index & 1)) }
      var result: [Double] = []
      for one in radios {
        for other in radios where other.index > one.index && (one.index ^ other.index) & 1 == 1 {
          let there = scene.engine.level(of: Decibel(0), from: one, at: other)
          #expect(there == scene.engine.level(of: Decibel(0), from: other, at: one))
          result.append(-there.value - 65)
        }
      }
      return result
    }
    let values = losses(seed: 1)
    let mean = values.reduce(0, +) / Double(values.count)
    let deviation = (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot()
    #expect(values.count == 900)
    #expect(abs(mean) < 0.7)
    #expect((5.5...6.5).contains(deviation))
    #expect(values == losses(seed: 1))
    #expect(values != losses(seed: 2))
  }

  @Test("The loss between two radios can be set and removed")
  func givenLoss() {
    let scene = Scene()
    let one = scene.add(Scripted([]))
    let other = scene.add(Scripted([]), metres: 10)
    scene.engine.setLoss(Decibel(33), between: one, and: other)
    #expect(scene.engine.level(of: Decibel(4), from: one, at: other) == Decibel(-29))
    #expect(scene.engine.level(of: Decibel(4), from: other, at: one) == Decibel(-29))
    scene.engine.setLoss(nil, between: other, and: one)
    #expect(scene.engine.level(of: Decibel(0), from: one, at: other).rounded == -65)
  }

  @Test("A path is a straight line at constant speed between its points, and rests before and after them")
  func path() throws {
    let path = try #require(
      MovementPath([
        MovementPath.Point(.zero + .seconds(3), GridPosition(x: 0, y: 10_000, z: -4)),
        MovementPath.Point(.zero + .seconds(1), GridPosition(x: 1_000)),
      ]))
    #expect(path.position(at: .zero) == GridPosition(x: 1_000))
    #expect(path.position(at: .zero + .seconds(2)) == GridPosition(x: 500, y: 5_000, z: -2))
    #expect(path.position(at: .zero + .milliseconds(1_002)) == GridPosition(x: 999, y: 10))
    #expect(path.position(at: .zero + .seconds(9)) == GridPosition(x: 0, y: 10_000, z: -4))
    #expect(MovementPath([]) == nil)
    let jump = MovementPath([0, 5].map { MovementPath.Point(.zero, GridPosition(x: $0)) })
    #expect(jump?.position(at: .zero) == GridPosition(x: 5))
  }

  @Test("Each packet of a device that moves away is weaker, until the device is out of range")
  func movingAway() throws {
    let scene = Scene()
    let sender = scene.add(Scripted((0..<5).map { (.microseconds(1_000_000 * $0 + 100), send()) }))
    let receiver = Scripted((0..<5).map { (.microseconds(1_000_000 * $0), listen(until: 1_000_000 * $0 + 500_000)) })
    scene.add(receiver)
    scene.engine.move(
      sender,
      along: MovementPath([
        MovementPath.Point(.zero, GridPosition(x: 1_000)),
        MovementPath.Point(.zero + .seconds(4), GridPosition(x: 401_000)),
      ]))
    scene.run()
    #expect(receiver.levels.map(\.rounded) == [-40, -90])
    #expect(receiver.outcomes.suffix(2) == [.nothing, .nothing])
    #expect(scene.engine[sender].position == GridPosition(x: 401_000))
  }

  @Test("Setting a radio's position ends its movement; changing another property does not")
  func putElsewhere() {
    let scene = Scene()
    let radio = scene.add(Scripted([]))
    let path = MovementPath([
      MovementPath.Point(.zero, GridPosition(x: 0)), MovementPath.Point(.zero + .seconds(10), GridPosition(x: 10_000)),
    ])
    scene.engine.move(radio, along: path)
    scene.run(until: .zero + .seconds(1))
    scene.engine[radio].antennaGain = Decibel(2)
    scene.run(until: .zero + .seconds(2))
    #expect(scene.engine[radio].position == GridPosition(x: 2_000))
    scene.engine[radio].position = GridPosition(x: 7)
    scene.run(until: .zero + .seconds(3))
    #expect(scene.engine[radio].position == GridPosition(x: 7))
  }
}
