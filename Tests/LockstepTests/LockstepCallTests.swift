import TestSupport
import Testing

/// Documentation/Lockstep.md lists these calls.
@Suite("Calls that follow the time of a lockstep")
struct LockstepCallTests {
  /// A call of Tests/LockstepHost, its result, and the time that it takes in nanoseconds.
  struct Call: CustomTestStringConvertible, Sendable {
    let name: String
    let result: Int
    let time: Int

    init(_ name: String, _ result: Int = 0, _ time: Int = 1_500_000_000) {
      (self.name, self.result, self.time) = (name, result, time)
    }

    var testDescription: String { name }
  }

  static let sleeps = [
    Call("nanosleep"), Call("clock_nanosleep"), Call("clock_nanosleep_absolute"), Call("usleep"),
    Call("sleep", 0, 3_600_000_000_000), Call("thrd_sleep"),
  ]
  static let descriptors = [
    Call("poll"), Call("ppoll"), Call("select"), Call("pselect"), Call("epoll_wait"), Call("epoll_pwait"),
    Call("epoll_pwait2"), Call("read", 1), Call("poll_pipe", 1), Call("recv", 1), Call("recv_timeout"),
    Call("fgets", 1), Call("write", 1 << 20), Call("fwrite", 1 << 20), Call("tcp", 1),
  ]
  // 14 is the number of SIGALRM, 10 that of SIGUSR1; `sleep` returns the 9 s that are left, rounded up.
  static let timers = [
    Call("timerfd", 3), Call("timerfd_epoll", 1), Call("alarm", 14, 2_000_000_000), Call("setitimer", 9 + 14),
    Call("timer_settime", 10), Call("sigtimedwait"),
  ]
  static let threads = [
    Call("cond_wait"), Call("cond_timedwait"), Call("cond_monotonic"), Call("cond_clockwait"), Call("sem_wait"),
    Call("sem_timedwait"), Call("futex", 1), Call("futex_timeout"), Call("mutex_lock"), Call("mutex_timedlock"),
    Call("rwlock"), Call("barrier"), Call("pthread_join"),
    Call("pthread_exit"),
  ]
  static let processes = [Call("wait", 7), Call("system"), Call("popen", 7), Call("kill", 15)]
  static let clocks = [
    Call("gettimeofday", 17_672_256_000, 0), Call("time", 100, 100_000_000_000), Call("spin", 0, 1_000_000),
  ]

  static let all = sleeps + descriptors + timers + threads + processes + clocks

  @Test("A call takes exactly its virtual time", arguments: all)
  func call(_ call: Call) async throws {
    let ending = try await LockstepRun.run([LockstepRun.host(), call.name])
    #expect(ending.output == "\(call.name) \(call.result) \(call.time)\n")
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("Random numbers, and the numbers of processes, are those of the seed")
  func randomness() async throws {
    let calls = [try LockstepRun.host(), "getrandom", "urandom", "getpid"]
    let first = try await LockstepRun.run(calls, options: ["--seed", "1"])
    let again = try await LockstepRun.run(calls, options: ["--seed", "1"])
    let other = try await LockstepRun.run(calls, options: ["--seed", "2"])
    #expect(first.output == again.output)
    #expect(first.output != other.output)
    #expect(first.output.contains("getpid 5000001 0"))
  }
}
