import BluetoothTransport
import Foundation
import Testing

@Suite struct InputFileTests {
  private func reason(_ path: String, limit: Int = 10, _ kinds: InputFile.Kinds = .given) -> String {
    do throws(InputFile.Failure) { return "\(try InputFile.octets(of: path, limit: limit, kinds).count) octets" } catch
    {
      return error.reason
    }
  }

  @Test("A file is read up to its limit, and a longer one, one without end, a FIFO and a folder are refused")
  func limits() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (file, fifo) = (folder + "/file", folder + "/fifo")
    for (count, expected) in [(0, "0 octets"), (10, "10 octets"), (11, "longer than 10 octets")] {
      try Data(repeating: 7, count: count).write(to: URL(fileURLWithPath: file))
      for kinds in [InputFile.Kinds.regular, .given] { #expect(reason(file, kinds) == expected) }
    }
    try Data(repeating: 7, count: 200_000).write(to: URL(fileURLWithPath: file))
    #expect(reason(file, limit: 200_000) == "200000 octets")
    #expect(reason(file, limit: 199_999) == "longer than 199999 octets")
    #expect(try InputFile.beginning(of: file, 3, .regular) == [7, 7, 7])
    try #require(mkfifo(fifo, 0o600) == 0)
    #expect(reason(fifo) == "not a regular file")
    #expect(reason("/dev/zero") == "not a regular file")
    #expect(reason("/dev/null") == "0 octets")
    #expect(reason(folder) == "Is a directory")
    #expect(reason(folder + "/none") == "No such file or directory")
    let missing = #expect(throws: InputFile.Failure.self) {
      try InputFile.octets(of: folder + "/a\n\u{1B}", limit: 10, .regular)
    }
    #expect(missing?.isMissing == true)
    #expect(missing?.description == "can't read \(folder)/a\\n\\u{1B}: No such file or directory")
  }

  @Test("A file that the shell has opened can be a pipe, and is read up to the limit")
  func openedFiles() throws {
    let pipe = Pipe()
    let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
    try pipe.fileHandleForWriting.write(contentsOf: Data(repeating: 7, count: 20))
    #expect(reason(path, limit: 19) == "longer than 19 octets")
    try pipe.fileHandleForWriting.write(contentsOf: Data(repeating: 7, count: 5))
    try pipe.fileHandleForWriting.close()
    #expect(reason(path, limit: 19, .regular) == "not a regular file")
    #expect(reason(path, limit: 19) == "5 octets")
    let zero = open("/dev/zero", O_RDONLY)
    defer { close(zero) }
    #expect(reason("/dev/fd/\(zero)", limit: 1 << 20) == "longer than 1048576 octets")
  }
}
