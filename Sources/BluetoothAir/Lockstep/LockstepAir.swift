import BluetoothLab
import BluetoothTransport
import BluetoothWire
import CLockstep
import Foundation
import NIOCore
import NIOEmbedded

/// The air of a lockstep: the first of its threads. Its world moves with the lockstep's time, and processes what hosts
/// have written at the time at which they wrote it. Confined to the thread that creates it.
final class LockstepAir {
  private let state: LockstepState
  private let loop = EmbeddedEventLoop()
  private let executor: SteppedExecutor
  private let world: World
  private let hosts: HostTable
  private var listeners: [UnixSocketFile] = []
  private var links: [LockstepLink] = []

  /// - Parameter epoch: the seconds since 1 January 2001 at time 0.
  init(_ options: AirOptions, state: LockstepState, epoch: Double) {
    self.state = state
    executor = SteppedExecutor(epoch: epoch)
    world = World(seed: options.seed, time: .real(speed: 1), capture: nil, executor: executor)
    hosts = HostTable(options, world: world, loop: loop)
    loop.run()
    executor.run(at: 0)
  }

  func startCapture(_ capture: Capture) { world.startCapture(capture) }

  /// Listens for hosts at the Unix socket `path`.
  func listen(at path: String) throws(TransportError) {
    let file = try UnixSocketFile(path: path)
    guard Foundation.listen(file.descriptor, 128) == 0 else {
      throw TransportError("can't listen at \(path): \(TransportError.reason(errno))")
    }
    listeners.append(file)
  }

  /// Runs the world until the lockstep stops.
  func run() {
    var hasWritten = true
    while !state.isStopping {
      let deadline = executor.due.map { Int64(clamping: $0) } ?? .max
      lockstep_wait(state.pointer, 0, "the air", deadline, true, hasWritten)
      hasWritten = takeTurn()
    }
  }

  /// Processes what hosts have written, and the world's events that are due. Returns true if hosts must check their
  /// sockets.
  private func takeTurn() -> Bool {
    let now = UInt64(max(0, lockstep_now(state.pointer)))
    var hasWritten = false
    executor.run(at: now)
    var hasReceived = true
    while hasReceived {
      hasReceived = accept()
      for link in links where link.receive() {
        hasReceived = true
        settle(at: now)
      }
      settle(at: now)
      for link in links where link.send() { hasWritten = true }
      // A link that closes makes the world change.
      settle(at: now)
      if links.contains(where: { !$0.isOpen }) {
        links.removeAll { !$0.isOpen }
        hasWritten = true
      }
    }
    return hasWritten
  }

  private func settle(at now: UInt64) {
    loop.run()
    executor.run(at: now)
  }

  /// Accepts the hosts that have connected, in their order. Returns true if there was one.
  private func accept() -> Bool {
    var hasAccepted = false
    for listener in listeners {
      while true {
        let descriptor = Foundation.accept(listener.descriptor, nil, nil)
        guard descriptor >= 0 else { break }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let handler = H4Handler(for: .controller, pool: hosts.pool.value, receiver: HCIClient(table: hosts))
        guard let link = try? LockstepLink(descriptor, handler: handler, loop: loop) else { continue }
        links.append(link)
        hasAccepted = true
      }
    }
    return hasAccepted
  }

  /// Ends the world, and finishes the capture.
  ///
  /// - Throws: an error that is described in one line, if the capture can't be written.
  func stop() throws {
    defer { executor.close() }
    try world.finishCapture()
    for link in links { link.close() }
    for listener in listeners {
      close(listener.descriptor)
      listener.remove()
    }
  }
}
