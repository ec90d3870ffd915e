import BluetoothDaemon
import Foundation
import Testing

@testable import BluetoothBonds

@Suite struct FileSizeLimitTests {
  @Test("A bond file that exceeds the file size limit gives a write error, and the program goes on")
  func sizeLimit() async {
    await #expect(processExitsWith: .exitCode(27)) {
      signal(SIGXFSZ, SIG_DFL)
      let files = SystemFiles()
      let path = "/tmp/bond-\(UUID().uuidString)"
      let file = try files.create(path)
      unlink(path)
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      do throws(FileError) { _ = try files.write([1][...], to: file) } catch {
        exit(error.code == EFBIG ? 27 : 1)
      }
    }
  }
}
