import ArgumentParser
import BluetoothAir
import Foundation

/// The verb that shows the packets of a running air as they are sent.
struct Monitor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the packets of a running air, on the air and in HCI, as they are sent.",
    discussion: """
      The lines are those of ble capture show. An air has one capture at a time: a capture of ble air capture ends when \
      the monitor begins.
      """)

  @OptionGroup var question: Air.Question
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
  }

  func run() throws {
    let pipe = try NamedPipe()
    defer { withExtendedLifetime(pipe) {} }
    var request = ControlRequest(.capture)
    (request.path, request.decrypted) = (pipe.path, decrypted)
    try question.ask(request)
    // Only this verb reads the pipe, so the air must not go on to fill it. A later capture is not ended.
    defer { if pipe.isWritten { _ = try? question.ask(ControlRequest(.capture)) } }
    var printer = PacketPrinter(filter: try PacketFilter(filter), output: output, showsComments: comments, limit: count)
    let interrupt = Interrupt {}
    let end = duration.seconds.map { ContinuousClock.now + .seconds($0) }
    var isOver: Bool { interrupt.hasOccurred || end.map { ContinuousClock.now >= $0 } ?? false }
    let input = CaptureInput(live: pipe.descriptor, named: "the air's capture") { isOver }
    while let element = try input.next() {
      if try !printer.add(element) { return }
    }
    guard !isOver else {
      guard let count, printer.shown < count, !interrupt.hasOccurred else { return }
      throw Failure("\(printer.shown) of \(count) packets within the time", status: ExitStatus.timeLimit)
    }
    if (try? question.ask(ControlRequest(.devices))) != nil {
      throw Failure("the air is captured by another program now; it has one capture at a time")
    }
    complain("the air has ended")
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
