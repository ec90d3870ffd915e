import ArgumentParser
import BluetoothAir
import BluetoothDaemonProtocol
import BluetoothDissection
import BluetoothWire
import Foundation

/// The verb that shows the packets of a running air, or of an adapter of a server, as they are sent.
struct Monitor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the packets of a running air, or of an adapter of btserver, as they are sent.",
    discussion: """
      The lines are those of ble capture show. An air has one capture at a time: a capture of ble air capture ends when \
      the monitor begins. With --server the packets are those between the host and the controller of an adapter, with \
      zeros in place of keys; a server with several adapters has them by their names, as in server,NAME.
      """
  )
  .examples("ble monitor --protocol att", "ble monitor --server server,hci:0 --protocol smp --count 10")

  @OptionGroup var question: Air.Question
  @Option(
    help: ArgumentHelp(
      "A server in place of an air, as in COREBLUETOOTH_ADAPTER: server, server:PATH or server:PATH,NAME.",
      valueName: "specifier"))
  var server: String?
  @OptionGroup var filter: PacketFilterOptions
  @Option(parsing: .unconditional, help: "Ends after this number of packets (default: until interrupted).")
  var count: Int?
  @OptionGroup var duration: DurationOption
  @Flag(help: "Shows packets of encrypted links in plain text.")
  var decrypted = false
  @Flag(help: "Shows the comments of the packets, such as their receivers.")
  var comments = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    if server != nil, decrypted {
      throw ValidationError("--decrypted belongs to an air: packets between host and controller are not encrypted")
    }
  }

  func run() throws {
    let printer = PacketPrinter(filter: try PacketFilter(filter), output: output, showsComments: comments, limit: count)
    let interrupt = Interrupt {}
    let end = duration.seconds.map { ContinuousClock.now + .seconds($0) }
    let isOver = { @Sendable in interrupt.hasOccurred || end.map { ContinuousClock.now >= $0 } ?? false }
    let shown =
      try server.map { try show(printer, ofServer: $0, until: isOver) }
      ?? show(printer, until: isOver) { interrupt.hasOccurred }
    if let count, shown >= count { return }
    let isEndless = count == nil && duration.seconds == nil
    if interrupt.hasOccurred {
      guard isEndless else { throw Interrupt.failure }
    } else if isOver() {
      guard let count else { return }
      throw Failure("\(shown) of \(count) packets within the time", status: ExitStatus.timeLimit)
    } else {
      let reason = "\(server == nil ? "the air" : "the server") has ended"
      guard isEndless else {
        let packets = shown == 1 ? "1 packet" : "\(shown) packets"
        throw Failure("\(reason) after \(packets)", status: ExitStatus.noAdapter)
      }
      complain(reason)
    }
  }

  /// Shows the packets of an air. Returns the number of packets that have been shown.
  ///
  /// - Parameters:
  ///   - isOver: tells if the monitor must end.
  ///   - isInterrupted: tells if the user has ended it.
  private func show(
    _ printer: PacketPrinter, until isOver: @escaping () -> Bool, _ isInterrupted: () -> Bool
  ) throws -> Int {
    var printer = printer
    defer { printer.dissector.complainOfNotes() }
    let pipe = try NamedPipe()
    defer { withExtendedLifetime(pipe) {} }
    var request = ControlRequest(.capture)
    (request.path, request.decrypted) = (pipe.path, decrypted)
    try question.ask(request)
    // Only this verb reads the pipe, so the air must not go on to fill it. A later capture is not ended.
    defer { if pipe.isWritten { _ = try? question.ask(ControlRequest(.capture)) } }
    let input = CaptureInput(live: pipe.descriptor, named: "the air's capture", until: isOver)
    let interfaces = printer.filter.interfaces
    var hasPackets = false
    while let element = try input.next() {
      if !hasPackets, case .packet = element {
        hasPackets = true
        // The interfaces of the present devices are before the first packet. A host that joins later adds one.
        if let missing = input.failure(ofMissing: interfaces) { complain("note: \(missing)") }
      }
      if try !printer.add(element) { return printer.shown }
    }
    if isOver() {
      if hasPackets, !isInterrupted() { try input.check(interfaces: interfaces) }
      return printer.shown
    }
    if (try? question.ask(ControlRequest(.devices))) != nil {
      throw Failure("the air is captured by another program now; it has one capture at a time")
    }
    return printer.shown
  }

  /// Shows the packets of an adapter of a server. Returns the number of packets that have been shown.
  private func show(
    _ printer: PacketPrinter, ofServer specifier: String, until isOver: @escaping @Sendable () -> Bool
  ) throws -> Int {
    let monitor = ServerMonitor(printer)
    try ServerOptions.withServer(ServerOptions.specifier(specifier)) { server, token in
      try ServerQuestion(to: server, token: token).monitor { monitor.handle($0) && !isOver() }
    }
    monitor.printer.dissector.complainOfNotes()
    return try monitor.result.get()
  }
}

/// The packets of an adapter of a server, as they are shown.
private final class ServerMonitor: @unchecked Sendable {
  // Unchecked: the event loop of the question calls `handle`, and `result` is read after the end of the question.

  private(set) var printer: PacketPrinter
  private var interface: CaptureInterface?
  private var count = 0
  private var failure: (any Error)?
  private var isComplete = false

  init(_ printer: PacketPrinter) { self.printer = printer }

  /// The number of packets that have been shown.
  var result: Result<Int, any Error> { failure.map { .failure($0) } ?? .success(printer.shown) }

  /// Handles what the server sends. Returns false if nothing more is wanted.
  func handle(_ event: ServerQuestion.MonitorEvent) -> Bool {
    guard !isComplete else { return false }
    do {
      switch event {
      case .tick: break
      case .started(let adapter):
        let missing = CaptureInput.failure(
          ofMissing: printer.filter.interfaces, among: [adapter], in: "the server's capture")
        if let missing { throw missing }
        interface = CaptureInterface(index: 0, name: adapter, link: .hciH4WithDirection)
        complain("monitors the adapter \(adapter.printable)")
      case .packet(let packet): isComplete = try !show(packet)
      }
    } catch {
      (failure, isComplete) = (error, true)
    }
    return !isComplete
  }

  private func show(_ packet: MonitoredPacket) throws -> Bool {
    guard let interface else { return true }
    if packet.missed > 0 { _ = try printer.add(.dropped(interface, count: UInt64(packet.missed))) }
    count += Int(packet.missed) + 1
    // The direction, as in a pseudo-header: 0 is sent by the host.
    let octets = [0, 0, 0, packet.isFromHost ? 0 : 1] + packet.octets.bytes
    return try printer.add(
      .packet(
        CapturedPacket(
          number: count, time: packet.time, interface: interface, octets: octets, originalLength: octets.count)))
  }
}

/// A FIFO in a folder of its own, which only this user may enter.
private final class NamedPipe {
  /// Open for reading; reading does not wait.
  let descriptor: Int32
  private let folder: TemporaryPath
  private let file: TemporaryPath

  var path: String { file.path }

  init() throws {
    folder = try TemporaryPath.makeFolder()
    file = folder.file(named: "capture")
    guard mkfifo(file.path, 0o600) == 0 else { throw Failure.system(file.path) }
    descriptor = open(file.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure.system(file.path) }
  }

  /// True while a program has the FIFO open for writing.
  var isWritten: Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, 0) >= 0 && state.revents & Int16(POLLHUP) == 0
  }

  deinit {
    close(descriptor)
    file.remove()
    folder.remove()
  }
}
