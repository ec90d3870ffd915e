import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothWire
import Foundation

/// The verbs for capture files.
struct CaptureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Shows, filters, converts, decrypts and measures capture files.",
    discussion: """
      A capture is a file of packets on the air or between a host and its controller: pcapng or pcap, as this package, \
      sniffers and Wireshark write them, btsnoop, as Android and btmon do, a file of Apple's PacketLogger, or a bug \
      report of Android. It may be in a gzip file or a zip archive. A FIFO and the standard input (-) are read as their \
      packets arrive.
      """,
    subcommands: [Show.self, Filter.self, Convert.self, Decrypt.self, Stats.self])
}

/// The argument for the capture that is read.
private let fileHelp = ArgumentHelp("The capture; - is the standard input.", valueName: "file")

extension CaptureCommand {
  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints one line for each packet, or with --details its fields and octets.",
      discussion: """
        In a pipe, the fields of a line are separated by tabs: number, seconds, channel or adapter, direction, \
        connection, name, content.
        """
    )
    .examples("ble capture show room.pcapng --protocol att", "ble capture show room.pcapng --details --count 5")

    @Argument(help: fileHelp, completion: .file()) var file: String
    @OptionGroup var filter: PacketFilterOptions
    @Option(parsing: .unconditional, help: "Ends after this number of packets.")
    var count: Int?
    @Flag(help: "Shows the comments of the packets, such as their receivers in a world.")
    var comments = false
    @Flag(help: "Shows the fields of each packet as a tree, and its octets.")
    var details = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
      if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    }

    func run() throws {
      let input = try CaptureInput(path: file)
      let filter = try PacketFilter(filter)
      var printer = PacketPrinter(filter: filter, output: output, showsComments: comments, limit: count)
      printer.showsDetails = details
      while let element = try input.next() {
        guard try printer.add(element) else {
          printer.dissector.complainOfNotes()
          return
        }
      }
      printer.dissector.complainOfNotes()
      try input.check(interfaces: filter.interfaces)
      try input.checkEnd()
      try printer.dissector.checkReadable(input.path)
      try printer.finish()
    }
  }

  struct Filter: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes the packets that match to another capture.",
      discussion: "The octets, times and comments of the packets stay as they are."
    )
    .examples(
      "ble capture filter room.pcapng -o att.pcapng --protocol att",
      "ble capture filter room.pcapng -o first.pcapng --to 10")

    @Argument(help: fileHelp, completion: .file()) var file: String
    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: ArgumentHelp("The written capture; - is the standard output.", valueName: "file"), completion: .file())
    var path: String
    @Option(
      help: ArgumentHelp(
        "The format of the written capture (default: that of its name, or pcapng).", valueName: "format"))
    var format: CaptureOutput.Format?
    @OptionGroup var filter: PacketFilterOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try output.requireFile(path) }

    func run() throws {
      let filter = try PacketFilter(filter)
      try CaptureCommand.copy(file, to: path, format, interfaces: filter.interfaces, output) { filter.admits($0) }
    }
  }

  struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes a capture in another format.",
      discussion: """
        pcapng holds everything. btsnoop and PacketLogger hold the HCI packets of one adapter, pcap the packets of one \
        interface. nrf-sniffer is a pcap file as the nRF Sniffer for Bluetooth LE writes it, with packets on the air.
        """
    )
    .examples(
      "ble capture convert room.pcapng phone.btsnoop --interface phone",
      "ble capture convert bugreport.zip - --format pcapng | tshark -r -")

    @Argument(help: fileHelp, completion: .file()) var file: String
    @Argument(
      help: ArgumentHelp("The written capture; - is the standard output.", valueName: "output"), completion: .file())
    var path: String
    @Option(help: ArgumentHelp("The format of the written capture (default: that of its name).", valueName: "format"))
    var format: CaptureOutput.Format?
    @Option(
      help: ArgumentHelp("Only the packets of this interface: air, or the name of an adapter.", valueName: "name"))
    var interface: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
      try output.requireFile(path)
      guard format != nil || CaptureOutput.Format(path: path) != nil else {
        throw ValidationError(
          "the name \"\(path)\" tells no format: expected an ending such as .pcapng or .btsnoop, or --format")
      }
    }

    func run() throws {
      let interfaces = Set(interface.map { [$0] } ?? [])
      try CaptureCommand.copy(file, to: path, format, interfaces: interfaces, output) { packet in
        interface == nil || packet.interface.title == interface
      }
    }
  }

  /// Copies packets, and tells how many.
  ///
  /// - Parameters:
  ///   - interfaces: the interfaces that the capture must have.
  ///   - options: tells if the numbers are a record, or a line on the standard error.
  private static func copy(
    _ file: String, to path: String, _ format: CaptureOutput.Format?, interfaces: Set<String>,
    _ options: OutputOptions, _ admits: (PacketDescription) -> Bool
  ) throws {
    if path != "-", file != "-", OutputFile.isSame(file, path) {
      throw Failure("\(path) is the capture that is read; choose another name", status: ExitStatus.usage)
    }
    let (copy, total, input, dissector) = try Interrupt.endsProgram {
      let input = try CaptureInput(path: file)
      // The first element tells that the file is a capture, before another file is replaced.
      var element = try input.next()
      let output = try CaptureOutput(path: path, format: format ?? CaptureOutput.Format(path: path) ?? .pcapng)
      if output.isRegular { input.showProgress() }
      var dissector = Dissector()
      var total = 0
      while let current = element {
        switch current {
        case .packet(let packet):
          total += 1
          let description = dissector.describe(packet)
          if admits(description) { try output.add(packet, description) }
        case .unread(let kind): dissector.add(unread: kind)
        case .interface, .dropped: break
        }
        element = try input.next()
      }
      try input.check(interfaces: interfaces)
      try output.finish()
      return (output, total, input, dissector)
    }
    dissector.complainOfNotes()
    if copy.omitted > 0 {
      complain("note: left out, because \(copy.format.rawValue) has no form for them: \(copy.omitted) packets")
    }
    if options.json {
      try put(copy.record("captureCopy", of: file, total: total).line + "\n")
    } else {
      complain("\(copy.count) of \(total) packets written")
    }
    try input.checkEnd()
  }
}

