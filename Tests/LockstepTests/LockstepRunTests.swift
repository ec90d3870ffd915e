import Foundation
import TestSupport
import Testing

@Suite("Runs of a lockstep")
struct LockstepRunTests {
  @Test("Two programs share one time")
  func sharedTime() async throws {
    let ending = try await LockstepRun.run(
      ["sh", "-c", "sleep 3; date -u +%T; sleep 3; date -u +%T"],
      ["sh", "-c", "sleep 2; date -u +%T; sleep 2; date -u +%T"])
    #expect(ending.output == "00:00:02\n00:00:03\n00:00:04\n00:00:06\n")
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("A shell script has pipes, children, traps and background jobs")
  func script() async throws {
    let script = """
      for i in 1 2; do sleep 1; echo $i; done | while read x; do echo got $x; done
      (sleep 10; echo late) & (sleep 5; echo early) & wait
      seq 1 100000 | sort -n | tail -n 1
      trap 'date -u +%T; exit 3' TERM
      (sleep 2; kill $$) &
      sleep 50 & wait
      """
    let ending = try await LockstepRun.run(["sh", "-c", script])
    #expect(ending.output == "got 1\ngot 2\nearly\nlate\n100000\n00:00:14\n")
    #expect(ending.status == 3)
  }

  @Test("A program that fails ends the run, with its status")
  func failure() async throws {
    let ending = try await LockstepRun.run([LockstepRun.host(), "forever"], [LockstepRun.host(), "nanosleep", "fail"])
    #expect(ending.status == 3)
    #expect(ending.errors.contains("lockstep-host has ended with status 3 at 1.500000 s"))
  }

  @Test("With --keep-going, the others go on after a crash")
  func crash() async throws {
    let ending = try await LockstepRun.run(
      [LockstepRun.host(), "abort"], [LockstepRun.host(), "sleep"], options: ["--keep-going"])
    #expect(ending.output == "sleep 0 3600000000000\n")
    #expect(ending.errors.contains("lockstep-host was ended by signal 6"))
    #expect(ending.status == 128 + 6)
  }

  @Test("--until last ends the run with the last program")
  func until() async throws {
    let ending = try await LockstepRun.run(
      ["sleep", "100000"], [LockstepRun.host(), "nanosleep"], options: ["--until", "last", "--stats"])
    #expect(ending.output == "nanosleep 0 1500000000\n")
    #expect(ending.errors.contains("1.500000 s of virtual time"))
    #expect(ending.status == 0)
  }

  @Test("--for ends the run at a time")
  func limit() async throws {
    let ending = try await LockstepRun.run(
      ["sh", "-c", "while sleep 1; do echo tick; done"], options: ["--for", "3.5s"])
    #expect(ending.output == "tick\ntick\ntick\n")
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("A program that is missing is reported")
  func missingProgram() async throws {
    let ending = try await LockstepRun.run(["/no/such/program"])
    #expect(ending.errors.contains("can't start /no/such/program: No such file or directory"))
    #expect(ending.status == 1)
  }

  @Test("An address outside of the host can't be reached, and the program's user is told")
  func elsewhere() async throws {
    let ending = try await LockstepRun.run(["bash", "-c", "exec 3<>/dev/tcp/192.0.2.1/80 || exit 5"])
    #expect(ending.errors.contains("can't connect to 192.0.2.1: only this host can be reached in a lockstep"))
    #expect(ending.status != 0)
  }
}
