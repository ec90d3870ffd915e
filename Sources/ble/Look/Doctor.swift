import ArgumentParser
import BluetoothAdapters
import BluetoothBonds
import BluetoothDaemon
import BluetoothTransport
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The verb that tells whether Bluetooth can be used, and what is missing.
struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tells which adapter is used, what is missing, and how to fix it.",
    discussion: "The exit status is 69 if the adapter can't be used.")

  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    var report = Report(isJSON: output.json, style: output.style)
    let (choice, origin) = adapter.choice
    switch choice {
    case .world(let path): try report.add("adapter", .good, "a device in the world of \(path) (\(origin))")
    case .specifier(let specifier):
      try report.add("adapter", .good, "\(specifier) (\(origin))")
      for finding in Self.requirements(of: specifier) { try report.add(finding) }
    }
    try report.add(Self.others(beside: choice))
    if let server = choice.server {
      if let bonds = Self.bonds(of: server) { try report.add(bonds) }
    } else {
      try report.add(Self.bonds)
      try report.add(Self.prompts)
    }
    try tryOut(&report)
    if report.hasFailed { throw Failure("the adapter can't be used", status: ExitStatus.noAdapter) }
  }

  /// Opens the adapter and waits until it is on.
  private func tryOut(_ report: inout Report) throws {
    let finding: Finding
    let remedy = Self.remedy(of: adapter.choice.choice)
    do {
      let result = NIOLockedValueBox(Finding("controller", .bad, "it was not tried"))
      try Stage(adapter).run { stage in
        let central = Central(adapter: stage.adapter)
        defer { central.close() }
        do {
          if let obstacle = try? await stage.findObstacle(
            to: central.waitUntilPoweredOn(within:), { central.state })
          {
            return result.withLockedValue {
              $0 = Finding(obstacle.subject, .bad, obstacle.text, remedy: obstacle.remedy)
            }
          }
          try await stage.waitForPower(of: central.waitUntilPoweredOn(within:)) { central.state }
          result.withLockedValue { $0 = Finding("controller", .good, "it answers, and Bluetooth is on") }
        } catch let failure as Failure {
          let failed = Finding(
            "controller", .bad, failure.description.replacing("; ble doctor says more", with: ""),
            remedy: remedy)
          result.withLockedValue { $0 = failed }
        }
      }
      finding = result.withLockedValue { $0 }
    } catch let failure as Failure where failure.status != ExitStatus.interrupted {
      finding = Finding("controller", .bad, failure.description)
    }
    try report.add(finding)
  }

  // MARK: Requirements of adapters

  /// The advice for a controller that does not answer.
  private static func remedy(of choice: AdapterOptions.Choice) -> String {
    if case .tcp(let host, let port)? = choice.server?.place {
      return "start btserver there with --tcp \(host):\(port) and --token-file, or see what was logged"
    }
    if case .specifier(let specifier) = choice, case .tcp? = try? TransportSpecifier(specifier) {
      return "start one there with ble air --hci \(specifier), or see what was logged on the standard error"
    }
    return "see the lines above, and what was logged on the standard error"
  }

  private static func requirements(of specifier: String) -> [Finding] {
    if specifier == "virtual" {
      return [
        Finding(
          "surroundings", .warning, "the adapter \"virtual\" is alone in its world",
          remedy:
            "join a world with --world FILE, an air with --adapter unix:PATH, or use a controller: --adapter hci:0")
      ]
    }
    if specifier.hasPrefix("server") { return [server(specifier)] }
    do throws(TransportSpecifier.Problem) {
      switch try TransportSpecifier(specifier) {
      case .unix(let path): return [socket(path, "start one with ble air --hci unix:\(path)")]
      case .serial(let device, _, _): return [serial(device)]
      case .hci(let number): return linux(number)
      case .tcp: return []
      }
    } catch { return [Finding("adapter", .bad, error.description, remedy: "one of: \(AdapterRegistry.forms)")] }
  }

  private static func server(_ specifier: String) -> Finding {
    do throws(AdapterError) {
      switch try ServerSpecifier(specifier).place {
      case .unix(let path): return socket(path, "start btserver, or name its socket: --adapter server:PATH")
      case .tcp(let host, let port): return Finding("server", .good, "at \(host), port \(port)")
      }
    } catch { return Finding("adapter", .bad, error.description) }
  }

  private static func socket(_ path: String, _ remedy: String) -> Finding {
    var status = stat()
    guard stat(path, &status) == 0 else { return Finding("socket", .bad, "\(path) does not exist", remedy: remedy) }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return Finding("socket", .bad, "\(path) is no socket", remedy: remedy)
    }
    guard access(path, R_OK | W_OK) == 0 else {
      return Finding("socket", .bad, "\(path) belongs to another user", remedy: "run this program as that user")
    }
    return Finding("socket", .good, path)
  }

  private static func serial(_ device: String) -> Finding {
    guard access(device, F_OK) == 0 else {
      return Finding("serial line", .bad, "\(device) does not exist", remedy: "plug the controller in; ls /dev/tty*")
    }
    guard access(device, R_OK | W_OK) == 0 else {
      return Finding(
        "serial line", .bad, "no permission for \(device)", remedy: "sudo usermod -aG dialout $USER, and log in again")
    }
    return Finding("serial line", .good, device)
  }

  private static func linux(_ number: Int) -> [Finding] {
    var result: [Finding] = []
    if access("/sys/class/bluetooth/hci\(number)", F_OK) == 0 {
      result.append(Finding("Linux adapter", .good, "hci\(number)"))
    } else {
      let known = linuxAdapters
      result.append(
        Finding(
          "Linux adapter", .bad, "there is no hci\(number)",
          remedy: known.isEmpty
            ? "plug an adapter in, or load its driver; rfkill list shows blocked ones"
            : "use one of: \(known.joined(separator: ", "))"))
    }
    result.append(
      hasNetworkRights
        ? Finding("permission", .good, "CAP_NET_ADMIN")
        : Finding(
          "permission", .bad, "this program has no CAP_NET_ADMIN",
          remedy: "sudo setcap cap_net_admin+ep \(programPath)"))
    if isRunning("bluetoothd") {
      result.append(
        Finding(
          "BlueZ", .warning, "bluetoothd is running, and may hold the adapter",
          remedy: "sudo systemctl stop bluetooth && sudo hciconfig hci\(number) down"))
    }
    return result
  }

  private static var linuxAdapters: [String] {
    AdapterRegistry.knownAdapters().filter { $0.kind == .local }.map(\.specifier)
  }

  private static var programPath: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }

  /// True if this program has the capability CAP_NET_ADMIN (number 12).
  private static var hasNetworkRights: Bool {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
      let bits = UInt64(line.dropFirst(7).filter(\.isHexDigit), radix: 16)
    else { return false }
    return bits & 1 << 12 != 0
  }

  /// True if a process of this name is visible.
  private static func isRunning(_ name: String) -> Bool {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.contains { number in
      guard Int(number) != nil,
        let comm = try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8)
      else { return false }
      return comm.hasPrefix(name)
    }
  }

  // MARK: Surroundings

  private static func others(beside choice: AdapterOptions.Choice) -> Finding {
    let known = linuxAdapters.filter { .specifier($0) != choice }
    return Finding(
      "other adapters", .good,
      known.isEmpty ? "Linux lists no other ones" : "\(known.joined(separator: ", ")); choose with --adapter")
  }

  private static var bonds: Finding {
    let variable = ProcessInfo.processInfo.environment["COREBLUETOOTH_BONDS"] ?? ""
    let folder: String
    do throws(BondStoreError) { folder = variable.isEmpty ? try FileBondStore.defaultFolder() : variable } catch {
      return Finding("bonds", .warning, "\(error)", remedy: "set COREBLUETOOTH_BONDS to a folder")
    }
    // The nearest folder that exists has to be writable.
    var path = URL(fileURLWithPath: folder)
    while access(path.path, F_OK) != 0, path.pathComponents.count > 1 { path.deleteLastPathComponent() }
    guard access(path.path, W_OK) == 0 else {
      return Finding(
        "bonds", .warning, "can't write to \(path.path), so bonds are lost when a program ends",
        remedy: "set COREBLUETOOTH_BONDS to a folder of yours")
    }
    return Finding("bonds", .good, folder)
  }

  /// Returns the bonds of a server; nil: the server does not answer, which is a finding already.
  private static func bonds(of server: ServerSpecifier) -> Finding? {
    let bonds = try? ServerOptions.withServer("\(server)") { server, token in
      try ServerQuestion(to: server, token: token).peers().filter(\.isBonded)
    }
    return bonds.map { bonds in
      let titles = bonds.map { $0.name ?? $0.address.digits }.joined(separator: ", ")
      return Finding("bonds", .good, bonds.isEmpty ? "the server keeps none" : "the server keeps those with \(titles)")
    }
  }

  private static var prompts: Finding {
    let variable = ProcessInfo.processInfo.environment[PromptsSetting.environmentVariable]
    do throws(AdapterError) {
      switch try PromptsSetting(variable) {
      case .accept: return Finding("questions", .good, "accepted without asking (COREBLUETOOTH_PROMPTS)")
      case .refuse:
        return Finding(
          "questions", .warning, "refused without asking (COREBLUETOOTH_PROMPTS)", remedy: "unset COREBLUETOOTH_PROMPTS"
        )
      case .terminal:
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
          return Finding(
            "questions", .warning, "refused, because there is no terminal to ask at",
            remedy: "run at a terminal, or set COREBLUETOOTH_PROMPTS=accept")
        }
        return Finding("questions", .good, "asked at this terminal")
      }
    } catch { return Finding("questions", .warning, error.description) }
  }
}

