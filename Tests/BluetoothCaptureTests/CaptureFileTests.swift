import BluetoothCapture
import Foundation
import Testing

@Suite struct CaptureFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("capture-\(UUID().uuidString)")
  private var path: String { folder.appendingPathComponent("file").path }

  private func withFolder(_ body: () throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body()
  }

  @Test("A capture file holds what was appended, in order")
  func append() throws {
    try withFolder {
      let file = try CaptureFile(path: path)
      try file.append([1, 2])
      try file.append([])
      try file.append([3])
      #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
    }
  }

  @Test("Opening an existing file empties it")
  func emptied() throws {
    try withFolder {
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
      let file = try CaptureFile(path: path)
      try file.append([4])
      #expect(FileManager.default.contents(atPath: path) == Data([4]))
    }
  }

  @Test("A path with a NUL is refused, and no file is created under the part before the NUL")
  func zeroInPath() throws {
    try withFolder {
      #expect(throws: CaptureFile.Failure.self) { _ = try CaptureFile(path: path + "\0.pcapng") }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("A new file does not replace one that is being written")
  func claimedPlace() throws {
    try withFolder {
      let file = try CaptureFile(path: path)
      try file.append([1, 2, 3])
      #expect(throws: CaptureFile.Failure.self) { _ = try CaptureFile(path: path, isPrivate: true, isNew: true) }
      try file.append([4])
      #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3, 4]))
    }
  }

  @Test("The error for a file that can't be created names the file and the reason")
  func unwritable() {
    #expect {
      _ = try CaptureFile(path: "/nowhere/at all.pcapng")
    } throws: { error in
      "\(error)" == "/nowhere/at all.pcapng: No such file or directory"
    }
  }

  @Test("A file that is being written is refused under each of its names, and stays whole", arguments: [true, false])
  func links(isSymbolic: Bool) throws {
    try withFolder {
      let file = try CaptureFile(path: path)
      try file.append([1, 2, 3])
      let link = folder.appendingPathComponent("link").path
      if isSymbolic {
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      } else {
        try FileManager.default.linkItem(atPath: path, toPath: link)
      }
      for name in [path, link] {
        #expect(throws: CaptureFile.Failure.self) { _ = try CaptureFile(path: name) }
        #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
      }
      file.close()
      #expect(throws: Never.self) { _ = try CaptureFile(path: link) }
    }
  }

  @Test("A file that the program reads is not replaced while it is claimed")
  func input() throws {
    try withFolder {
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
      let claim = ClaimedFile(path: path)
      #expect(throws: CaptureFile.Failure.self) { _ = try CaptureFile(path: path) }
      #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
      withExtendedLifetime(claim) {}
    }
  }

  @Test("Several captures may be written to a device that keeps nothing")
  func device() throws {
    let files = try (0..<2).map { _ in try CaptureFile(path: "/dev/null") }
    for file in files { try file.append([1]) }
    #expect(files.allSatisfy { !$0.isRegular })
  }

  @Test("A FIFO without a reader is no error, and is opened when a reader arrives")
  func fifo() throws {
    try withFolder {
      try #require(mkfifo(path, 0o600) == 0)
      let file = try CaptureFile(path: path)
      #expect(try !file.openIfRead())
      let reader = open(path, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      #expect(try file.openIfRead())
      try file.append([7, 8])
      var octets = [UInt8](repeating: 0, count: 10)
      #expect(read(reader, &octets, 10) == 2)
      #expect(octets.prefix(2) == [7, 8])
    }
  }

  @Test("A key file is a regular file, even where a FIFO had its name")
  func keyFIFO() throws {
    try withFolder {
      try #require(mkfifo(path, 0o600) == 0)
      _ = try SessionKeyFile(path: path)
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
    }
  }

  @Test("A write without a reader fails, and the program continues")
  func readerGone() async {
    await #expect(processExitsWith: .exitCode(32)) {
      signal(SIGPIPE, SIG_DFL)
      let pipe = try Pipes()
      pipe.closeReader()
      do throws(CaptureFile.Failure) { try pipe.file.append([1]) } catch {
        exit(error.isReaderGone ? 32 : 1)
      }
    }
  }

  @Test("A write beyond the file size limit fails, and the program continues")
  func sizeLimit() async {
    await #expect(processExitsWith: .exitCode(27)) {
      signal(SIGXFSZ, SIG_DFL)
      let path = "/tmp/capture-\(UUID().uuidString)"
      let file = try CaptureFile(path: path)
      unlink(path)
      var limit = rlimit(rlim_cur: 10, rlim_max: 10)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      do throws(CaptureFile.Failure) { try file.append([UInt8](repeating: 1, count: 20)) } catch {
        exit(error.reason == String(cString: strerror(EFBIG)) ? 27 : 1)
      }
    }
  }
}

/// A pipe with a capture file at one end.
final class Pipes {
  let file: CaptureFile
  private var reader: Int32

  struct Failure: Error {}

  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else { throw Failure() }
    reader = ends[0]
    file = CaptureFile(descriptor: ends[1], path: "pipe")
  }

  deinit { closeReader() }

  func closeReader() {
    if reader >= 0 { close(reader) }
    reader = -1
  }

  /// Reads exactly `count` octets, waiting for them.
  func read(_ count: Int) -> [UInt8] {
    var octets: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while octets.count < count {
      let part = Foundation.read(reader, &buffer, min(buffer.count, count - octets.count))
      guard part > 0 else { break }
      octets += buffer.prefix(part)
    }
    return octets
  }
}
