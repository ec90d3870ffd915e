import BluetoothWire
import Foundation
import Requirements
import Testing

@testable import BluetoothRadio

@Suite("Antennas with a direction")
struct DirectionalLossTests {
  /// A loss of as many decibels as the angle to the axis has degrees.
  private func ramp(axis: (x: Double, y: Double, z: Double)) -> DirectionalLoss {
    DirectionalLoss(axis: axis, losses: (0...180).map { Decibel($0) })
  }

  private func place(degrees: Double, metres: Double) -> GridPosition {
    GridPosition(metresX: metres * cos(degrees * .pi / 180), y: metres * sin(degrees * .pi / 180), z: 0)
  }

  @Test(
    "The loss follows the angle to the axis, at any distance", .requirement("L073"),
    arguments: [0.5, 10, 5_000, 900_000])
  func angles(metres: Double) {
    let antenna = ramp(axis: (3, 0, 0))
    for degrees in stride(from: -180.0, through: 180, by: 7.5) {
      let loss = antenna.loss(from: GridPosition(x: 0), to: place(degrees: degrees, metres: metres)).value
      // Positions are whole millimetres: 0.1° at 0.5 m.
      #expect(abs(loss - abs(degrees)) < 0.26, "\(degrees)° at \(metres) m")
    }
  }

  @Test("The direction is that from the antenna, and the axis may point anywhere")
  func origins() {
    let up = ramp(axis: (0, 0, 1e-300))
    let origin = GridPosition(x: 5_000, y: -3_000, z: 1_000)
    #expect(up.loss(from: origin, to: GridPosition(x: 5_000, y: -3_000, z: 9_000)) == Decibel(0))
    #expect(up.loss(from: origin, to: GridPosition(x: 5_000, y: -3_000, z: -9_000)) == Decibel(180))
    #expect(up.loss(from: origin, to: GridPosition(x: -5_000, y: -3_000, z: 1_000)).rounded == 90)
    let diagonal = ramp(axis: (1e300, 1e300, 0))
    #expect(diagonal.loss(from: GridPosition(x: 0), to: GridPosition(x: 1_000)).rounded == 45)
    #expect(diagonal.loss(from: origin, to: origin) == Decibel(0))
  }

  @Test(
    "Without a direction the axis is that of x; negative losses are 0; one value counts everywhere",
    arguments: [(0, 0, 0), (.nan, 1, 0), (0, .infinity, 0)] as [(Double, Double, Double)])
  func badInput(axis: (x: Double, y: Double, z: Double)) {
    let antenna = DirectionalLoss(axis: axis, losses: [Decibel(-9), Decibel(30)])
    #expect(antenna.loss(from: GridPosition(x: 0), to: GridPosition(x: 7)) == Decibel(0))
    #expect(antenna.loss(from: GridPosition(x: 0), to: GridPosition(x: -7)) == Decibel(30))
    for losses in [[Decibel(4)], []] {
      let equal = DirectionalLoss(axis: axis, losses: losses)
      #expect(equal.loss(from: GridPosition(x: 0), to: GridPosition(x: -7, y: 3)) == losses.first ?? Decibel(0))
    }
  }

  @Test("The antennas of both ends count in both directions, and can be turned; a fixed loss replaces them")
  func bothEnds() {
    let scene = Scene()
    let one = scene.add(Scripted([]))
    let other = scene.add(Scripted([]), metres: 10)
    func levels() -> [Int] {
      [
        scene.engine.level(of: Decibel(0), from: one, at: other).rounded,
        scene.engine.level(of: Decibel(0), from: other, at: one).rounded,
      ]
    }
    // `other` is in the direction of x from `one`, and `one` against x from `other`.
    let panel = DirectionalLoss(axis: (1, 0, 0), losses: [Decibel(0), Decibel(10), Decibel(20)])
    scene.engine.setDirectionalLoss(panel, of: one)
    #expect(levels() == [-65, -65])
    scene.engine.setDirectionalLoss(panel, of: other)
    #expect(levels() == [-85, -85])
    scene.engine.setDirectionalLoss(DirectionalLoss(axis: (0, 1, 0), losses: [Decibel(0), Decibel(20)]), of: one)
    #expect(levels() == [-95, -95])
    scene.engine.setLoss(Decibel(33), between: one, and: other)
    #expect(levels() == [-33, -33])
    scene.engine.setLoss(nil, between: one, and: other)
    scene.engine.setDirectionalLoss(nil, of: one)
    scene.engine.setDirectionalLoss(nil, of: other)
    #expect(levels() == [-65, -65])
  }

  @Test("A radio that walks around an antenna is received in front of it, and not behind it", .requirement("L073"))
  func walk() throws {
    let scene = Scene()
    let sender = scene.add(Scripted((0..<5).map { (.microseconds(1_000_000 * $0 + 100), send()) }))
    scene.engine.setDirectionalLoss(
      DirectionalLoss(axis: (1, 0, 0), losses: [Decibel(0), Decibel(10), Decibel(60)]), of: sender)
    let receiver = Scripted((0..<5).map { (.microseconds(1_000_000 * $0), listen(until: 1_000_000 * $0 + 500_000)) })
    let walker = scene.add(receiver)
    // In front at 0 s, beside the antenna at 2 s, behind it at 4 s, always 10 m away at these times.
    scene.engine.move(
      walker,
      along: MovementPath([
        MovementPath.Point(.zero, GridPosition(x: 10_000)),
        MovementPath.Point(.zero + .seconds(2), GridPosition(x: 0, y: 10_000)),
        MovementPath.Point(.zero + .seconds(4), GridPosition(x: -10_000)),
      ]))
    scene.run()
    #expect(receiver.outcomes.map { $0 == .intact } == [true, true, true, false, false])
    #expect(receiver.levels.map(\.rounded).first == -65)
    #expect(receiver.levels.map(\.rounded).last == -75)
  }

  @Test("A loss that is already known is not used after an antenna has turned")
  func turned() {
    let scene = Scene()
    let sender = scene.add(Scripted((0..<2).map { (.microseconds(1_000_000 * $0 + 100), send()) }))
    let receiver = Scripted((0..<2).map { (.microseconds(1_000_000 * $0), listen(until: 1_000_000 * $0 + 500_000)) })
    scene.add(receiver, metres: 10)
    scene.engine.schedule(at: .zero + .milliseconds(700)) { engine in
      engine.setDirectionalLoss(DirectionalLoss(axis: (-1, 0, 0), losses: [Decibel(0), Decibel(12)]), of: sender)
    }
    scene.run()
    #expect(receiver.levels.map(\.rounded) == [-65, -77])
  }
}
