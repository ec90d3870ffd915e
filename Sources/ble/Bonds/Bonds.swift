import ArgumentParser
import BluetoothAir
import BluetoothBonds
import BluetoothDaemon
import BluetoothDissection
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation

/// The commands for stored bonds.
struct Bonds: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists, removes, exports and imports the bonds of this machine.",
    discussion: """
      A running program with a real controller applies a change at once. A simulated device applies a removal when its \
      next link to that device ends, and an import when its program restarts.
      """,
    subcommands: [List.self, Forget.self, Export.self, Import.self], defaultSubcommand: List.self)

  /// The options that select the folder and the adapter.
  struct StoreOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The folder with the bonds of all adapters (default: $COREBLUETOOTH_BONDS, or a folder in your data folder).",
        valueName: "folder"), completion: .directory)
    var folder: String?

    @Option(help: ArgumentHelp("The adapter. Required only if several adapters have bonds.", valueName: "name"))
    var adapter: String?

    func path() throws -> String {
      if let folder { return folder }
      let variable = ProcessInfo.processInfo.environment["COREBLUETOOTH_BONDS"] ?? ""
      return variable.isEmpty ? try FileBondStore.defaultFolder() : variable
    }

    /// Returns the adapters with bonds in the folder, by name.
    func adapters() throws -> [(name: String, store: FileBondStore)] {
      let path = try path()
      let found = try FileBondStore.adapters(in: path).filter { adapter == nil || adapter == $0.name }
      if found.isEmpty, let adapter { throw Failure("no bonds of adapter \(adapter) in \(path)") }
      return found
    }

    /// Returns the bond store of the selected adapter, or of the only adapter if none is selected.
    func store() throws -> FileBondStore {
      let found = try adapters()
      guard let first = found.first else { throw Failure("no bonds in \(try path())") }
      guard found.count == 1 else {
        throw Failure(
          "several adapters have bonds; choose one with --adapter: "
            + found.map(\.name.printable).joined(separator: ", "))
      }
      return first.store
    }

    /// Returns the record of the device with this identifier, address or name, and its store.
    func find(_ device: String) throws -> (FileBondStore, BondRecord) {
      let store = try store()
      let stored = try store.look()
      for problem in stored.problems { complain("\(problem)") }
      let found = stored.records.named(device)
      guard let first = found.first else { throw Failure("no bond with \"\(device)\"; ble bonds lists all bonds") }
      guard found.count == 1 else {
        let identifiers = found.map(\.identifier.digits).joined(separator: ", ")
        throw Failure("\"\(device)\" matches \(found.count) devices; use one of their identifiers: \(identifiers)")
      }
      return (store, first)
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the bonded devices of all adapters.")
      .examples("ble bonds list", "ble bonds list --json")

    @OptionGroup var options: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
      let adapters = try options.adapters()
      if adapters.isEmpty, !output.json { try say("No bonds in \(try options.path()).") }
      for (name, store) in adapters {
        let stored: StoredBonds
        do throws(BondStoreError) { stored = try store.look() } catch {
          complain("\(error)")
          continue
        }
        if output.json {
          for bond in stored.records { try put(record(of: bond, adapter: name).line + "\n") }
        } else {
          try say("\(name.printable): \(stored.records.count == 1 ? "1 bond" : "\(stored.records.count) bonds")")
          for record in stored.records { try say("  " + line(of: record)) }
        }
        for problem in stored.problems { complain("\(problem)") }
      }
    }

    private func record(of bond: BondRecord, adapter: String) -> JSONRecord {
      var record = JSONRecord("bond")
      record.add("adapter", adapter)
      record.add("identifier", bond.identifier.digits)
      record.add("address", bond.bluezFolder)
      record.add("addressKind", bond.identity.kind == .public ? "public" : "random")
      record.add("secureConnections", .flag(bond.bond.key != nil))
      record.add("authenticated", .flag(bond.bond.level == .authenticated))
      record.add("name", bond.name)
      return record
    }

    private func line(of record: BondRecord) -> String {
      let isNew = record.bond.key != nil
      return [
        record.identifier.digits, record.bluezFolder, record.identity.kind == .public ? "public" : "random",
        isNew ? "Secure Connections" : "legacy",
        record.bond.level == .authenticated ? "authenticated" : "not authenticated",
        record.name.map { $0.debugDescription.printable } ?? "unnamed",
      ].joined(separator: "  ")
    }
  }

  struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes the bond with a device: its keys and its cached data."
    )
    .examples("ble bonds forget keyboard", "ble bonds forget E7:0C:B8:CF:22:CB")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The address, identifier or name of the device.")
    var device: String
    @OptionGroup var output: OutputOptions

    func run() throws {
      let (store, record) = try options.find(device)
      _ = try store.remove(record.identity)
      if !output.json { try say("removed \(record.bluezFolder)") }
      let isApplied = try tellReach(of: store, output)
      try output.emit(record.change("removed", isApplied: isApplied))
    }
  }

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, bluez
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Exports a bond with all its keys, as JSON or as a BlueZ info file.",
      discussion: "Keep the output secret: its keys allow anyone to impersonate either device."
    )
    .examples("ble bonds export keyboard --output keyboard.json", "ble bonds export keyboard --format bluez")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The address, identifier or name of the device.")
    var device: String
    @Option(help: "The file format.")
    var format = Format.json
    @Option(
      name: .customLong("output"),
      help: ArgumentHelp(
        "The file to create, with mode 600 (default: standard output).", valueName: "file"), completion: .file())
    var path: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
      if output.json, path == nil { throw ValidationError("with --json, expected --output FILE") }
    }

    func run() throws {
      let (_, record) = try options.find(device)
      let text = format == .json ? record.jsonText : record.bluezInfo
      guard let path else { return try put(text) }
      // Create the file with mode 600, so that other users can never read it.
      let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
      guard file >= 0 else {
        throw Failure("--output: \(path): \(String(cString: strerror(errno)))")
      }
      try FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
      try output.emit(record.change("exported", file: path))
    }
  }

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Imports a bond from JSON or from a BlueZ info file.",
      discussion: """
        BlueZ keeps bonds in /var/lib/bluetooth/ADAPTER/DEVICE/info. An imported bond works only on a controller with \
        the address of that adapter.
        """
    )
    .examples("ble bonds import keyboard.json", "ble bonds import info --format bluez")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The file to import.", completion: .file())
    var file: String
    @Option(help: "The file format.")
    var format = Format.json
    @Option(
      help: ArgumentHelp(
        "With --format bluez: the device address (default: the name of the file's folder).", valueName: "address"))
    var address: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
      let url = URL(fileURLWithPath: file)
      let octets: [UInt8]
      do throws(InputFile.Failure) {
        octets = try InputFile.octets(of: file, limit: FileBondStore.maximumSize, .given)
      } catch { throw Failure(error.description) }
      let record: BondRecord
      switch format {
      case .json: record = try BondRecord(jsonText: octets)
      case .bluez:
        record = try BondRecord(
          bluezInfo: String(decoding: octets, as: UTF8.self),
          address: address ?? url.deletingLastPathComponent().lastPathComponent, identifier: .random())
      }
      try record.checkImport()
      let store = try target()
      var kept = record
      let known = (try? store.look().records) ?? []
      if let former = known.first(where: { $0.identity == record.identity }) {
        // Keep the identifier by which apps know the device.
        kept.identifier = former.identifier
      } else if known.contains(where: { $0.identifier == record.identifier }) {
        kept.identifier = .random()
        complain("warning: the identifier belongs to another device; this device gets \(kept.identifier.digits)")
      }
      try store.save(kept)
      if !output.json { try say("imported \(record.bluezFolder)") }
      let isApplied = try tellReach(of: store, output)
      try output.emit(kept.change("imported", file: file, isApplied: isApplied))
    }

    /// Returns the bond store of the selected adapter; creates a store if the adapter has no bonds yet.
    private func target() throws -> FileBondStore {
      guard let adapter = options.adapter else { return try options.store() }
      let path = try options.path()
      let known = try FileBondStore.adapters(in: path).first { $0.name == adapter }
      return known?.store ?? FileBondStore(folder: path, shownAs: adapter)
    }
  }
}

