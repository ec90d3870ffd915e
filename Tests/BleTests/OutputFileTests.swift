import BluetoothCapture
import BluetoothTransport
import BluetoothWire
import Foundation
import Testing

@testable import ble

/// Output files, which appear when they are complete, and temporary files.
@Suite struct OutputFileTests {
  /// Runs `body` with an empty folder.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path)
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func mode(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test("A file keeps its content until the new one is complete, and nothing else remains")
  func completion() throws {
    try withFolder { folder in
      let path = folder + "/a"
      try Data("old".utf8).write(to: URL(fileURLWithPath: path))
      let lost = try OutputFile(path)
      try lost.write([1])
      lost.discard()
      #expect(FileManager.default.contents(atPath: path) == Data("old".utf8))
      let file = try OutputFile(path)
      try file.write([1, 2])
      #expect(FileManager.default.contents(atPath: path) == Data("old".utf8))
      try file.finish()
      #expect(FileManager.default.contents(atPath: path) == Data([1, 2]))
      #expect(try names(folder) == ["a"])
    }
  }

  @Test("A symbolic link stays, and the file that it names is written", arguments: [true, false])
  func symbolicLinks(exists: Bool) throws {
    try withFolder { folder in
      try FileManager.default.createDirectory(atPath: folder + "/b", withIntermediateDirectories: false)
      if exists { try Data("old".utf8).write(to: URL(fileURLWithPath: folder + "/b/target")) }
      try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "second")
      try FileManager.default.createSymbolicLink(atPath: folder + "/second", withDestinationPath: "b/target")
      try OutputFile.write("new", to: folder + "/link")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == "second")
      #expect(FileManager.default.contents(atPath: folder + "/b/target") == Data("new".utf8))
      #expect(try names(folder) == ["b", "link", "second"])
      #expect(try names(folder + "/b") == ["target"])
    }
  }

  @Test("A file that can't be written is refused with its name and the reason")
  func reasons() throws {
    try withFolder { folder in
      let isFolder = #expect(throws: Failure.self) { try OutputFile(folder) }
      #expect(isFolder?.description == "can't write \(folder): Is a directory")
      let missing = #expect(throws: Failure.self) { try OutputFile(folder + "/none/a") }
      #expect(missing?.description == "can't write \(folder)/none/a: No such file or directory")
      let empty = #expect(throws: Failure.self) { try OutputFile("") }
      #expect(empty?.description == "the name of the output file is empty" && empty?.status == ExitStatus.usage)
      let unread = #expect(throws: Failure.self) { try InputFile.content(of: folder + "/none", limit: 10) }
      #expect(unread?.description == "can't read \(folder)/none: No such file or directory")
      let rest = try names(folder)
      #expect(rest.isEmpty)
    }
  }

  @Test("A file that may have edits is replaced only on request, and a FIFO or the standard output is written")
  func editedFiles() throws {
    try withFolder { folder in
      let path = folder + "/a.yaml"
      try OutputFile.check(path, replaces: false)
      try OutputFile.write("edited", to: path)
      let kept = #expect(throws: Failure.self) { try OutputFile.check(path, replaces: false) }
      #expect(kept?.description == "\(path) exists; use --force to replace it")
      #expect(kept?.status == ExitStatus.refused)
      try OutputFile.check(path, replaces: true)
      #expect(mkfifo(folder + "/fifo", 0o600) == 0)
      try OutputFile.check(folder + "/fifo", replaces: false)
      try OutputFile.check("-", replaces: false)
    }
  }

  @Test("A private file is for its owner only, and another one keeps its permissions")
  func permissions() throws {
    try withFolder { folder in
      let secret = try OutputFile(folder + "/secret", isPrivate: true)
      try secret.finish()
      #expect(try mode(folder + "/secret") == 0o600)
      #expect(FileManager.default.createFile(atPath: folder + "/own", contents: nil))
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder + "/own")
      try OutputFile.write("", to: folder + "/own")
      #expect(try mode(folder + "/own") == 0o640)
    }
  }

  @Test("A temporary folder disappears with its files")
  func temporaryFolder() throws {
    let folder = try TemporaryPath.makeFolder()
    let file = folder.file(named: "a")
    #expect(FileManager.default.createFile(atPath: file.path, contents: Data([1])))
    #expect(try mode(folder.path) == 0o700)
    file.remove()
    folder.remove()
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    file.remove()
  }
}
