import Foundation
import TestSupport
import Testing

/// Files that are read as a whole, by the programs.
@Suite("Limits of the files that programs read", .timeLimit(.minutes(10)))
struct InputLimitTests {
  @Test("Each verb that reads a whole file refuses a FIFO, a file without end, a folder and one that is too long")
  func verbs() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (fifo, long) = (folder.file("fifo"), folder.file("long"))
    try #require(mkfifo(fifo, 0o600) == 0)
    let output = folder.file("output.pcapng")
    let verbs: [(arguments: [String], limit: Int)] = [
      (["capture", "decrypt", "/dev/null", output, "--keys"], 16 << 20), (["simulate", "--merge"], 256 << 20),
      (["bonds", "import", "--folder", folder.file("bonds"), "--adapter", "a"], 1 << 20),
      (["write", "x", "2A6E"], 512),
    ]
    for (arguments, limit) in verbs {
      // A file with a hole: it takes no space on the disk.
      try #require(FileManager.default.createFile(atPath: long, contents: nil))
      try #require(truncate(long, off_t(limit + 1)) == 0)
      let prefix = arguments[0] == "write" ? "file:" : ""
      for (path, reason) in [
        (fifo, "not a regular file"), ("/dev/zero", "not a regular file"), (folder.path, "Is a directory"),
        (long, "longer than \(limit) octets"),
      ] {
        let ending = try await Program.run("ble", arguments + [prefix + path])
        #expect(ending.errors == "ble: can't read \(path): \(reason)\n", "\(arguments)")
        #expect(ending.status != 0)
      }
    }
  }

  @Test("The standard input is read up to the limit, too")
  func standardInput() async throws {
    let ble = try Program.url("ble").path.replacing("'", with: "'\\''")
    let ending = try await Program.run(
      URL(filePath: "/bin/sh"), ["-c", "'\(ble)' capture decrypt /dev/null /dev/null --keys - < /dev/zero"])
    #expect(ending.status == 65)
    #expect(ending.errors == "ble: can't read standard input: longer than 16777216 octets\n")
  }
}
