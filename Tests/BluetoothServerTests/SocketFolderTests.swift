import Foundation
import TestSupport
import Testing

@testable import BluetoothServer

@Suite("The folder of a server's socket")
struct SocketFolderTests {
  @Test("A server creates its own folder, which others can enter, and leaves a folder that exists as it is")
  func created() throws {
    let folder = try TemporaryFolder()
    let own = SocketFolder(ofSocket: folder.file("btserver/btserver.sock"), isOwn: true)
    #expect(own.path == folder.file("btserver"))
    #expect(own.problem == nil)
    try own.create()
    func mode() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: own.path)[.posixPermissions] as? Int
    }
    #expect(try mode() == 0o755)
    try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: own.path)
    #expect(own.problem == nil)
    try own.create()
    #expect(try mode() == 0o750)
  }

  @Test("A folder that is missing, can't be created, or is a file has a reason")
  func problems() throws {
    let folder = try TemporaryFolder()
    let missing = SocketFolder(ofSocket: folder.file("missing/a.sock"), isOwn: false)
    #expect(missing.problem == "the folder \(folder.file("missing")) does not exist")
    try missing.create()
    #expect(folder.names == [])
    let deep = SocketFolder(ofSocket: folder.file("a/b/c.sock"), isOwn: true)
    #expect(deep.problem?.hasPrefix("the folder \(folder.file("a/b")) does not exist and can't be created: ") == true)
    #expect(throws: ServerError.self) { try deep.create() }
    try "".write(toFile: folder.file("file"), atomically: false, encoding: .utf8)
    let file = SocketFolder(ofSocket: folder.file("file/a.sock"), isOwn: true)
    #expect(file.problem == "\(folder.file("file")) is not a folder")
    #expect(SocketFolder(ofSocket: folder.file("a.sock"), isOwn: false).problem == nil)
  }
}
