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

  @Test("A program that closes its connection leaves the air; the others and the program go on")
  func closedConnection() async throws {
    let host = "exec 3<>/dev/tcp/127.0.0.1/6402; printf '\\x01\\x03\\x0c' >&3; exec 3>&-; sleep 2; date -u +%T"
    let ending = try await LockstepRun.run(["bash", "-c", host], [LockstepRun.host(), "nanosleep"])
    #expect(ending.output == "nanosleep 0 1500000000\n00:00:02\n")
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("A program that is killed ends the run with a message, or the others go on with --keep-going")
  func killed() async throws {
    let programs = [[try LockstepRun.host(), "kill_self"], [try LockstepRun.host(), "sleep"]]
    let message = "lockstep-host was ended by signal 9 (Killed) at 1.500000 s"
    let ended = try await LockstepRun.run(programs[0], programs[1])
    #expect(ended.output == "" && ended.errors.contains(message) && ended.status == 137, "\(ended.errors)")
    let kept = try await LockstepRun.run(programs[0], programs[1], options: ["--keep-going"])
    #expect(kept.output == "sleep 0 3600000000000\n" && kept.errors.contains(message) && kept.status == 137)
  }

  @Test("A program that forks away goes on while others run, and is named at the end")
  func daemon() async throws {
    let ending = try await LockstepRun.run(
      [LockstepRun.host(), "daemon"], [LockstepRun.host(), "nanosleep", "leave", "nanosleep"])
    #expect(ending.output == "nanosleep 0 1500000000\nleave 0 0\ndaemon 1 1500000000\nnanosleep 0 1500000000\n")
    #expect(ending.errors == "ble: lockstep-host was left behind by its program, and is ended\n")
    #expect(ending.status == 0)
  }

  @Test("An interrupt ends a run whose program holds the turn")
  func interrupt() async throws {
    let script = """
      exec 3< <(exec "$0" lockstep -- "$1" nanosleep block)
      run=$!
      read -u 3 line
      kill -INT $run
      wait $run
      echo "$line $?"
      """
    let ending = try await Program.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", script, Program.url("ble").path, LockstepRun.host()])
    #expect(ending.output == "nanosleep 0 1500000000 130\n", "\(ending.errors)")
  }

  @Test(
    "A program that holds the time is named after 10 s, with its process and its last wait; the run then goes on",
    .enabled(if: ProcessInfo.processInfo.environment["COREBLUETOOTH_OTHER_PROGRAMS"] == "1", "it takes real time"))
  func watchdog() async throws {
    let ending = try await LockstepRun.run(["sh", "-c", "ulimit -S -t 12; exec \(LockstepRun.host()) nanosleep hang"])
    let message =
      #/ble: the time stands still at 1.500000 s: lockstep-host \(process \d+, thread \d+\) runs: it computes, .*its last wait was nanosleep/#
    #expect(ending.errors.contains(message), "\(ending.errors)")
    #expect(ending.errors.contains("was ended by signal 24"), "\(ending.errors)")
    #expect(ending.status == 128 + 24)
  }

  @Test(
    "A run in which all programs wait for each other ends after 10 s, and names each thread and its call",
    .enabled(if: ProcessInfo.processInfo.environment["COREBLUETOOTH_OTHER_PROGRAMS"] == "1", "it takes real time"))
  func stall() async throws {
    let ending = try await LockstepRun.run([LockstepRun.host(), "forever"])
    let message = #/all wait, and none has a deadline\n *lockstep-host \(process \d+, thread \d+\): pause/#
    #expect(ending.errors.contains(message), "\(ending.errors)")
    #expect(ending.status == 1)
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
