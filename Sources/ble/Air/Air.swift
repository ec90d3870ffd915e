import ArgumentParser
import BluetoothAir
import BluetoothLab
import BluetoothTransport
import Foundation
import NIOCore

/// The commands for an air, a simulated radio environment whose virtual controllers other programs use.
struct Air: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a simulated radio space (an air) that Bluetooth hosts join over HCI, and controls a running one.",
    discussion: """
      Each connection gets its own virtual controller. Any host that speaks H4 can join: a program with \
      CoreBluetooth (COREBLUETOOTH_ADAPTER=tcp:127.0.0.1:6402), Bumble, BlueZ, or firmware in an emulator.
      """,
    subcommands: [
      Serve.self, Devices.self, Move.self, Radio.self, Fault.self, Stats.self, CaptureVerb.self, Stop.self,
    ], defaultSubcommand: Serve.self)

  /// The option that selects a running air.
  struct Control: ParsableArguments {
    @Option(
      name: .customLong("control"),
      help: ArgumentHelp("The control socket of the air.", valueName: "path"), completion: .file())
    var path = ControlSocket.defaultPath
  }

  /// The options of all requests to a running air: its control socket, and the time limit.
  struct Question: ParsableArguments {
    @OptionGroup var control: Control

    @Option(
      help: ArgumentHelp(
        "Time limit for the answer, 0.001 to 3600 seconds; the exit status is 124 if it expires (default: 10).",
        valueName: "time"), transform: TimeArgument.seconds(of:))
    var timeout = 10.0

    func validate() throws {
      guard (0.001...3_600).contains(timeout) else {
        throw ValidationError("invalid --timeout: expected 0.001 to 3600 seconds")
      }
    }

    @discardableResult
    func ask(_ request: ControlRequest) throws -> ControlAnswer {
      do {
        return try ControlSocket.ask(
          request, at: control.path, within: .nanoseconds(Int64((timeout * 1_000_000_000).rounded())))
      } catch let error as ControlSocket.NoAnswer {
        throw Failure("\(error)", status: Status.timeout)
      } catch let error as ControlSocket.NoAir {
        throw Failure("\(error)", status: ExitStatus.noAdapter)
      } catch {
        throw Failure("\(error)")
      }
    }
  }

  enum Status {
    /// The air did not answer in time; the status of timeout(1).
    static let timeout: Int32 = 124
    /// An input file is invalid; EX_DATAERR of sysexits.h.
    static let wrongInput: Int32 = 65
  }
}

/// The help of the argument for a device.
private let deviceHelp = ArgumentHelp("The name of the device, as listed by ble air devices.", valueName: "device")

