import BluetoothLab
import CoreBluetooth
import Logging

/// A log handler of the client, which gets the lines of the package.
struct Printer: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.notice

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(
    level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
    function: String, line: UInt
  ) {
    print("\(level): \(message.description.prefix(37))")
  }
}

// A client without a dependency on swift-log has the package's copy, so the package uses its handler.
LoggingSystem.bootstrap { _ in Printer() }
_ = CBCentralManager(delegate: nil, queue: nil)

// The client is tested in a world.
let world = World(seed: 1)
world.add(HeartRateSensor(), named: "strap")
let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
let strap = try phone.connect(to: "Heart Rate")
print("location: \(try phone.read("2A38", of: strap))")
