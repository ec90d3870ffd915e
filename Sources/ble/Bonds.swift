import ArgumentParser
import BluetoothHost
import BluetoothServer
import BluetoothWire
import Foundation

/// What is known of bonded devices.
struct Bonds: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists bonded devices, forgets them, and takes bonds from one place to another.",
    discussion: """
      A program that is running learns that a device was forgotten when its next link to it ends, and of a new bond when it \
      is started again.
      """,
    subcommands: [List.self, Forget.self, Export.self, Import.self], defaultSubcommand: List.self)

  /// Where bonds are.
  struct Place: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The folder with the bonds of all adapters. If it is not given: what COREBLUETOOTH_BONDS says, else the one in your data.",
        valueName: "folder"))
    var folder: String?

    @Option(help: ArgumentHelp("The adapter; needed only if several have bonds.", valueName: "name"))
    var adapter: String?

    func path() throws -> String {
      if let folder { return folder }
      let variable = ProcessInfo.processInfo.environment["COREBLUETOOTH_BONDS"] ?? ""
      return variable.isEmpty ? try FileBondStore.defaultFolder() : variable
    }

    /// The adapters that have a folder of their own there, by name.
    func adapters() throws -> [(name: String, store: FileBondStore)] {
      let path = try path()
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.sorted().compactMap { name in
        var isFolder: ObjCBool = false
        let folder = path + "/" + name
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
          return nil
        }
        guard adapter == nil || adapter == name else { return nil }
        return (name, FileBondStore(path: folder))
      }
    }

    /// The one adapter that is meant.
    func store() throws -> FileBondStore {
      let found = try adapters()
      switch found.count {
      case 1: return found[0].store
      case 0:
        throw Failure("there are no bonds\(adapter.map { " of \($0)" } ?? "") in \(try path()).")
      default:
        throw Failure(
          "several adapters have bonds; --adapter says which: \(found.map(\.name).joined(separator: ", ")).")
      }
    }

    /// The record of a device that is named by its address, its identifier or its name.
    func find(_ device: String) throws -> (FileBondStore, BondRecord) {
      let store = try store()
      let wanted = device.lowercased()
      let found = try store.load().records.filter { record in
        record.bluezFolder.lowercased() == wanted || record.identifier.digits.lowercased() == wanted
          || record.name == device
      }
      switch found.count {
      case 1: return (store, found[0])
      case 0: throw Failure("there is no bond with \"\(device)\".")
      default: throw Failure("\(found.count) devices are called \"\(device)\": name it by its address.")
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the bonded devices of all adapters.")

    @OptionGroup var place: Place

    func run() throws {
      let adapters = try place.adapters()
      if adapters.isEmpty { print("No bonds in \(try place.path()).") }
      for (name, store) in adapters {
        let stored = try store.load()
        print("\(name): \(stored.records.count == 1 ? "1 bond" : "\(stored.records.count) bonds")")
        for record in stored.records { print("  " + line(of: record)) }
        for problem in stored.problems { complain("\(problem)") }
      }
    }

    private func line(of record: BondRecord) -> String {
      let isNew = record.bond.key != nil
      return [
        record.identifier.digits, record.bluezFolder, record.identity.kind == .public ? "public" : "random",
        isNew ? "Secure Connections" : "legacy",
        record.bond.level == .authenticated ? "authenticated" : "not authenticated",
        record.name.map { $0.debugDescription } ?? "without a name",
      ].joined(separator: "  ")
    }
  }

  struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Forgets a device: its keys, and what is known of it.")

    @OptionGroup var place: Place
    @Argument(help: "Its address, its identifier or its name.")
    var device: String

    func run() throws {
      let (store, record) = try place.find(device)
      _ = try store.remove(record.identity)
      print("forgot \(record.bluezFolder)")
    }
  }

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, bluez
  }

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes a bond with all its keys, as JSON or as BlueZ's info file.",
      discussion: "Whoever has what is written can take the place of either device.")

    @OptionGroup var place: Place
    @Argument(help: "Its address, its identifier or its name.")
    var device: String
    @Option(help: ArgumentHelp("json or bluez."))
    var format = Format.json
    @Option(
      help: ArgumentHelp(
        "A file that nobody else may read; if it is not given, the keys are printed.", valueName: "file"))
    var output: String?

    func run() throws {
      let (_, record) = try place.find(device)
      let text = format == .json ? record.json.text : record.bluezInfo
      guard let output else { return print(text, terminator: "") }
      // Never open to others, not even for a moment.
      let file = open(output, O_WRONLY | O_CREAT | O_EXCL, 0o600)
      guard file >= 0 else {
        throw Failure("--output: \(output): \(String(cString: strerror(errno))).")
      }
      try FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
    }
  }

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Takes in a bond that was written as JSON or by BlueZ.",
      discussion: """
        BlueZ keeps bonds in /var/lib/bluetooth/ADAPTER/DEVICE/info. The bond is good only for a controller with the address \
        of that adapter.
        """)

    @OptionGroup var place: Place
    @Argument(help: "The file.")
    var file: String
    @Option(help: ArgumentHelp("json or bluez."))
    var format = Format.json
    @Option(
      help: ArgumentHelp(
        "For bluez: the device's address, if the file's folder is not named by it.", valueName: "address"))
    var address: String?

    func run() throws {
      let url = URL(fileURLWithPath: file)
      let octets: [UInt8]
      do { octets = Array(try Data(contentsOf: url)) } catch {
        throw Failure("\(file) can't be read: \(error.localizedDescription)")
      }
      let record: BondRecord
      switch format {
      case .json: record = try BondRecord(jsonText: octets)
      case .bluez:
        record = try BondRecord(
          bluezInfo: String(decoding: octets, as: UTF8.self),
          address: address ?? url.deletingLastPathComponent().lastPathComponent, identifier: .random())
      }
      try target().save(record)
      print("took in \(record.bluezFolder)")
    }

    /// The adapter that is meant, which need not have any bonds yet.
    private func target() throws -> FileBondStore {
      if let adapter = place.adapter { return FileBondStore(folder: try place.path(), adapter: adapter) }
      return try place.store()
    }
  }
}

extension PeerIdentifier {
  /// A random UUID (version 4).
  fileprivate static func random() -> PeerIdentifier {
    PeerIdentifier(
      high: UInt64.random(in: .min ... .max) & ~0xF000 | 0x4000,
      low: UInt64.random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62)
  }
}