extension Air {
  struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Runs an air until it is stopped (default)."
    )
    .examples("ble air --world gym --hci unix:/tmp/air", "ble air serve --hci tcp:127.0.0.1:6402 --capture air.pcapng")

    @Option(
      help: ArgumentHelp(
        "The address at which hosts join: tcp:HOST:PORT (0: any free port) or unix:PATH. May be repeated.",
        valueName: "specifier"))
    var hci: [String] = []

    @Option(
      help: ArgumentHelp(
        "Simulated seconds per second, 0.001 to 1000, or max: real time, but as fast as possible while a controller "
          + "has data to send.",
        valueName: "factor"))
    var speed = "1"

    @Option(
      help: ArgumentHelp(
        "The seed for all randomness in the simulation (default: the seed in the world file, or 0).",
        valueName: "number"))
    var seed: UInt64?

    @Option(
      help: ArgumentHelp(
        "A world: a file (YAML or JSON) with devices, positions, movements and faults, or an example: "
          + "\(ExampleWorlds.list).",
        valueName: "file"), completion: .file())
    var world: String?

    @Option(
      help: ArgumentHelp("Captures the air and the HCI of every device in this pcapng file.", valueName: "file"),
      completion: .file())
    var capture: String?

    @Flag(help: "Captures packets of encrypted links in plain text.")
    var captureDecrypted = false

    @Flag(help: "Writes the session keys of encrypted links to a file next to the capture.")
    var captureKeys = false

    @Option(help: ArgumentHelp("The number of ACL data buffers of each controller, 1 to 65535.", valueName: "count"))
    var aclBuffers = 64

    @Option(
      defaultAsFlag: PageOptions.standardAddress,
      help: ArgumentHelp(
        "Serves a page for the browser, which shows the air and changes it; without an address, on a free port.",
        valueName: "host:port"))
    var web: String?

    @Flag(
      help: "Lets hosts on other machines join, and permits such an address for --web. The port has no access control.")
    var `public` = false

    @OptionGroup var control: Control
    @OptionGroup var output: OutputOptions

    func validate() throws {
      if hci.isEmpty, web == nil {
        throw ValidationError("missing --hci: give an address at which hosts join, such as --hci tcp:127.0.0.1:6402")
      }
      guard (1...0xFFFF).contains(aclBuffers) else {
        throw ValidationError("invalid --acl-buffers: expected 1 to 65535")
      }
      try OutputOptions.requireName(capture, of: "--capture")
      if captureDecrypted || captureKeys, capture == nil {
        throw ValidationError("--capture-decrypted and --capture-keys require --capture FILE")
      }
      _ = try airSpeed
      _ = try specifiers
      _ = try page
    }

    private var page: PageOptions? {
      get throws {
        try web.map { text in
          do throws(SpecifierProblem) {
            return try PageOptions(address: text, allowsPublic: `public`, program: "ble air")
          } catch {
            throw ValidationError("invalid --web \"\(text)\": \(error)")
          }
        }
      }
    }

    private var airSpeed: AirOptions.Speed {
      get throws {
        if speed == "max" { return .maximum }
        guard let factor = Double(speed), (0.001...1_000).contains(factor) else {
          throw ValidationError("invalid speed \"\(speed)\": expected 0.001 to 1000, or max")
        }
        return .times(factor)
      }
    }

    private var specifiers: [TransportSpecifier] {
      get throws {
        try hci.map { text in
          do throws(SpecifierProblem) {
            let specifier = try TransportSpecifier(text)
            switch specifier {
            case .tcp, .unix: return specifier
            case .serial, .hci:
              throw SpecifierProblem(description: "expected tcp:HOST:PORT or unix:PATH")
            }
          } catch {
            throw ValidationError("invalid --hci \"\(text)\": \(error)")
          }
        }
      }
    }

    func run() throws {
      var options = AirOptions()
      if let world {
        do throws(WorldFileFailure) { options.file = try WorldFile(path: world) } catch {
          throw Failure(error, status: Status.wrongInput)
        }
        options.usedFiles.append(world)
      }
      options.usedFiles += ["/dev/stdin", "/dev/stdout", "/dev/stderr"]
      options.seed = seed ?? options.file?.seed ?? 0
      options.speed = try airSpeed
      options.aclBuffers = aclBuffers
      let specifiers = try specifiers
      for specifier in specifiers where !specifier.isLocal {
        guard `public` else {
          throw Failure("\(specifier) is reachable from other machines; use --public to allow it")
        }
        complain("warning: any host that can reach \(specifier) can join and connect to the devices of this air")
      }
      Self.allowManyDescriptors()
      let server = AirServer(options)
      // Handle signals before printing that the air runs, because a script may send a signal as soon as it reads this
      // output.
      let interrupt = Interrupt { server.requestEnd() }
      defer { withExtendedLifetime(interrupt) {} }
      do {
        try server.openControl(at: control.path)
        if let capture {
          try server.capture(
            to: URL(fileURLWithPath: capture).standardizedFileURL.path, decryptsAir: captureDecrypted,
            writesKeys: captureKeys)
        }
        let places = try specifiers.map { try server.listen(at: $0) }
        let page = try page.map { try server.openPage($0) }
        if output.json {
          tell { () throws(OutputFailure) in try output.emit(record(places, page, seed: options.seed)) }
        } else {
          if let page { tell { () throws(OutputFailure) in try say("page at \(page)") } }
          for place in places { tell { () throws(OutputFailure) in try say("hosts join at \(place)") } }
          if control.path != ControlSocket.defaultPath {
            tell { () throws(OutputFailure) in try say("control socket: \(control.path)") }
          }
        }
      } catch {
        try? server.stop()
        throw Failure("\(error)")
      }
      server.waitForEnd()
      do { try server.stop() } catch { throw Failure("\(error)") }
    }

    /// Returns the record of an air that runs.
    private func record(_ places: [TransportSpecifier], _ page: String?, seed: UInt64) -> JSONRecord {
      var record = JSONRecord("air")
      record.add("hci", .list(places.map { .text("\($0)") }))
      record.add("page", page)
      record.add("control", control.path)
      record.add("seed", .number("\(seed)"))
      record.add("world", world)
      record.add("capture", capture)
      return record
    }

    /// Prints on the standard output. Ignores a closed output, because the air also runs without a reader.
    private func tell(_ body: () throws(OutputFailure) -> Void) {
      do throws(OutputFailure) { try body() } catch {
        if error.code != EPIPE { complain("warning: \(error.reason)") }
      }
    }

    /// Raises the limit of file descriptors: each host needs one, and the usual limit is 1,024.
    private static func allowManyDescriptors() {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
      limit.rlim_cur = limit.rlim_max
      _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
  }

  struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the devices of an air.")
      .examples("ble air devices", "ble air devices --json")
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func run() throws {
      let devices = try question.ask(ControlRequest(.devices)).devices ?? []
      if output.json { return try put(devices.map { Self.record($0).line + "\n" }.joined()) }
      guard !devices.isEmpty else { return try say("no devices") }
      var table = TextTable(["device", "address", "position (m)", "radio", "host"])
      for device in devices {
        table.add([
          device.name, device.address ?? "-", device.position.map(metres).joined(separator: ", "),
          device.radio ? "on" : "off", device.host.map { $0 ? "joined" : "-" } ?? "built in",
        ])
      }
      try say(lines: table.lines)
    }

    private static func record(_ device: ControlAnswer.Device) -> JSONRecord {
      let random = " (random)"
      let isRandom = device.address?.hasSuffix(random) == true
      var record = JSONRecord("airDevice")
      record.add("name", device.name)
      record.add("address", device.address.map { String($0.dropLast(isRandom ? random.count : 0)) })
      record.add("addressKind", device.address.map { _ in isRandom ? "random" : "public" })
      record.add("position", .list(device.position.map { .decimal($0, places: 6) }))
      record.add("radio", .flag(device.radio))
      record.add("joined", device.host.map { .flag($0) })
      return record
    }
  }

  struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Moves a device.")
      .examples("ble air move strap --to 3,4", "ble air move strap --to 3,-4,1.5 --json")
    @Argument(help: deviceHelp) var device: String
    @Option(
      name: .customLong("to"), parsing: .unconditional,
      help: ArgumentHelp("The new position in metres: x,y,z. Omitted coordinates are 0.", valueName: "x,y,z"))
    var position: String
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func run() throws {
      let metres = position.split(separator: ",", omittingEmptySubsequences: false)
      let numbers = metres.compactMap { Double($0) }
      guard numbers.count == metres.count, (1...3).contains(numbers.count),
        numbers.allSatisfy({ (-1e6...1e6).contains($0) })
      else {
        throw ValidationError(
          "invalid position \"\(position)\": expected metres from -1000000 to 1000000, such as 3,-4.5,1")
      }
      var request = ControlRequest(.move)
      (request.device, request.position) = (device, numbers)
      try question.ask(request)
      // Omitted coordinates are 0.
      let place = (numbers + [0, 0]).prefix(3).map { JSONText.decimal($0, places: 6) }
      try output.emit(
        JSONRecord("airChange", ["change": .text("move"), "device": .text(device), "position": .list(place)]))
    }
  }

  struct Radio: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Switches the radio of a device on or off."
    )
    .examples("ble air radio strap off", "ble air radio strap on")
    enum State: String, ExpressibleByArgument, CaseIterable { case on, off }
    @Argument(help: deviceHelp) var device: String
    @Argument(help: "on or off") var state: State
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func run() throws {
      var request = ControlRequest(.radio)
      (request.device, request.on) = (device, state == .on)
      try question.ask(request)
      try output.emit(
        JSONRecord(
          "airChange", ["change": .text("radio"), "device": .text(device), "radio": .flag(state == .on)]))
    }
  }

  struct Fault: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Injects the faults of a fault plan, or ends all faults.",
      discussion: """
        A plan is a world file with faults and nothing else. This one loses every tenth packet of a device:

          faults: [{layer: air, fault: lose, from: strap, percent: 10}]
        """
    )
    .examples("ble air fault plan.yaml", "ble air fault --clear")
    @Argument(
      help: ArgumentHelp("A fault plan (JSON or YAML file); - reads standard input.", valueName: "plan"),
      completion: .file())
    var plan: String?
    @Flag(help: "Ends all faults.") var clear = false
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard clear != (plan != nil) else { throw ValidationError("expected either a plan or --clear") }
    }

    func run() throws {
      var request = ControlRequest(.fault)
      if let plan {
        do throws(WorldFileFailure) { request.plan = try WorldFile.faultPlan(path: plan) } catch {
          throw Failure(error, status: Status.wrongInput)
        }
      }
      try question.ask(request)
      try output.emit(JSONRecord("airChange", ["change": .text("fault"), "plan": plan.map { .text($0) }]))
    }
  }

  struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the radio and link statistics of the devices of an air."
    )
    .examples("ble air stats", "ble air stats --json")
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func run() throws {
      let answer = try question.ask(ControlRequest(.stats))
      if output.json { return try put(answer.statisticsRecords.map { $0.line + "\n" }.joined()) }
      try say("\(seconds(answer.time ?? 0)) s of radio time")
      var table = TextTable([
        "device", "sent", "received", "CRC errors", "failed attempts", "sending", "listening",
      ])
      for device in answer.statistics ?? [] {
        table.add([
          device.name, "\(device.sentPackets)", "\(device.receivedPackets)", "\(device.crcErrors)",
          device.failedAttempts.map { "\($0)" } ?? "-", seconds(device.transmitting) + " s",
          seconds(device.receiving) + " s",
        ])
      }
      try say(lines: table.lines)
      var links = TextTable(["central", "peripheral", "state", "to peripheral", "to central", "retransmitted", "RSSI"])
      for device in answer.statistics ?? [] {
        for link in device.links where link.isCentral {
          links.add([
            device.name, link.peer, link.isConnected ? "connected" : "ended", "\(link.sentOctets)",
            "\(link.receivedOctets)", "\(link.retransmissions)", link.rssi.map { "\(Int($0.rounded())) dBm" } ?? "-",
          ])
        }
      }
      if !links.isEmpty { try say(lines: links.lines) }
    }
  }

  struct CaptureVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "capture", abstract: "Starts or ends a capture of a running air."
    )
    .examples("ble air capture now.pcapng", "ble air capture")
    @Argument(
      help: ArgumentHelp("The pcapng file. If omitted, the current capture ends.", valueName: "file"),
      completion: .file()) var file: String?
    @Flag(help: "Captures packets of encrypted links in plain text.") var decrypted = false
    @Flag(help: "Writes the session keys of encrypted links to a file next to it.") var keys = false
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func validate() throws { try OutputOptions.requireName(file, of: "the capture") }

    func run() throws {
      var request = ControlRequest(.capture)
      request.path = file.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
      (request.decrypted, request.keys) = (decrypted, keys)
      let answer = try question.ask(request)
      if let warning = answer.warning { complain("warning: \(warning)") }
      if let note = answer.note, !output.json { try say(note) }
      try output.emit(
        JSONRecord(
          "airChange",
          ["change": .text("capture"), "file": file.map { .text($0) }, "note": answer.note.map { .text($0) }]))
    }
  }

  struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Stops an air.")
      .examples("ble air stop", "ble air stop --json")
    @OptionGroup var question: Question
    @OptionGroup var output: OutputOptions

    func run() throws {
      try question.ask(ControlRequest(.stop))
      try output.emit(JSONRecord("airChange", ["change": .text("stop")]))
    }
  }
}

