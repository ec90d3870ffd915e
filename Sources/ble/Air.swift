import ArgumentParser
import BluetoothAir
import BluetoothLab
import BluetoothTransport
import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// The commands for an air of virtual controllers, which other programs join.
struct Air: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves an air of virtual controllers, which any Bluetooth host joins by HCI, and asks one that runs.",
    discussion: """
      Each connection is a new controller. Whatever speaks H4 can join: programs with CoreBluetooth \
      (COREBLUETOOTH_ADAPTER=tcp:127.0.0.1:6402), Bumble, BlueZ, and firmware in an emulator.
      """,
    subcommands: [
      Serve.self, Devices.self, Move.self, Radio.self, Fault.self, Stats.self, CaptureVerb.self, Stop.self,
    ], defaultSubcommand: Serve.self)

  /// The option that selects a running air.
  struct Control: ParsableArguments {
    @Option(
      name: .customLong("control"),
      help: ArgumentHelp(
        "The control socket of the air. If it is not given: one in your folder for what runs.", valueName: "path"))
    var path = ControlSocket.defaultPath
  }

  /// The options for a request to a running air: the air, and the time limit.
  struct Question: ParsableArguments {
    @OptionGroup var control: Control

    @Option(
      help: ArgumentHelp(
        "The time to wait for the answer, 0.001 to 3600; the exit status is then 124.", valueName: "seconds"))
    var timeout = 10.0

    func validate() throws {
      guard (0.001...3_600).contains(timeout) else { throw ValidationError("--timeout is 0.001 to 3600 seconds") }
    }

    @discardableResult
    func ask(_ request: ControlRequest) throws -> ControlAnswer {
      do {
        return try ControlSocket.ask(
          request, at: control.path, within: .nanoseconds(Int64((timeout * 1_000_000_000).rounded())))
      } catch let error as ControlSocket.NoAnswer {
        throw Failure("\(error)", status: Status.timeout)
      } catch {
        throw Failure("\(error)")
      }
    }
  }

  enum Status {
    /// The status of timeout(1).
    static let timeout: Int32 = 124
    /// EX_DATAERR of sysexits.h: the input is wrong.
    static let wrongInput: Int32 = 65
  }
}

/// The help of the argument for a device.
private let deviceHelp = ArgumentHelp("The device, as ble air devices lists it.", valueName: "device")

extension Air {
  struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Serves an air until it is stopped. What is meant if no verb is given.")

    @Option(
      help: ArgumentHelp(
        "Where hosts join: tcp:HOST:PORT (port 0: the system chooses one) or unix:PATH. May be given several times.",
        valueName: "specifier"))
    var hci: [String] = []

    @Option(
      help: ArgumentHelp(
        "Radio seconds per second, 0.001 to 1000, or max: real time, but while a controller has data to send the air goes on as fast as it can.",
        valueName: "factor"))
    var speed = "1"

    @Option(
      help: ArgumentHelp(
        "Decides all chance in the air. If it is not given: what the world's file says, else 0.", valueName: "number"))
    var seed: UInt64?

    @Option(
      help: ArgumentHelp(
        "A file with devices, places, movements and faults, in YAML or JSON: Documentation/World-files.md.",
        valueName: "file"))
    var world: String?

    @Option(help: ArgumentHelp("Writes the air and every HCI to this pcapng file.", valueName: "file"))
    var capture: String?

    @Flag(help: "The capture has packets of encrypted links as they were before encryption.")
    var captureDecrypted = false

    @Flag(help: "The keys of encrypted links go to a file beside the capture.")
    var captureKeys = false

    @Option(help: ArgumentHelp("How many ACL packets a controller holds for its host, 1 to 65535.", valueName: "count"))
    var aclBuffers = 64

    @Flag(help: "Hosts of other machines may join: anybody who reaches the port has a controller.")
    var `public` = false

    @OptionGroup var control: Control

    func validate() throws {
      if hci.isEmpty { throw ValidationError("nobody can join: --hci says where, as in --hci tcp:127.0.0.1:6402") }
      guard (1...0xFFFF).contains(aclBuffers) else { throw ValidationError("--acl-buffers is 1 to 65535") }
      if captureDecrypted || captureKeys, capture == nil {
        throw ValidationError("--capture-decrypted and --capture-keys belong to --capture FILE")
      }
      _ = try airSpeed
      _ = try specifiers
    }

