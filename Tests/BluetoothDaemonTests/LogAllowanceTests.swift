import BluetoothDaemon
import BluetoothWire
import Testing

@Suite struct LogAllowanceTests {
  private func text(_ omissions: [(origin: String?, count: Int)]) -> [String] {
    omissions.map { "\($0.origin ?? "others") \($0.count)" }
  }

  @Test("An origin causes a number of lines in each period, and the omitted ones are counted at its end")
  func periods() {
    var allowance = LogAllowance<String>(lines: 2, period: .seconds(60))
    let start = Instant(nanoseconds: 5_000_000_000)
    #expect(allowance.deadline == nil)
    #expect((0..<5).map { allowance.admits("a", at: start + .seconds($0)) } == [true, true, false, false, false])
    let other = allowance.admits("b", at: start + .seconds(10))
    #expect(other)
    #expect(allowance.deadline == start + .seconds(60))
    #expect(text(allowance.takeOmissions(at: start + .seconds(59))) == [])
    let late = allowance.admits("a", at: start + .seconds(59))
    #expect(!late)
    #expect(text(allowance.takeOmissions(at: start + .seconds(60))) == ["a 4"])
    #expect(allowance.deadline == start + .seconds(70))
    // A new period, with the whole allowance.
    #expect((0..<3).map { _ in allowance.admits("a", at: start + .seconds(60)) } == [true, true, false])
    #expect(text(allowance.takeOmissions(at: start + .seconds(70))) == [])
    #expect(text(allowance.takeOmissions(at: nil)) == ["a 1"])
    #expect(allowance.deadline == nil)
  }

  @Test("Lines of more origins than there are allowances are omitted and counted together")
  func manyOrigins() {
    var allowance = LogAllowance<String>(lines: 5, period: .seconds(60), maximumOrigins: 3)
    let admitted = (0..<10).map { allowance.admits("\($0)", at: .zero) }
    #expect(admitted.count { $0 } == 3)
    let known = allowance.admits("0", at: .zero)
    #expect(known)
    #expect(text(allowance.takeOmissions(at: .zero + .seconds(60))) == ["others 7"])
    let renewed = allowance.admits("9", at: .zero + .seconds(60))
    #expect(renewed)
  }
}