extension CaptureOutput.Format: ExpressibleByArgument {}

extension Dissector {
  /// Tells the parts of the capture that were not read, or are damaged: each kind once.
  func complainOfNotes() {
    for line in notes.lines { complain("note: \(line)") }
  }

  /// Checks that a packet could be read, or that there was none.
  ///
  /// - Throws: `Failure` with exit status 65.
  func checkReadable(_ path: String) throws {
    guard readableCount == 0, !notes.lines.isEmpty else { return }
    throw Failure("\(path.printable): no packet can be read", status: ExitStatus.ambiguous)
  }
}

/// Prints the packets that pass a filter.
struct PacketPrinter {
  let filter: PacketFilter
  let output: OutputOptions
  let showsComments: Bool
  /// True to show the tree of the fields and the octets of each packet.
  var showsDetails = false
  /// The number of packets after which the printing ends; nil: none.
  let limit: Int?
  private let isTerminal = Screen.isTerminal
  private(set) var dissector = Dissector()
  private var total = 0
  private(set) var shown = 0

  init(filter: PacketFilter, output: OutputOptions, showsComments: Bool, limit: Int?) {
    (self.filter, self.output, self.showsComments, self.limit) = (filter, output, showsComments, limit)
  }

  /// Prints a packet if it passes. Returns false if the limit is reached.
  mutating func add(_ element: CaptureElement) throws -> Bool {
    switch element {
    case .interface: return true
    case .dropped(let interface, let count):
      if count > 0 { complain("\(count) packets of \(interface.title.printable) were not captured") }
      return true
    case .unread(let kind):
      dissector.add(unread: kind)
      return true
    case .packet(let packet):
      total += 1
      let description = dissector.describe(packet)
      guard filter.admits(description) else { return true }
      shown += 1
      let tree = showsDetails ? PacketFields(packet, isEncrypted: description.isEncrypted) : nil
      guard !output.json else {
        try put(description.record(octets: packet.octets, tree).line + "\n")
        return shown != limit
      }
      let text =
        isTerminal
        ? description.columns(output.style, withComments: showsComments)
        : description.line(withComments: showsComments)
      let lines = isTerminal ? text.wrappedForTerminal(STDOUT_FILENO, indent: 4) : [text]
      try put(lines.map { $0 + "\n" }.joined())
      if showsDetails { try say(lines: (tree?.lines ?? []) + [""]) }
      return shown != limit
    }
  }

  /// Tells if no packet has passed.
  func finish() throws {
    if shown == 0 {
      throw Failure(
        total == 0 ? "the capture has no packets" : "none of \(total) packets matches", status: ExitStatus.notFound)
    }
    if let limit, shown < limit {
      throw Failure("\(shown) of \(limit) packets", status: ExitStatus.notFound)
    }
  }
}
