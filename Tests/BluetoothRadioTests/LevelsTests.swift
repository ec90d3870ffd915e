import BluetoothWire
import Foundation
import Requirements
import Testing

@testable import BluetoothRadio

@Suite("Levels")
struct LevelsTests {
  @Test("The integer logarithm agrees with the floating-point logarithm to a millionth")
  func logarithm() {
    for value: UInt64 in [1, 2, 3, 10, 1_000, 15_800, 123_456_789, 1 << 40, .max] {
      let exact = log2(Double(value))
      #expect(abs(Double(FixedPoint.log2(value)) / Double(1 << 24) - exact) < 1e-6)
    }
  }

  @Test("Integer powers of two agree with floating-point ones to 0.002 %, and to 0.02 % below one")
  func power() {
    for exponent in stride(from: -3.0, through: 20, by: 0.37) {
      let fixed = Double(FixedPoint.exp2(Int64(exponent * Double(1 << 24)))) / 65_536
      #expect(abs(fixed / exp2(exponent) - 1) < (exponent < 0 ? 2e-4 : 2e-5))
    }
  }

  @Test("Two equal levels add up to 3 dB more, and a far weaker level adds nothing")
  func sums() {
    func sum(_ left: Int, _ right: Int) -> Decibel {
      var power = LinearPower(Decibel(left))
      power += LinearPower(Decibel(right))
      return power.level
    }
    #expect(abs(sum(-80, -80).value + 76.99) < 0.02)
    #expect(abs(sum(-80, -90).value + 79.586) < 0.02)
    #expect(abs(sum(-80, -130).value + 80) < 0.01)
    #expect(abs(sum(20, 20).value - 23.01) < 0.02)
  }

  @Test("A level survives the conversion to linear power and back", arguments: [-140, -120, -100, -91, -45, 0, 20, 30])
  func roundTrip(level: Int) {
    #expect(abs(LinearPower(Decibel(level)).level.value - Double(level)) < (level < -130 ? 0.5 : 0.01))
  }

  @Test("At the sensitivity one bit in a thousand is lost", .requirement("L214"))
  func sensitivity() {
    let cost = Bits.cost(at: Decibel(rounding: 10.9))
    let rate = 1 - exp2(-Double(cost) / Double(UInt64(1) << 40))
    #expect(abs(rate - 1e-3) < 2e-4)
  }

  @Test("Bits arrive with the probability that their cost stands for")
  func randomDraws() {
    var generator = RandomStream(seed: 1)
    // At a cost of two bits, a quarter arrives.
    let arrived = (0..<20_000).count { _ in Bits.arrive(cost: 2 << 40, draw: generator.next()) }
    #expect((4_750...5_250).contains(arrived))
    let arrivesForNothing = Bits.arrive(cost: 0, draw: 0)
    #expect(arrivesForNothing)
    let arrivesHopelessly = Bits.arrive(cost: Bits.hopeless, draw: 0)
    #expect(!arrivesHopelessly)
  }

  @Test("Distances are whole millimetres")
  func distances() {
    #expect(GridPosition(x: 3_000).squaredDistance(to: GridPosition(x: 0, y: 4_000)) == 25_000_000)
    #expect(GridPosition(x: 1, y: 1).squaredDistance(to: GridPosition(x: 0)) == 2)
    let far = GridPosition(metresX: 1e9, y: -1e9, z: .nan)
    #expect(far == GridPosition(x: 1_000_000_000, y: -1_000_000_000))
    #expect(GridPosition(x: .max).squaredDistance(to: GridPosition(x: .min)) == .max)
  }
}
