import BluetoothBonds
import BluetoothDaemon
import BluetoothTransport
import BluetoothTypes
import Foundation
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothAdapters

@Suite("Schemes of adapters")
struct AdapterSchemeTests {
  @Test("Every scheme reads its example, and what it has read describes itself completely")
  func examples() throws {
    for scheme in AdapterRegistry.ownSchemes {
      let specifier = try AdapterRegistry.specifier(scheme.form.example)
      #expect(specifier.scheme.name == scheme.name && specifier.kind == scheme.kind)
      let again = try AdapterRegistry.specifier("\(specifier)")
      #expect(AnyHashable(again) == AnyHashable(specifier))
      #expect(scheme.form.syntax.hasPrefix(scheme.name))
      #expect(!scheme.form.meaning.isEmpty && !scheme.form.requirements.isEmpty)
    }
    #expect(Set(AdapterRegistry.ownSchemes.map(\.name)).count == AdapterRegistry.ownSchemes.count)
  }

  @Test(
    "A text belongs to the scheme with its name, and an invalid one gets an error with the expected form",
    arguments: [
      ("tcp:localhost", "invalid adapter \"tcp:localhost\": missing port: expected tcp:HOST:PORT"),
      ("hci:x", "invalid adapter \"hci:x\": invalid adapter number \"x\": expected a number such as hci:0"),
      ("virtual:1", "invalid adapter \"virtual:1\": expected virtual"),
      ("server:/run/b.sock,", "invalid adapter \"server:/run/b.sock,\": the name after the comma is missing"),
      ("servers", "unknown adapter \"servers\": expected one of: \(AdapterRegistry.forms())"),
      (
        "usb:0",
        "unknown adapter \"usb:0\": expected one of: virtual, tcp:HOST:PORT, unix:PATH,"
          + " serial:DEVICE[,BAUD][,h5[,even]], hci:N, server[:PATH][,NAME], bluez[:hciN]"
      ),
    ])
  func badSpecifier(text: String, line: String) {
    guard case .failure(let error) = AdapterRegistry.adapter(for: text) else {
      Issue.record("\(text) is an adapter")
      return
    }
    #expect(error.description == line)
  }