    private var airSpeed: AirServer.Speed {
      get throws {
        if speed == "max" { return .maximum }
        guard let factor = Double(speed), (0.001...1_000).contains(factor) else {
          throw ValidationError("\"\(speed)\" is no speed: right would be 0.001 to 1000, or max")
        }
        return .times(factor)
      }
    }

    private var specifiers: [TransportSpecifier] {
      get throws {
        try hci.map { text in
          do throws(TransportSpecifier.Problem) {
            let specifier = try TransportSpecifier(text)
            switch specifier {
            case .tcp, .unix: return specifier
            case .serial, .hci:
              throw TransportSpecifier.Problem(description: "right would be tcp:HOST:PORT or unix:PATH")
            }
          } catch {
            throw ValidationError("hosts can't join at \"\(text)\": \(error)")
          }
        }
      }
    }

    func run() throws {
      var options = AirServer.Options()
      if let world {
        do throws(WorldFile.Failure) { options.file = try WorldFile(path: world) } catch {
          throw Failure("\(error)", status: Status.wrongInput)
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
          throw Failure("anybody who reaches \(specifier) could join; --public allows it")
        }
        complain("warning: anybody who reaches \(specifier) can join, and control virtual devices here")
      }
      Self.allowManyDescriptors()
      let server = AirServer(options)
      // Watch signals before the output announces the air.
      let signals = Self.watchSignals { server.requestEnd() }
      defer { withExtendedLifetime(signals) {} }
      do {
        try server.openControl(at: control.path)
        if let capture {
          try server.capture(
            to: URL(fileURLWithPath: capture).standardizedFileURL.path, decryptsAir: captureDecrypted,
            writesKeys: captureKeys)
        }
        for specifier in try specifiers.map({ try server.listen(at: $0) }) { tell("hosts join at \(specifier)") }
        if control.path != ControlSocket.defaultPath { tell("control socket: \(control.path)") }
      } catch {
        try? server.stop()
        throw Failure("\(error)")
      }
      server.waitForEnd()
      do { try server.stop() } catch { throw Failure("\(error)") }
    }

    /// Prints a line. A closed output is no error: the air does not need a reader of its output.
    private func tell(_ text: String) {
      do throws(OutputFailure) { try say(text) } catch {
        if error.code != EPIPE { complain("warning: \(error.reason)") }
      }
    }

    /// Calls `end` for the first signal. A second signal ends the program at once, whatever it waits for.
    private static func watchSignals(_ end: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
      let queue = DispatchQueue(label: "ble air signals")
      let hasEnded = NIOLockedValueBox(false)
      return [SIGINT, SIGTERM, SIGHUP].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler {
          let isFirst = hasEnded.withLockedValue { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
          }
          // The status that shells use: 128 plus the signal's number.
          guard isFirst else { _exit(128 + number) }
          end()
        }
        source.activate()
        return source
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
    @OptionGroup var question: Question

    func run() throws {
      let devices = try question.ask(ControlRequest(.devices)).devices ?? []
      guard !devices.isEmpty else { return try say("there is no device yet") }
      var table = TextTable(["device", "address", "place in metres", "radio", "host"])
      for device in devices {
        table.add([
          device.name, device.address ?? "-", device.position.map(metres).joined(separator: ", "),
          device.radio ? "on" : "off", device.host.map { $0 ? "joined" : "-" } ?? "its own",
        ])
      }
      try say(table.text)
    }
  }

  struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Takes a device to another place.")
    @Argument(help: deviceHelp) var device: String
    @Option(
      name: .customLong("to"), parsing: .unconditional,
      help: ArgumentHelp("The place in metres: x,y,z; what is left out is 0.", valueName: "x,y,z"))
    var position: String
    @OptionGroup var question: Question

