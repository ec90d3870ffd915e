import BluetoothWire
import Foundation
import Requirements
import Testing

@testable import BluetoothTransport

/// Serial lines, simulated by a pseudo terminal, and the user channel of Linux, simulated by a pair of sockets that
/// preserves packet boundaries in the same way.
@Suite(.timeLimit(.minutes(10)))
struct DeviceTests {
  /// Returns the two ends of a pseudo terminal: a descriptor, and the name of the device that acts as the serial line.
  private func pseudoTerminal() throws -> (descriptor: CInt, device: String) {
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(descriptor >= 0)
    // The C library's functions for this are not visible to Swift: TIOCSPTLCK and TIOCGPTN.
    var isLocked: CInt = 0
    var number: CUnsignedInt = 0
    try #require(ioctl(descriptor, 0x4004_5431, &isLocked) == 0 && ioctl(descriptor, 0x8004_5430, &number) == 0)
    return (descriptor, "/dev/pts/\(number)")
  }

  /// All octet values, including those that a terminal would interpret.
  static let octets = HCI.Packet.acl(
    HCI.ACLData(
      handle: HCI.ConnectionHandle(rawValue: 0x0D), boundary: .firstFlushable, payload: ByteSlice(Array(0...255))))

  @Test(
    "Every octet passes a serial line unchanged, both ways, at any rate", .requirement("L075"),
    arguments: [9_600, 115_200, 1_234_567])
  func serialLine(baud: Int) async throws {
    let (descriptor, device) = try pseudoTerminal()
    var host = try await TransportLink.connect(to: .serial(device: device, baud: baud))
    var controller = try await TransportLink.adopt(descriptor, .controller)
    try await host.send([Sample.reset, Self.octets])
    #expect(await controller.next() == .packet(Sample.reset))
    #expect(await controller.next() == .packet(Self.octets))
    try await controller.send([Sample.event, Self.octets])
    #expect(await host.next() == .packet(Sample.event))
    #expect(await host.next() == .packet(Self.octets))
    try await controller.close()
    guard case .closed? = await host.next() else {
      Issue.record("the line was unplugged, and nobody was told")
      return
    }
  }

  @Test("A serial line that is in use can't be opened by another program")
  func serialLineInUse() async throws {
    let (descriptor, device) = try pseudoTerminal()
    let first = try await TransportLink.connect(to: .serial(device: device, baud: 9_600))
    if geteuid() == 0 {
      // The superuser may open a line that is in use, but sees that other users may not: TIOCGEXCL.
      let second = open(device, O_RDWR | O_NOCTTY)
      var isExclusive: CInt = 0
      #expect(ioctl(second, 0x8004_5440, &isExclusive) == 0 && isExclusive == 1)
      close(second)
    } else {
      await #expect(throws: TransportError("\(device) is in use by another program")) {
        _ = try await TransportLink.connect(to: .serial(device: device, baud: 9_600))
      }
    }
    try await first.close()
    close(descriptor)
  }

  @Test("The error for a serial line that can't be opened says what would help")
  func serialLineRefusals() {
    #expect(TransportError(opening: "/dev/tty1", code: EBUSY).description == "/dev/tty1 is in use by another program")
    #expect(TransportError(opening: "/dev/tty1", code: EACCES).description.contains("usermod -aG dialout"))
  }

  @Test(
    "The error for a device that is not a serial line says what is wrong",
    arguments: [
      ("/dev/null", "/dev/null is not a serial port"), ("/nowhere/tty", "no such device: /nowhere/tty"),
    ])
  func noSerialLine(device: String, line: String) async throws {
    await #expect(throws: TransportError(line)) {
      _ = try await TransportLink.connect(to: .serial(device: device, baud: 9_600))
    }
  }

  @Test(
    "The error of the kernel's adapter says in one line what is missing and what would help",
    arguments: [
      (EAFNOSUPPORT, true, "the kernel does not support Bluetooth"), (EPERM, true, "allow AF_BLUETOOTH"),
      (EPERM, false, "missing CAP_NET_ADMIN: run `sudo setcap cap_net_admin+ep /bin/app`"),
      (EBUSY, false, "`sudo hciconfig hci3 down`"), (ENODEV, false, "no adapter 3"),
      (132, false, "`sudo rfkill unblock bluetooth`"), (EIO, false, "can't open adapter 3: input/output error"),
    ])
  func userChannelRefusals(code: CInt, isSocket: Bool, text: String) {
    let error = UserChannel.refusal(code, 3, isSocket: isSocket, program: "/bin/app")
    #expect(error.description.contains(text), "\(error)")
    #expect(!error.description.contains("\n"))
    #expect(error.isLasting)
  }

  @Test("Connecting to an adapter that does not exist fails with a lasting error")
  func noAdapter() async throws {
    do {
      _ = try await TransportLink.connect(to: .hci(0xFFF0))
      Issue.record("there is an adapter 65520")
    } catch let error as TransportError {
      #expect(error.isLasting)
    }
  }

  /// Returns a pair of sockets that preserve packet boundaries.
  private func packetSockets() throws -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    // A test that waits for a missing packet fails instead of hanging.
    var limit = timeval(tv_sec: 500, tv_usec: 0)
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    return (ends[0], ends[1])
  }

  @Test(
    "On a user channel each write is one packet, even after the kernel had no room for a while", .requirement("L075"))
  func onePacketPerWrite() async throws {
    let (own, other) = try packetSockets()
    defer { close(other) }
    let link = try await TransportLink.adopt(own, .host, .packets)
    let packets = (0..<5_000).map { number in
      number % 3 == 0 ? Sample.reset : number % 3 == 1 ? Sample.data : Self.octets
    }
    try await link.send(packets)
    var wrong = 0
    var buffer = [UInt8](repeating: 0, count: 8_192)
    for packet in packets {
      let count = recv(other, &buffer, buffer.count, 0)
      if Array(buffer.prefix(max(0, count))) != Sample.octets([packet]) { wrong += 1 }
      if count < 0 { break }
    }
    #expect(wrong == 0)
    try await link.close()
  }

  @Test(
    "On a user channel each packet of the kernel arrives whole, even the longest, and its end is reported",
    .requirement("L075"))
  func packetsOfTheKernel() async throws {
    let (own, other) = try packetSockets()
    var link = try await TransportLink.adopt(own, .host, .packets)
    let longest = HCI.Packet.acl(
      HCI.ACLData(
        handle: HCI.ConnectionHandle(rawValue: 1), boundary: .firstFlushable,
        payload: ByteSlice([UInt8](repeating: 0x5A, count: 4_096))))
    for packet in [Sample.event, longest, Sample.event] {
      let octets = Sample.octets([packet])
      try #require(send(other, octets, octets.count, 0) == octets.count)
    }
    for packet in [Sample.event, longest, Sample.event] { #expect(await link.next() == .packet(packet)) }
    close(other)
    #expect(await link.next() == .closed(reason: nil, cut: 0))
  }
}