extension ControlAnswer {
  /// The statistics of the devices and of their links, each link as its central sees it.
  fileprivate var statisticsRecords: [JSONRecord] {
    let time = JSONText.decimal(self.time ?? 0, places: 6)
    let devices = (statistics ?? []).map { device -> JSONRecord in
      var record = JSONRecord("airStatistics")
      record.add("time", time)
      record.add("device", device.name)
      record.add("sent", device.sentPackets)
      record.add("received", device.receivedPackets)
      record.add("crcErrors", device.crcErrors)
      record.add("failedAttempts", device.failedAttempts)
      record.add("transmitting", .decimal(device.transmitting, places: 6))
      record.add("receiving", .decimal(device.receiving, places: 6))
      return record
    }
    let links = (statistics ?? []).flatMap { device -> [JSONRecord] in
      device.links.filter(\.isCentral).map { link -> JSONRecord in
        var record = JSONRecord("airLink")
        record.add("time", time)
        record.add("central", device.name)
        record.add("peripheral", link.peer)
        record.add("connected", .flag(link.isConnected))
        record.add("toPeripheral", .object([("octets", .integer(link.sentOctets))]))
        record.add("toCentral", .object([("octets", .integer(link.receivedOctets))]))
        record.add("retransmissions", link.retransmissions)
        record.add("rssi", link.rssi.map { Int($0.rounded()) })
        return record
      }
    }
    return devices + links
  }
}

private func metres(_ value: Double) -> String {
  value == value.rounded() ? "\(Int(value))" : "\(value)"
}

private func seconds(_ value: Double) -> String { String(format: "%.3f", value) }
