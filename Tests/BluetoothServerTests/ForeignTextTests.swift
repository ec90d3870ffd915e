import Foundation
import TestSupport
import Testing

/// Texts of other users in the log.
@Suite("Texts of others in the log", .timeLimit(.minutes(10)))
struct ForeignTextTests {
  @Test("The path of a program neither begins a line of the log nor controls a terminal")
  func path() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let name = "x\n2026-11-29T00:00:00+0000 error CoreBluetooth.server: forged \u{1B}[31m\u{202E}"
    let program = folder.url.appendingPathComponent(name)
    try FileManager.default.copyItem(at: try Program.url("ble"), to: program)
    let server = Process()
    let (output, errors) = (Pipe(), Pipe())
    server.executableURL = try Program.url("btserver")
    let socket = folder.file("s.sock")
    server.arguments = ["--no-desktop", "--socket", socket, "--bonds", folder.file("bonds")]
    (server.standardOutput, server.standardError) = (output, errors)
    try server.run()
    _ = await Program.text(of: output) { $0.contains("serves") }
    #expect(try await Program.run(program, ["clients", "--server", "server:" + socket]).status == 0)
    server.terminate()
    let log = await Program.text(of: errors)
    let lines = log.split(separator: "\n")
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains(" CoreBluetooth.server:") }, "\(log.debugDescription)")
    #expect(log.contains(#"x\n2026-11-29T00:00:00+0000 error CoreBluetooth.server: forged \u{1B}[31m\u{202E}"#))
    #expect(!log.unicodeScalars.contains("\u{1B}") && !log.unicodeScalars.contains("\u{202E}"))
  }
}
