import CoreBluetooth

struct Tally {
  var passed = 0
  var failed = 0
  mutating func ok(_ name: String, _ good: Bool, _ note: @autoclosure () -> String = "") {
    if good {
      passed += 1
    } else {
      failed += 1
      print("FAIL \(name) \(note())")
    }
  }
  mutating func equal<T: Equatable>(_ name: String, _ got: T, _ want: T, likely: Bool = false) {
    ok(name, got == want, "got \(got), expected \(want)\(likely ? " (value likely, not confirmed)" : "")")
  }
}

var tally = Tally()
runTable(&tally)
runSemantics(&tally)
if CommandLine.arguments.contains("--managers") { runManagers(&tally) }
print("\(tally.passed) passed, \(tally.failed) failed")
exit(tally.failed == 0 ? 0 : 1)