    func run() throws {
      let metres = position.split(separator: ",", omittingEmptySubsequences: false)
      let numbers = metres.compactMap { Double($0) }
      guard numbers.count == metres.count, (1...3).contains(numbers.count),
        numbers.allSatisfy({ (-1e6...1e6).contains($0) })
      else {
        throw ValidationError("\"\(position)\" is no place: right would be metres, -1000000 to 1000000, as in 3,-4.5,1")
      }
      var request = ControlRequest(.move)
      (request.device, request.position) = (device, numbers)
      try question.ask(request)
    }
  }

  struct Radio: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Has a device hear and be heard by nobody, or by all again.")
    enum State: String, ExpressibleByArgument, CaseIterable { case on, off }
    @Argument(help: deviceHelp) var device: String
    @Argument(help: "on or off") var state: State
    @OptionGroup var question: Question

    func run() throws {
      var request = ControlRequest(.radio)
      (request.device, request.on) = (device, state == .on)
      try question.ask(request)
    }
  }

  struct Fault: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Has faults strike, from now on or never again.",
      discussion: "Documentation/Lab.md says what plans look like.")
    @Argument(help: ArgumentHelp("A file with a fault plan in JSON; - is the standard input.", valueName: "plan"))
    var plan: String?
    @Flag(help: "Ends all faults.") var clear = false
    @OptionGroup var question: Question

    func validate() throws {
      guard clear != (plan != nil) else { throw ValidationError("either a plan or --clear is to be given") }
    }

    func run() throws {
      var request = ControlRequest(.fault)
      if let plan {
        let data: Data
        do {
          data =
            plan == "-"
            ? FileHandle.standardInput.readDataToEndOfFile() : try Data(contentsOf: URL(fileURLWithPath: plan))
        } catch { throw Failure("\(plan) can't be read: \(error.localizedDescription)") }
        do { request.plan = try FaultPlan(json: String(decoding: data, as: UTF8.self)) } catch {
          throw Failure("\(plan) is no fault plan: \(error)")
        }
      }
      try question.ask(request)
    }
  }

  struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Says what the devices of an air have done.")
    @OptionGroup var question: Question

    func run() throws {
      let answer = try question.ask(ControlRequest(.stats))
      try say("\(seconds(answer.time ?? 0)) s of radio time")
      var table = TextTable(["device", "sent", "received", "CRC errors", "sending", "listening"])
      for device in answer.statistics ?? [] {
        table.add([
          device.name, "\(device.sentPackets)", "\(device.receivedPackets)", "\(device.crcErrors)",
          seconds(device.transmitting) + " s", seconds(device.receiving) + " s",
        ])
      }
      try say(table.text)
      var links = TextTable(["central", "peripheral", "state", "to peripheral", "to central", "sent again", "RSSI"])
      for device in answer.statistics ?? [] {
        for link in device.links where link.isCentral {
          links.add([
            device.name, link.peer ?? "?", link.isConnected ? "connected" : "ended", "\(link.sentOctets)",
            "\(link.receivedOctets)", "\(link.retransmissions)", link.rssi.map { "\(Int($0.rounded())) dBm" } ?? "-",
          ])
        }
      }
      if !links.isEmpty { try say(links.text) }
    }
  }

  struct CaptureVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "capture", abstract: "Begins a capture of an air that runs, or ends it.")
    @Argument(help: ArgumentHelp("The pcapng file. If it is not given: ends the capture.", valueName: "file")) var file:
      String?
    @Flag(help: "Has packets of encrypted links as they were before encryption.") var decrypted = false
    @Flag(help: "Writes the keys of encrypted links to a file beside it.") var keys = false
    @OptionGroup var question: Question

    func run() throws {
      var request = ControlRequest(.capture)
      request.path = file.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
      (request.decrypted, request.keys) = (decrypted, keys)
      if let note = try question.ask(request).note { try say(note) }
    }
  }

  struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Ends an air.")
    @OptionGroup var question: Question

    func run() throws { try question.ask(ControlRequest(.stop)) }
  }
}

extension TransportSpecifier {
  /// True if only programs on this machine can reach it.
  fileprivate var isLocal: Bool {
    switch self {
    case .tcp(let host, let port):
      guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: port) else { return false }
      return address.isLoopback
    case .unix, .serial, .hci: return true
    }
  }
}

extension SocketAddress {
  fileprivate var isLoopback: Bool {
    guard let text = ipAddress else { return false }
    return text.hasPrefix("127.") || text == "::1"
  }
}

private func metres(_ value: Double) -> String {
  value == value.rounded() ? "\(Int(value))" : "\(value)"
}

private func seconds(_ value: Double) -> String { String(format: "%.3f", value) }
