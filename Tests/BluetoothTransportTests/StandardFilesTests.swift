import BluetoothTransport
import Foundation
import Testing

/// Descriptors that are closed when a program begins.
@Suite struct StandardFilesTests {
  /// Writes an octet. Returns the error number; 0: the octet was written.
  private static func write(to descriptor: Int32) -> Int32 {
    let octets: [UInt8] = [7]
    return Foundation.write(descriptor, octets, 1) == 1 ? 0 : errno
  }

  @Test("A closed descriptor for output is opened, so that writing fails or is discarded")
  func closedOutput() {
    // The system gives the lowest free descriptors, so no other test has this one.
    let descriptor = Int32(min(sysconf(Int32(_SC_OPEN_MAX)), 1 << 16) - 1)
    #expect(Self.write(to: descriptor) == EBADF)
    StandardFiles.openNull(O_WRONLY, ifClosed: descriptor)
    #expect(Self.write(to: descriptor) == 0)
    #expect(close(descriptor) == 0)
    StandardFiles.openNull(O_RDONLY, ifClosed: descriptor)
    #expect(Self.write(to: descriptor) == EBADF)
    // It was open.
    #expect(close(descriptor) == 0)
  }

  @Test("A descriptor that is open stays as it is")
  func openOutput() throws {
    let pipe = Pipe()
    StandardFiles.openNull(O_RDONLY, ifClosed: pipe.fileHandleForWriting.fileDescriptor)
    #expect(Self.write(to: pipe.fileHandleForWriting.fileDescriptor) == 0)
    #expect(try pipe.fileHandleForReading.read(upToCount: 1) == Data([7]))
  }
}
