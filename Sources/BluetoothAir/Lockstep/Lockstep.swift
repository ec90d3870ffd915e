import BluetoothCapture
import BluetoothLab
import BluetoothTransport
import BluetoothWire
import CLockstep
import Foundation

/// Runs unchanged programs and an air in one virtual time.
///
/// The programs load a library (`CLockstepPreload`) that answers their clocks and waits. One thread of all programs and
/// of the air runs at a time; when all wait, the time moves to the earliest deadline or radio event. So a run is a
/// function of the programs and of the seed.
package final class Lockstep: @unchecked Sendable {
  // Unchecked: one thread creates the object and runs it; `requestEnd` uses the state only, which is Sendable.
  private let options: LockstepOptions
  private let folder: String
  private let state: LockstepState
  private let air: LockstepAir
  private let usedFiles: [ClaimedFile]
  /// The numbers of the programs in the lockstep, in their order.
  private var numbers: [CInt] = []

  /// The wall clock of the programs at time 0, as seconds since 1970 and since 2001: 1 January 2026, so that each run
  /// has the same time.
  private static let (wallClock, epoch): (Int64, Double) = (1_767_225_600, 788_918_400)

  /// Creates an air. No program runs yet.
  ///
  /// - Throws: `AirError`, if a socket can't be created, or the error of a capture.
  package init(_ options: LockstepOptions) throws {
    self.options = options
    usedFiles = options.air.usedFiles.map(ClaimedFile.init(path:))
    folder = try Self.makeFolder()
    do {
      // Addresses in programs depend on the length of this path, and some programs' random numbers on addresses.
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/preload.so", withDestinationPath: options.library)
      try Self.openSSLConfiguration.write(toFile: "\(folder)/openssl.cnf", atomically: false, encoding: .utf8)
      guard let pointer = lockstep_create("\(folder)/state", options.air.seed, Self.wallClock * 1_000_000_000) else {
        throw AirError("can't create \(folder)/state: \(String(cString: strerror(errno)))")
      }
      state = LockstepState(pointer)
      lockstep_answer_random(pointer, options.answersRandomness)
      let until: lockstep_until =
        switch options.until {
        case .all: lockstep_until_all
        case .first: lockstep_until_first
        case .last: lockstep_until_last
        }
      lockstep_set_until(pointer, until, options.stopsOnFailure)
      if let limit = options.limit { lockstep_set_end(pointer, Int64(clamping: limit.nanoseconds)) }
      air = LockstepAir(options.air, state: state, epoch: Self.epoch)
      for address in options.hosts { try air.listen(at: Self.path(of: address, in: folder)) }
      if let path = options.capturePath {
        air.startCapture(
          try Capture(path: path, decryptsAir: options.capturesDecrypted, writesKeys: options.capturesKeys))
      }
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Makes OpenSSL (version 3 and later) take the nonce of its random generator from the system, too. Otherwise the nonce
  /// is an address in the heap, which depends on the lengths of environment variables.
  private static let openSSLConfiguration = """
    openssl_conf = lockstep
    [lockstep]
    random = lockstep_random
    [lockstep_random]
    seed = SEED-SRC

    """

  private static func makeFolder() throws(AirError) -> String {
    var template = Array("/tmp/ble-lockstep-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw AirError("can't create a folder in /tmp: \(String(cString: strerror(errno)))")
    }
    return String(cString: made)
  }

  /// The file of an address at which hosts join. A port of this host is a file in the folder.
  private static func path(of address: TransportSpecifier, in folder: String) throws(AirError) -> String {
    switch address {
    case .unix(let path): return path
    case .tcp(_, let port) where address.isLocal && (1...65_535).contains(port):
      return "\(folder)/\(port)"
    default: throw AirError("hosts of a lockstep can't join at \(address): expected tcp:127.0.0.1:PORT or unix:PATH")
    }
  }

  // MARK: Running

  /// Runs the programs until the end of the run.
  ///
  /// - Parameter report: called with each message for the user, on any thread.
  /// - Throws: `AirError` if a program can't be started, or the error of a capture.
  package func run(_ report: @escaping @Sendable (String) -> Void) throws -> LockstepResult {
    let begin = ContinuousClock.now
    defer { lockstep_kill_all(state.pointer) }
    for program in options.programs { try start(program) }
    let supervisor = LockstepSupervisor(
      state, stallLimit: options.stallLimit, programs: zip(numbers, options.programs.map(\.name)).map { ($0, $1) },
      report)
    supervisor.start()
    air.run()
    let now = state.now
    for name in state.leftBehind { report("\(name) was left behind by its program, and is ended") }
    lockstep_kill_all(state.pointer)
    supervisor.stop()
    lockstep_reap(state.pointer)
    try air.stop()
    var result = LockstepResult(
      time: .nanoseconds(now), elapsed: ContinuousClock.now - begin, grants: lockstep_grants(state.pointer),
      turns: lockstep_turns(state.pointer), hasStalled: supervisor.hasStalled)
    for (number, program) in zip(numbers, options.programs) {
      result.ends.append((program.name, supervisor.end(of: number)))
    }
    return result
  }

  /// Ends the run as soon as the air gets the turn. May be called from any thread.
  package func requestEnd() { lockstep_stop(state.pointer) }

  /// Removes the files of the run, and kills the programs. May be called from any thread, before the process ends.
  package func cleanUp() {
    lockstep_kill_all(state.pointer)
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func start(_ program: LockstepProgram) throws {
    if lockstep_is_static(program.arguments[0]) {
      throw AirError("\(program.name) is a static program, which can't follow the time")
    }
    let number = lockstep_add_process(state.pointer, program.name, 0, true)
    guard number >= 0 else { throw AirError("too many programs") }
    numbers.append(number)
    let variables = environment.map { "\($0.key)=\($0.value)" }.sorted()
    let problem = Self.withCStrings(program.arguments) { arguments in
      Self.withCStrings(variables) { variables in
        lockstep_spawn(state.pointer, number, arguments, variables, -1)
      }
    }
    guard problem == 0 else {
      throw AirError("can't start \(program.arguments[0]): \(String(cString: strerror(problem)))")
    }
  }

  private static func withCStrings<R>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
      // The array has at least the terminator.
      body(buffer.baseAddress.unsafelyUnwrapped)
    }
  }

  /// The environment of the programs.
  private var environment: [String: String] {
    var result = ProcessInfo.processInfo.environment
    result["BLE_LOCKSTEP"] = folder
    let preloaded = ["\(folder)/preload.so", result["LD_PRELOAD"] ?? ""]
    result["LD_PRELOAD"] = preloaded.filter { !$0.isEmpty }.joined(separator: ":")
    if let address = options.hosts.first {
      let name = "COREBLUETOOTH_ADAPTER"
      if result[name] == nil { result[name] = "\(address)" }
    }
    guard options.answersRandomness else { return result }
    // Python orders sets of strings by a random number, unless this variable has one.
    if result["PYTHONHASHSEED"] == nil { result["PYTHONHASHSEED"] = "0" }
    if result["OPENSSL_CONF"] == nil { result["OPENSSL_CONF"] = "\(folder)/openssl.cnf" }
    #if arch(x86_64)
      // Without the instructions RDRAND, RDSEED and RDTSC, OpenSSL takes its random numbers from the system.
      if result["OPENSSL_ia32cap"] == nil { result["OPENSSL_ia32cap"] = "~0x4000000000000010:~0x40000" }
    #endif
    return result
  }
}
