import BluetoothTransport
import Testing

@Suite struct TransportSpecifierTests {
  @Test(
    "A specifier is parsed, and its text parses to the same specifier",
    arguments: [
      ("tcp:127.0.0.1:6402", .tcp(host: "127.0.0.1", port: 6402)),
      ("tcp:board.local:0", .tcp(host: "board.local", port: 0)),
      ("tcp:[::1]:6402", .tcp(host: "::1", port: 6402)), ("unix:/run/air.sock", .unix(path: "/run/air.sock")),
      ("unix:a:b", .unix(path: "a:b")), ("serial:/dev/ttyUSB0", .serial(device: "/dev/ttyUSB0", baud: 115_200)),
      ("serial:/dev/ttyACM1,1000000", .serial(device: "/dev/ttyACM1", baud: 1_000_000)), ("hci:3", .hci(3)),
      ("serial:/dev/ttyS1,h5", .serial(device: "/dev/ttyS1", baud: 115_200, .h5(hasEvenParity: false))),
      ("serial:/dev/ttyS1,9600,h5", .serial(device: "/dev/ttyS1", baud: 9_600, .h5(hasEvenParity: false))),
      ("serial:/dev/ttyS1,h5,even", .serial(device: "/dev/ttyS1", baud: 115_200, .h5(hasEvenParity: true))),
    ] as [(String, TransportSpecifier)])
  func reading(text: String, specifier: TransportSpecifier) throws {
    #expect(try TransportSpecifier(text) == specifier)
    #expect(try TransportSpecifier("\(specifier)") == specifier)
  }

  @Test(
    "The error for an invalid specifier says what is expected",
    arguments: [
      ("", "tcp:HOST:PORT"), ("tcp", "missing port"), ("tcp:", "missing port"), ("tcp:6402", "missing port"),
      ("tcp::6402", "missing host"), ("tcp:[]:6402", "missing host"), ("tcp:::1:6402", "brackets"),
      ("tcp:localhost:65536", "invalid port"), ("tcp:localhost:+1x", "invalid port"),
      ("tcp:localhost:", "invalid port"),
      ("unix:", "missing path"), ("unix:" + String(repeating: "a", count: 108), "at most 107"),
      ("unix:a\0b", "at most"),
      ("serial:", "serial:DEVICE"), ("serial:,9600", "serial:DEVICE"), ("serial:a,1,2", "serial:DEVICE"),
      ("serial:a,1,even", "serial:DEVICE"), ("serial:a,h5,odd", "serial:DEVICE"), ("serial:a,H5", "invalid baud rate"),
      ("serial:/dev/ttyS0,fast", "invalid baud rate"), ("serial:/dev/ttyS0,0", "invalid baud rate"),
      ("hci:", "invalid adapter number"),
      ("hci:-1", "invalid adapter number"), ("hci:65535", "invalid adapter number"), ("usb:0", "one of"),
    ])
  func refusing(text: String, problem: String) {
    #expect {
      _ = try TransportSpecifier(text)
    } throws: { "\($0)".contains(problem) }
  }

  @Test(
    "An address belongs to this machine if it is one of 127.0.0.0/8, ::1 or localhost",
    arguments: [
      ("tcp:127.0.0.1:1", true), ("tcp:127.255.0.9:1", true), ("tcp:[::1]:1", true), ("tcp:localhost:1", true),
      ("unix:/a", true), ("tcp:127.example.com:1", false), ("tcp:127.:1", false), ("tcp:0.0.0.0:1", false),
      ("tcp:[::]:1", false), ("tcp:128.0.0.1:1", false), ("tcp:localhost.example.com:1", false),
    ])
  func local(text: String, isLocal: Bool) throws {
    #expect(try TransportSpecifier(text).isLocal == isLocal)
  }
}