  @Test("A scheme that is not accepted is unknown, and its form is not among the expected ones")
  func selectedSchemes() throws {
    let schemes = AdapterRegistry.schemes.filter { $0.kind != .server }
    #expect(try AdapterRegistry.specifier("hci:0", of: schemes).kind == .local)
    #expect {
      _ = try AdapterRegistry.specifier("server", of: schemes)
    } throws: { error in
      (error as? SpecifierProblem)?.hasUnknownScheme == true && !"\(error)".contains("server")
    }
  }

  @Test("A program without the reader of world files says how to get it")
  func worldFile() {
    guard case .failure(let error) = WorldFileAdapter.adapter(forFile: "room.yaml") else {
      Issue.record("these tests contain the reader")
      return
    }
    #expect(error.description.contains("add the product CoreBluetoothWorld"))
    #expect(error.description.contains("ble air --world room.yaml"))
  }

  @Test("The table in Documentation has a row for each scheme")
  func committedTable() throws {
    let path = "Documentation/Adapters.md"
    let (start, end) = ("<!-- schemes -->\n", "<!-- end of schemes -->")
    let rows = AdapterRegistry.ownSchemes.map(\.form).map { form in
      "| `\(form.syntax)` | `\(form.example)` | \(form.meaning) | \(form.requirements) |\n"
    }
    let table =
      "\n| specifier | example | controller | requirements |\n| --- | --- | --- | --- |\n" + rows.joined() + "\n"
    var text = try WorkingCopy.text(path)
    let first = try #require(text.range(of: start))
    let last = try #require(text.range(of: end))
    if ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_TABLES"] == "1" {
      text.replaceSubrange(first.upperBound..<last.lowerBound, with: table)
      try text.write(to: WorkingCopy.url(path), atomically: true, encoding: .utf8)
    }
    #expect(text.contains(start + table + end))
  }

  // MARK: Adapters

  @Test("Equal specifiers denote the same adapter, however they are spelled")
  func sameAdapter() throws {
    let folder = try TemporaryFolder()
    var context = AdapterContext()
    (context.bondFolder, context.loop) = (folder.path, MultiThreadedEventLoopGroup.singleton.next())
    let table = AdapterTable()
    let one = try table.adapter(for: "serial:/nowhere/tty1", context).get()
    #expect(try table.adapter(for: "serial:/nowhere/tty1,115200", context).get() === one)
    #expect(try table.adapter(for: "serial:/nowhere/tty2", context).get() !== one)
    withExtendedLifetime(folder) {}
  }

  @Test("The settings of an adapter reach its daemon: name, rules and bonds, and for a server those of its apps")
  func context() throws {
    let folder = try TemporaryFolder()
    let specifier = TransportSpecifier.hci(7)
    var context = AdapterContext()
    context.bondFolder = folder.file("own")
    #expect(context.policy.reconnectsInputDevices)
    context.policy.reconnectsInputDevices = false
    let own = DaemonConfiguration(context, for: specifier)
    #expect(own.name == "hci:7" && own.app == SystemProcess.programName && !own.storesApps)
    #expect(!own.policy.reconnectsInputDevices && own.hasLastingIdentity)
    #expect((own.bonds as? FileBondStore)?.path.hasPrefix(folder.file("own")) == true)
    var serving = ServingOptions()
    serving.asksForApps = true
    (context.name, context.serving) = ("gateway", serving)
    let served = DaemonConfiguration(context, for: specifier)
    #expect(served.name == "gateway" && served.app == nil && served.storesApps && served.asksForApps)
  }

  // MARK: The machine

  /// A machine with these adapters of Linux, this line of `/proc/self/status`, and one process.
  private func machine(_ adapters: [String], rights: String, process: String, in folder: TemporaryFolder) throws
    -> Machine
  {
    let names = adapters.map { "sys/class/bluetooth/\($0)" } + ["proc/self", "proc/17", "proc/net"]
    for name in names {
      try FileManager.default.createDirectory(at: folder.url.appending(path: name), withIntermediateDirectories: true)
    }
    let texts = [("proc/self/status", "Name:\tapp\nCapEff:\t\(rights)\n"), ("proc/17/comm", process + "\n")]
    for (name, text) in texts { try text.write(toFile: folder.file(name), atomically: true, encoding: .utf8) }
    return Machine(root: folder.path)
  }

  @Test("Adapters of Linux are known in the order of their numbers, without connections and other files")
  func linux() throws {
    let folder = try TemporaryFolder()
    let names = ["hci10", "hci2", "hci2:64", "hci", "hci-1", "rfkill0"]
    let machine = try machine(names, rights: "0", process: "sh", in: folder)
    let known = AdapterRegistry.knownAdapters(of: machine)
    #expect(known.map { "\($0)" } == ["virtual", "hci:2", "hci:10"])
    #expect(known.map(\.kind) == [.simulated, .local, .local])
    // A named adapter is listed once.
    #expect(
      AdapterRegistry.knownAdapters(named: "hci:2", of: machine).map { "\($0)" } == ["virtual", "hci:2", "hci:10"])
  }

  @Test(
    "Without adapters of Linux, the simulated one and a valid named one are known",
    arguments: [
      (nil, nil), ("virtual", nil), ("nonsense", nil), ("tcp:127.0.0.1:6402", ("tcp:127.0.0.1:6402", .remote)),
      ("server:/run/b.sock,lamp", ("server:/run/b.sock,lamp", .server)),
      ("serial:/dev/ttyS0", ("serial:/dev/ttyS0,115200", .local)),
    ] as [(String?, (String, AdapterKind)?)])
  func named(text: String?, second: (String, AdapterKind)?) {
    let known = AdapterRegistry.knownAdapters(named: text, of: Machine(root: "/no/such/folder"))
    #expect("\(known[0])" == "virtual" && known.count == (second == nil ? 1 : 2))
    #expect(known.dropFirst().first.map { "\($0)" } == second?.0)
    #expect(known.dropFirst().first?.kind == second?.1)
  }

  @Test("Managers that name no adapter use the simulated one; in a program without it, the first one of Linux")
  func standard() throws {
    let folder = try TemporaryFolder()
    let linux = try machine(["hci10", "hci2"], rights: "0", process: "sh", in: folder)
    #expect(AdapterRegistry.standard(on: linux).map { "\($0)" } == "virtual")
    let real = AdapterRegistry.schemes.filter { $0.kind != .simulated }
    #expect(AdapterRegistry.standard(of: real, on: linux).map { "\($0)" } == "hci:2")
    #expect(AdapterRegistry.standard(of: real, on: Machine(root: "/no/such/folder")) == nil)
  }

  @Test("An adapter of Linux needs its device, the right to use it, and that BlueZ does not hold it")
  func checksOfLinux() throws {
    let folder = try TemporaryFolder()
    let bare = try machine(["hci1"], rights: "0000000000000000", process: "bluetoothd", in: folder)
    let missing = TransportSpecifier.hci(0).checks(on: bare)
    #expect(missing.map(\.state) == [.bad, .bad, .warning])
    #expect(missing.map(\.subject) == ["Linux adapter", "permission", "BlueZ"])
    #expect(missing[0].remedy == "use one of: hci:1")
    #expect(missing[1].remedy?.hasPrefix("sudo setcap cap_net_admin+ep /") == true)
    let other = try TemporaryFolder()
    let ready = try machine(["hci0"], rights: "000001ffffffffff", process: "sh", in: other)
    #expect(TransportSpecifier.hci(0).checks(on: ready).map(\.state) == [.good, .good])
    let empty = TransportSpecifier.hci(0).checks(on: Machine(root: "/no/such/folder"))
    #expect(empty[0].remedy?.hasPrefix("plug an adapter in") == true)
  }

  @Test("A socket and a serial line are checked for their file, its type and the permission to open it")
  func checksOfFiles() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("file")
    try "".write(toFile: path, atomically: true, encoding: .utf8)
    func check(_ text: String) throws -> AdapterCheck? {
      try AdapterRegistry.specifier(text).checks(on: Machine()).first
    }
    #expect(
      try check("unix:\(folder.file("none"))")?.remedy == "start one with ble air --hci unix:\(folder.file("none"))")
    #expect(try check("unix:\(path)")?.text == "\(path) is no socket")
    #expect(try check("server:\(folder.file("none"))")?.remedy?.hasPrefix("start btserver") == true)
    #expect(try check("server:tcp:localhost:9")?.text == "at localhost, port 9")
    #expect(try check("serial:\(folder.file("none"))")?.state == .bad)
    #expect(try check("serial:\(path)")?.state == .good)
    #expect(try check("tcp:localhost:9") == nil)
    #expect(try check("virtual")?.state == .warning)
  }

  @Test("Each name of a serial line gives the same device, and sockets are no devices of one adapter")
  func devices() throws {
    let folder = try TemporaryFolder()
    let line = try #require(Machine.realPath(folder.path)) + "/line"
    func device(_ text: String) throws -> String? { try AdapterRegistry.specifier(text).device }
    // A file that does not exist yet has a device, too.
    #expect(try device("serial:\(folder.path)/../\(folder.url.lastPathComponent)/line") == line)
    try "".write(toFile: line, atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: folder.file("other"), withDestinationPath: line)
    #expect(try device("serial:\(folder.file("other")),9600") == line)
    #expect(try device("serial:/no/such/folder/line") == "/no/such/folder/line")
    #expect(try device("hci:0") == "hci:0")
    for text in ["virtual", "tcp:localhost:9", "unix:/a", "server"] { #expect(try device(text) == nil) }
  }

  @Test(
    "The advice for an adapter that does not answer names the program to start",
    arguments: [
      ("tcp:localhost:9", "start one there with ble air --hci tcp:localhost:9"),
      ("server:tcp:localhost:9", "start btserver there with --tcp localhost:9 and --token-file"),
      ("hci:0", AdapterCheck.advice), ("server:/a", AdapterCheck.advice),
    ])
  func remedies(text: String, advice: String) throws {
    #expect(try AdapterRegistry.specifier(text).remedy.hasPrefix(advice))
  }
}
