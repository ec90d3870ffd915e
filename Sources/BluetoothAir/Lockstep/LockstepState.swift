import CLockstep

/// The state that the processes of a lockstep share.
final class LockstepState: @unchecked Sendable {
  // Unchecked: CLockstep says which functions a thread may call, and when.
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { lockstep_close(pointer) }

  var isStopping: Bool { lockstep_is_stopping(pointer) }
  var now: Int64 { lockstep_now(pointer) }

  /// The names of the processes that run after the ends of all processes that could wait for them.
  var leftBehind: [String] {
    (1..<CInt(lockstep_process_count(pointer))).filter { lockstep_is_left_behind(pointer, $0) }
      .map { String(cString: lockstep_name(pointer, $0)) }
  }

  /// The description of the thread that has the turn, or of all threads that wait.
  var text: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 8_192) { buffer in
      lockstep_describe(pointer, buffer.baseAddress, CInt(buffer.count))
      return buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
  }
}
