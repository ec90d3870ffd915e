import BluetoothWire
import Foundation
import Testing

@testable import BluetoothRadio

@Suite("Levels")
struct LevelsTests {
  @Test("The logarithm in whole numbers agrees with the floating one to a millionth")
  func logarithm() {
    for value: UInt64 in [1, 2, 3, 10, 1_000, 15_800, 123_456_789, 1 << 40, .max] {
      let exact = log2(Double(value))
      #expect(abs(Double(FixedPoint.log2(value)) / Double(1 << 24) - exact) < 1e-6)
    }
  }

  @Test("Powers of two agree with the floating ones to a millionth")
  func power() {
    for exponent in stride(from: -3.0, through: 20, by: 0.37) {
      let fixed = Double(FixedPoint.exp2(Int64(exponent * Double(1 << 24)))) / 65_536
      #expect(abs(fixed / exp2(exponent) - 1) < (exponent < 0 ? 2e-4 : 2e-5))
    }
  }

  @Test("Path loss is 40 + 25 log10 d dB", arguments: [0.5, 1, 2, 10, 15.8, 100, 251, 1_000])
  func pathLoss(metres: Double) {
    let loss = Levels.pathLoss(millimetres: UInt64(metres * 1_000))
    #expect(abs(loss.value - (40 + 25 * log10(metres))) < 0.01)
  }

  @Test("Two equal levels together are 3 dB more; one that is far weaker adds nothing")
  func sums() {
    #expect(abs(Levels.sum(Decibel(-80), Decibel(-80)).value + 76.99) < 0.02)
    #expect(abs(Levels.sum(Decibel(-80), Decibel(-90)).value + 79.586) < 0.02)
    #expect(Levels.sum(Decibel(-80), Decibel(-130)) == Decibel(-80))
  }

  @Test("At the sensitivity one bit in a thousand is lost")
  func sensitivity() {
    let cost = Levels.costPerBit(at: Decibel(rounding: 10.9))
    let rate = 1 - exp2(-Double(cost) / Double(UInt64(1) << 40))
    #expect(abs(rate - 1e-3) < 2e-4)
  }

  @Test("Bits arrive as often as their cost says")
  func chance() {
    var generator = SplitGenerator(seed: 1)
    // Two bits of cost: a quarter arrives.
    let arrived = (0..<20_000).count { _ in Levels.arrives(cost: 2 << 40, using: &generator) }
    #expect((4_750...5_250).contains(arrived))
    #expect(Levels.arrives(cost: 0, using: &generator))
  }

  @Test("Distances are whole millimetres, rounded down")
  func distances() {
    #expect(GridPosition(x: 3_000).distance(to: GridPosition(x: 0, y: 4_000)) == 5_000)
    #expect(GridPosition(x: 1, y: 1).distance(to: GridPosition(x: 0)) == 1)
    let far = GridPosition(metresX: 1e9, y: -1e9, z: .nan)
    #expect(far == GridPosition(x: 1_000_000_000, y: -1_000_000_000))
  }
}