/// Tells the user if the running program that uses the adapter has applied a change.
///
/// - Returns: true if the program has applied it; nil if there is no such program, or if it is not known.
private func tellReach(of store: FileBondStore, _ output: OutputOptions) throws(OutputFailure) -> Bool? {
  switch store.reach() {
  case .noProgram: return nil
  case .taken:
    if !output.json { try say("the running program that uses the adapter has applied the change") }
    return true
  case .notTaken:
    complain("the running program that uses the adapter has not applied the change: restart that program")
    return false
  case .unknown:
    complain("if a running program simulates a device with these bonds, it has not been notified")
    return nil
  }
}

extension BondRecord {
  /// Returns the record of a change of this bond.
  ///
  /// - Parameters:
  ///   - change: the change, in the past participle.
  ///   - file: the file that was read or written; nil: none.
  ///   - isApplied: true if the running program that uses the adapter has applied the change; nil: not known.
  fileprivate func change(_ change: String, file: String? = nil, isApplied: Bool? = nil) -> JSONRecord {
    var record = JSONRecord("bondChange")
    record.add("change", change)
    record.add("identifier", identifier.digits)
    record.add("address", bluezFolder)
    record.add("addressKind", identity.kind == .public ? "public" : "random")
    record.add("name", name)
    record.add("file", file)
    record.add("applied", isApplied.map { .flag($0) })
    return record
  }
}

extension PeerIdentifier {
  /// Returns a random UUID (version 4).
  fileprivate static func random() -> PeerIdentifier {
    PeerIdentifier(
      high: UInt64.random(in: .min ... .max) & ~0xF000 | 0x4000,
      low: UInt64.random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62)
  }
}
