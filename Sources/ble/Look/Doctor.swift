import ArgumentParser
import BluetoothAdapters
import BluetoothBonds
import BluetoothCrypto
import BluetoothDaemon
import BluetoothDaemonProtocol
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
    discussion: "The exit status is 69 if the adapter can't be used."
  )
  .examples("ble doctor", "ble doctor --adapter hci:0 --json")

  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func run() throws { try HeldLog.during { try runChecks() } }

  private func runChecks() throws {
    var report = Report(isJSON: output.json, style: output.style)
    let (choice, origin) = adapter.choice
    switch choice {
    case .world(let path): try report.add("adapter", .good, "a device in the world of \(path) (\(origin))")
    case .specifier(let specifier):
      try report.add("adapter", .good, "\(specifier) (\(origin))")
      for finding in Self.checks(of: specifier) { try report.add(finding) }
    }
    try report.add(Self.others(beside: choice))
    if choice.adapter?.kind == .server {
      if let bonds = choice.server.flatMap(Self.bonds(of:)) { try report.add(bonds) }
      try tryOut(&report)
    } else {
      let encryption = Self.encryption
      try report.add(encryption)
      try report.add(Self.bonds)
      try report.add(Self.prompts)
      // A host without the library ends the program.
      if encryption.state == .good { try tryOut(&report) }
    }
    if report.hasFailed { throw Failure("the adapter can't be used", status: ExitStatus.noAdapter) }
  }

  /// Opens the adapter and waits until it is on.
  private func tryOut(_ report: inout Report) throws {
    let finding: AdapterCheck
    let remedy = adapter.choice.choice.adapter?.remedy ?? AdapterCheck.advice
    do {
      let result = NIOLockedValueBox(AdapterCheck("controller", .bad, "it was not tried"))
      try Stage(adapter).run { stage in
        let central = Central(adapter: stage.adapter)
        defer { central.close() }
        do {
          if let obstacle = try? await stage.findObstacle(
            to: central.waitUntilPoweredOn(within:), { central.state })
          {
            return result.withLockedValue {
              $0 = AdapterCheck(obstacle.subject, .bad, obstacle.text, remedy: obstacle.remedy)
            }
          }
          try await stage.waitForPower(of: central.waitUntilPoweredOn(within:)) { central.state }
          result.withLockedValue { $0 = AdapterCheck("controller", .good, "it answers, and Bluetooth is on") }
        } catch let failure as Failure {
          let failed = AdapterCheck(
            "controller", .bad, failure.description.replacing("; ble doctor says more", with: ""),
            remedy: remedy)
          result.withLockedValue { $0 = failed }
        }
      }
      finding = result.withLockedValue { $0 }
    } catch let failure as Failure where failure.status != ExitStatus.interrupted {
      finding = AdapterCheck("controller", .bad, failure.description)
    }
    try report.add(finding)
  }

  private static func checks(of specifier: String) -> [AdapterCheck] {
    do throws(SpecifierProblem) { return try AdapterRegistry.specifier(specifier).checks(on: Machine()) } catch {
      let remedy = error.hasUnknownScheme ? nil : "one of: \(AdapterRegistry.forms())"
      return [AdapterCheck("adapter", .bad, error.description, remedy: remedy)]
    }
  }

  // MARK: Surroundings

  private static var encryption: AdapterCheck {
    do throws(MissingCryptoLibrary) { return AdapterCheck("encryption", .good, try CryptoLibrary.version()) } catch {
      return AdapterCheck("encryption", .bad, error.reason, remedy: error.remedy)
    }
  }

  private static func others(beside choice: AdapterOptions.Choice) -> AdapterCheck {
    let known = Surroundings.controllers.filter { .specifier($0) != choice }
    return AdapterCheck(
      "other adapters", .good,
      known.isEmpty ? "Linux lists no other ones" : "\(known.joined(separator: ", ")); choose with --adapter")
  }

  private static var bonds: AdapterCheck {
    let variable = ProcessInfo.processInfo.environment["COREBLUETOOTH_BONDS"] ?? ""
    let folder: String
    do throws(BondStoreError) { folder = variable.isEmpty ? try FileBondStore.defaultFolder() : variable } catch {
      return AdapterCheck("bonds", .warning, "\(error)", remedy: "set COREBLUETOOTH_BONDS to a folder")
    }
    // The nearest folder that exists has to be writable.
    var path = URL(fileURLWithPath: folder)
    while access(path.path, F_OK) != 0, path.pathComponents.count > 1 { path.deleteLastPathComponent() }
    guard access(path.path, W_OK) == 0 else {
      return AdapterCheck(
        "bonds", .warning, "can't write to \(path.path), so bonds are lost when a program ends",
        remedy: "set COREBLUETOOTH_BONDS to a folder of yours")
    }
    return AdapterCheck("bonds", .good, folder)
  }

  /// Returns the bonds of a server; nil: the server does not answer, which is a finding already.
  private static func bonds(of server: ServerSpecifier) -> AdapterCheck? {
    let bonds = try? ServerOptions.withServer(server) { server, token in
      try ServerQuestion(to: server, token: token).peers().filter(\.isBonded)
    }
    return bonds.map { bonds in
      let titles = bonds.map { $0.name ?? $0.address.digits }.joined(separator: ", ")
      return AdapterCheck(
        "bonds", .good, bonds.isEmpty ? "the server keeps none" : "the server keeps those with \(titles)")
    }
  }

  private static var prompts: AdapterCheck {
    let variable = ProcessInfo.processInfo.environment[PromptsSetting.environmentVariable]
    do throws(AdapterError) {
      switch try PromptsSetting(variable) {
      case .accept: return AdapterCheck("questions", .good, "accepted without asking (COREBLUETOOTH_PROMPTS)")
      case .refuse:
        return AdapterCheck(
          "questions", .warning, "refused without asking (COREBLUETOOTH_PROMPTS)", remedy: "unset COREBLUETOOTH_PROMPTS"
        )
      case .terminal:
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
          return AdapterCheck(
            "questions", .warning, "refused, because there is no terminal to ask at",
            remedy: "run at a terminal, or set COREBLUETOOTH_PROMPTS=accept")
        }
        return AdapterCheck("questions", .good, "asked at this terminal")
      }
    } catch { return AdapterCheck("questions", .warning, error.description) }
  }
}

// MARK: Report

/// The findings as they are printed.
private struct Report {
  let isJSON: Bool
  let style: Style
  private(set) var hasFailed = false

  /// The column at which the texts begin.
  private static let indent = 25

  init(isJSON: Bool, style: Style) {
    self.isJSON = isJSON
    self.style = style
  }

  mutating func add(_ subject: String, _ state: AdapterCheck.State, _ text: String) throws(OutputFailure) {
    try add(AdapterCheck(subject, state, text))
  }

  mutating func add(_ finding: AdapterCheck) throws(OutputFailure) {
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
    let line = "\(finding.state == .good ? state : style.bold(state))  \(subject)  \(finding.text.printable)"
    let remedy = finding.remedy.map { String(repeating: " ", count: Self.indent) + $0.printable }
    for text in [line, remedy].compactMap({ $0 }) {
      let lines = text.wrappedForTerminal(STDOUT_FILENO, indent: Self.indent)
      try put(lines.map { $0 + "\n" }.joined())
    }
  }
}
