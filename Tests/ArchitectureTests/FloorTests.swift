import Foundation
import Testing

/// The table of floors in a page.
private struct House {
  var floors: [String: Int] = [:]

  init(of page: String = "Documentation/Contributing/Design.md") throws {
    for line in try Repository.text(page).split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count >= 2, let floor = Int(cells[0]) else { continue }
      for name in cells[1].matches(of: /`([^`]+)`/) { floors[String(name.1)] = floor }
    }
  }
}

@Suite struct FloorTests {
  /// Returns the external modules that a module may import.
  static func foreignModules(of module: String, floor: Int) -> Set<String> {
    let anywhere: Set<String> = ["DequeModule", "HeapModule", "NIOConcurrencyHelpers"]
    let system: Set<String> = ["Glibc", "Musl", "Darwin"]
    switch module {
    // Sockets and serial lines.
    case "BluetoothTransport", "BluetoothDBus": return anywhere.union(system).union(["NIOCore", "NIOPosix"])
    // The sockets of its client, and the end of a program.
    case "BluetoothDaemonProtocol": return anywhere.union(system).union(["NIOCore", "NIOPosix"])
    // The event loop of a transport, and terminals.
    case "BluetoothAdapters": return anywhere.union(system).union(["NIOCore", "NIOPosix", "Dispatch"])
    // The page of an air, and the sockets whose octets a lockstep carries.
    case "BluetoothAir":
      return anywhere.union(system).union(
        ["Yams", "Logging", "Metrics", "Foundation", "Dispatch", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket"]
          + ["NIOEmbedded"])
    // Files, and JSON.
    case "BluetoothBonds": return anywhere.union(system).union(["FoundationEssentials"])
    // The executors of Swift's runtime, which it replaces.
    case "BluetoothLabTime":
      return anywhere.union(["Dispatch", "Foundation", "Synchronization", "_Concurrency"])
    // The programs, which set up the log.
    case "ble", "btserver":
      return anywhere.union(system).union([
        "Logging", "Metrics", "Foundation", "Dispatch", "ArgumentParser", "NIOCore", "NIOPosix", "NIOHTTP1",
      ])
    default: break
    }
    // All other modules log by `PrintableLogger`, which escapes texts of others.
    // Foundation and Dispatch are allowed from the API upwards.
    switch floor {
    case ..<7: return anywhere
    default:
      return anywhere.union(system).union([
        "Metrics", "Foundation", "Dispatch", "ArgumentParser", "NIOCore", "NIOPosix", "Yams",
      ])
    }
  }

  /// Files that may import more than their floor allows, with the reasons.
  static let exceptions: [String: Set<String>] = [
    // Reads and writes JSON. Only Foundation has the coders where there is no FoundationEssentials.
    "Sources/BluetoothBonds/Coding/BondFile.swift": ["Foundation"],
    // Reads property lists.
    "Sources/BluetoothAdapters/Apps/InfoDictionary.swift": ["FoundationEssentials", "Foundation"],
    // Makes the time of a world follow the machine's clock.
    "Sources/BluetoothRadio/World/DispatchWorldExecutor.swift": ["Dispatch"],
    // The calling thread, which debug builds compare.
    "Sources/BluetoothRadio/World/WorldBound.swift": ["Glibc", "Musl", "Darwin"],
    // The clock, which every thread may read.
    "Sources/BluetoothRadio/World/WorldRequestQueue.swift": ["Synchronization"],
    // The log of all modules.
    "Sources/BluetoothDaemon/Daemon/PrintableLogger.swift": ["Logging"],
    // Read for each event of an app.
    "Sources/BluetoothDaemon/Sessions/EventBacklog.swift": ["Synchronization"],
    // Read for each command of an app.
    "Sources/BluetoothDaemon/Sessions/SessionCounters.swift": ["Synchronization"],
    // Creates the tables of sessions at first use, so that an adapter without apps has none.
    "Sources/BluetoothDaemon/Sessions/LazyObject.swift": ["Synchronization"],
    // Counts the events that wait for delivery.
    "Sources/BluetoothDaemon/Sessions/LocalSessions.swift": ["Synchronization"],
    // The number of holds, which a run reads for each event.
    "Sources/BluetoothLab/World/VirtualRunner.swift": ["Synchronization"],
    // The type `CFUUID`, which Foundation on Linux does not export.
    "Sources/CoreBluetooth/Exports.swift": ["CoreFoundation"],
    "Sources/CoreBluetooth/Values/CBUUID+CFUUID.swift": ["CoreFoundation"],
    // Opens and writes the file that a capture goes to.
    "Sources/BluetoothCapture/Files/CaptureFile.swift": ["Glibc", "Musl", "Darwin"],
    "Sources/BluetoothCapture/Files/PipeWatch.swift": ["Glibc"],
    "Sources/BluetoothCapture/Files/ClaimedFile.swift": ["Glibc", "Musl", "Darwin"],
    // Writes that file on a separate thread.
    "Sources/BluetoothCapture/Files/CaptureQueue.swift": ["Dispatch"],
  ]

  /// Modules of C targets. They hold no Swift, and clients import them under other names.
  static let cModules: Set<String> = [
    "CBluetoothTransport", "CBluetoothServer", "CCoreBluetooth", "CCoreBluetoothWorld", "CAppTime", "CBluetoothNumbers",
    "CBluetoothCrypto",
    "CLockstep", "CLockstepPreload",
    "CBluetoothAirPage",
  ]

  @Test("The table in Design.md gives every module in Sources a floor")
  func everyModuleHasAFloor() throws {
    let house = try House()
    #expect(house.floors["BluetoothWire"] == 1)
    #expect(house.floors["CoreBluetooth"] == 7)
    for module in try Self.modules() {
      #expect(house.floors[module] != nil, "\(module) is not in the table of Documentation/Contributing/Design.md")
    }
  }

  @Test("Sources/README.md lists every module, on the floor that the design gives it")
  func readmeHasTheSameFloors() throws {
    let design = try House()
    let readme = try House(of: "Sources/README.md")
    for module in try Self.modules() {
      #expect(readme.floors[module] != nil, "\(module) is not in the table of Sources/README.md")
    }
    for (module, floor) in readme.floors { #expect(design.floors[module] == floor, "\(module)") }
  }

  @Test("modules.svg shows every module, on the floor that the design gives it, and besides them only the examples")
  func pictureHasTheSameFloors() throws {
    let design = try House()
    var floor: Int?
    var shown: Set<String> = []
    for line in try Repository.text("Documentation/modules.svg").split(separator: "\n") {
      guard let match = try? /<text class="(number|module)"[^>]*>([^<]+)</.firstMatch(in: line) else { continue }
      let text = String(match.2)
      if match.1 == "number" {
        floor = Int(text)
      } else {
        shown.insert(text)
        if text != "Examples" { #expect(design.floors[text] == floor, "\(text)") }
      }
    }
    let different = try shown.symmetricDifference(Self.modules() + ["Examples"])
    #expect(different.isEmpty, "missing in the picture, or in Sources: \(different.sorted())")
  }

  /// The Swift modules in Sources. Hidden files and README.md have a dot in their names.
  static func modules() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: Repository.root.appendingPathComponent("Sources").path)
      .filter { !$0.contains(".") && !cModules.contains($0) }
  }

  @Test("A module imports only modules of lower floors")
  func arrowsPointDown() throws {
    let house = try House()
    let files = Repository.swiftFiles(in: "Sources")
    #expect(files.count > 20)
    for file in files {
      let floor = try #require(house.floors[file.module], "\(file.path)")
      for name in file.imports where name != file.module {
        if let other = house.floors[name] {
          #expect(other < floor, "\(file.path) is on floor \(floor) and imports \(name) of floor \(other)")
        } else if !Self.cModules.contains(name) {
          #expect(
            Self.foreignModules(of: file.module, floor: floor).union(Self.exceptions[file.path] ?? []).contains(name),
            "\(file.path) is on floor \(floor) and imports \(name)")
        }
      }
    }
  }

  @Test("Package.swift declares the modules that a module of Sources imports, and only those")
  func manifestDeclaresImports() throws {
    let modules = Set(try Self.modules())
    var declared: [String: Set<String>] = [:]
    for target in try Repository.text("Package.swift").matches(of: /name: "(\w+)",\s+dependencies: \[([^\]]*)\]/) {
      declared[String(target.1)] = Set(target.2.matches(of: /"(\w+)"/).map { String($0.1) }).intersection(modules)
    }
    for (module, files) in Dictionary(grouping: Repository.swiftFiles(in: "Sources"), by: \.module) {
      let imported = Set(files.flatMap(\.imports)).intersection(modules).subtracting([module])
      let difference = imported.symmetricDifference(declared[module] ?? []).sorted()
      #expect(difference.isEmpty, "\(module): \(difference)")
    }
  }

  /// The files with a condition for the trait of the package: the list of schemes, two schemes, and the programs that
  /// need them.
  static let traitFiles: Set<String> = [
    "Sources/BluetoothAdapters/AdapterRegistry.swift", "Sources/BluetoothAdapters/Schemes/ServerScheme.swift",
    "Sources/BluetoothAdapters/Schemes/VirtualScheme.swift", "Sources/ble/Ble.swift", "Sources/btserver/BtServer.swift",
  ]

  @Test("Only the schemes of adapters and their list depend on the trait, and programs that need it say so")
  func traits() {
    let files = Repository.swiftFiles(in: "Sources").filter { file in
      file.text.split(separator: "\n").contains { $0.contains(/^ *#(if|elseif) .*\bAllAdapters\b/) }
    }
    #expect(Set(files.map(\.path)) == Self.traitFiles)
  }

  @Test("Every exception to the floors is still needed", arguments: exceptions.keys.sorted())
  func exceptionsAreNeeded(path: String) throws {
    let file = SourceFile(path: path, text: try Repository.text(path))
    #expect(!file.imports.isDisjoint(with: Self.exceptions[path] ?? []))
  }

  @Test("Examples import products only, and the code of an app imports nothing of the lab")
  func examples() {
    let files = Repository.swiftFiles(in: "Examples")
    #expect(!files.isEmpty)
    let parts = files.map { $0.path.split(separator: "/").map(String.init) }
    let packages = Set(parts.filter { $0.count == 3 && $0[2] == "Package.swift" }.map { $0[1] })
    #expect(!packages.isEmpty)
    let products: Set<String> = [
      "CoreBluetooth", "CoreBluetoothExtras", "CoreBluetoothProfiles", "BeaconLocation", "AccessoryPlayer",
      "BluetoothLab", "BluetoothProfiles", "BluetoothNumbers",
      "BluetoothTypes", "ArgumentParser", "Foundation", "Dispatch",
    ]
    for (file, path) in zip(files, parts) where path.last != "Package.swift" {
      let isApp = path.last != "main.swift" && !path.contains("Tests")
      var allowed = isApp ? ["CoreBluetooth"] : products
      // A package has modules of its own, and tests. The code of its app may use all that runs on a device.
      if packages.contains(path[1]) {
        allowed.formUnion(parts.filter { $0[1] == path[1] && $0.count > 4 && $0[2] == "Sources" }.map { $0[3] })
        allowed.formUnion(
          isApp
            ? ["CoreBluetoothExtras", "CoreBluetoothProfiles", "BeaconLocation", "BluetoothProfiles"]
            : ["BluetoothLabTime", "Testing", "XCTest"])
      }
      let others = file.imports.subtracting(allowed)
      #expect(others.isEmpty, "\(file.path) imports \(others.sorted())")
    }
  }

  @Test("Imports are recognized with any attributes, access levels and kinds, and other lines are not")
  func importsAreFound() {
    let file = SourceFile(
      path: "Sources/M/F.swift",
      text: """
        import A
        @testable import B
        @preconcurrency @_exported public import C
          import struct D.Value
        @_spi(Inner) import E.Sub
        // import F
        let text = "import G"
        """)
    #expect(file.imports == ["A", "B", "C", "D", "E"])
  }
}
