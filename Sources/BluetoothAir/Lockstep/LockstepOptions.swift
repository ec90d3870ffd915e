import BluetoothTransport
import BluetoothWire

/// A program of a lockstep.
package struct LockstepProgram: Hashable, Sendable {
  /// The program, searched in PATH, and its arguments.
  package let arguments: [String]

  /// Creates a program from at least one argument.
  package init?(_ arguments: [String]) {
    guard !arguments.isEmpty else { return nil }
    self.arguments = arguments
  }

  /// The last part of the program's path.
  package var name: String { String(arguments[0].split(separator: "/").last ?? "program") }
}

/// The options of a lockstep.
package struct LockstepOptions: Sendable {
  /// The end of the run: that of all programs, of the first one or of the last one.
  package enum End: String, Sendable, CaseIterable { case all, first, last }

  /// The world, its seed and its limits. The speed has no effect.
  package var air = AirOptions()
  package var programs: [LockstepProgram] = []
  /// The addresses at which hosts join: ports of this host, which only the programs see, and Unix sockets.
  package var hosts: [TransportSpecifier] = [.tcp(host: "127.0.0.1", port: 6_402)]
  /// The path of libble-lockstep.so.
  package var library: String
  package var capturePath: String?
  package var capturesDecrypted = false
  package var capturesKeys = false
  package var until = End.all
  /// True if a program that fails ends the run.
  package var stopsOnFailure = true
  /// The virtual time after which the run ends; nil: none.
  package var limit: TimeSpan?
  /// True if the programs get random numbers of the seed.
  package var answersRandomness = true
  /// The real time without any deadline or progress after which the run ends.
  package var stallLimit = Duration.seconds(10)

  package init(library: String) { self.library = library }
}

/// The end of a run.
package struct LockstepResult: Sendable {
  /// The end of a program.
  package enum End: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// The program was running at the end of the run, which has ended it.
    case stopped
  }

  /// The virtual time of the run.
  package let time: TimeSpan
  /// The real time of the run.
  package let elapsed: Duration
  /// The number of times that the time has moved.
  package let grants: UInt64
  /// The number of times that a thread has got the turn.
  package let turns: UInt64
  /// True if the run has ended because no program could go on.
  package let hasStalled: Bool
  /// The programs and their ends, in the order of the options.
  package var ends: [(name: String, end: End)] = []
}