// MARK: Report

/// One finding of the verb `doctor`.
private struct Finding: Sendable {
  enum State: String, Sendable {
    case good = "ok"
    case warning
    /// The adapter can't be used.
    case bad = "missing"
  }

  let subject: String
  let state: State
  let text: String
  let remedy: String?

  init(_ subject: String, _ state: State, _ text: String, remedy: String? = nil) {
    (self.subject, self.state, self.text, self.remedy) = (subject, state, text, remedy)
  }
}

/// The findings as they are printed.
private struct Report {
  let isJSON: Bool
  let style: Style
  private(set) var hasFailed = false

  init(isJSON: Bool, style: Style) {
    self.isJSON = isJSON
    self.style = style
  }

  mutating func add(_ subject: String, _ state: Finding.State, _ text: String) throws(OutputFailure) {
    try add(Finding(subject, state, text))
  }

  mutating func add(_ finding: Finding) throws(OutputFailure) {
    if finding.state == .bad { hasFailed = true }
    guard !isJSON else {
      var record = JSONRecord("finding")
      record.add("subject", finding.subject)
      record.add("state", finding.state.rawValue)
      record.add("text", finding.text)
      record.add("remedy", finding.remedy)
      return try put(record.line + "\n")
    }
    let state = finding.state.rawValue + String(repeating: " ", count: 7 - finding.state.rawValue.count)
    let subject = finding.subject + String(repeating: " ", count: max(0, 14 - finding.subject.count))
    try put("\(finding.state == .good ? state : style.bold(state))  \(subject)  \(finding.text.printable)\n")
    if let remedy = finding.remedy { try put("\(String(repeating: " ", count: 25))\(remedy.printable)\n") }
  }
}
