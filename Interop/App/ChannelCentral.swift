import CoreBluetooth

/// Finds a server of the suite's service, opens a channel to it, sends 20 kB and ends when it has received them back.
final class ChannelCentral: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, StreamDelegate {
  private var manager: CBCentralManager!
  private let psm: CBL2CAPPSM
  private var server: CBPeripheral?
  private var channel: CBL2CAPChannel?
  private let sent = Data((0..<20_000).map { UInt8(truncatingIfNeeded: 31 * $0 + $0 / 256) })
  private lazy var waiting = sent
  private var received = Data()

  init(psm: CBL2CAPPSM) {
    self.psm = psm
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [InteropService.uuid]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard server == nil else { return }
    server = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    say("connected")
    peripheral.openL2CAPChannel(psm)
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    say("disconnected")
    exit(received == sent ? 0 : 1)
  }

  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) {
    guard let channel else {
      say("refused \(error.map { "\(($0 as NSError).domain) \(($0 as NSError).code)" } ?? "nothing said")")
      exit(2)
    }
    say("channel \(channel.psm)")
    self.channel = channel
    channel.open(self)
  }

  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    switch eventCode {
    case .hasSpaceAvailable: channel?.give(&waiting)
    case .hasBytesAvailable:
      received += channel?.take() ?? Data()
      guard received.count >= sent.count, let server else { return }
      say("echoed \(received == sent)")
      channel = nil
      manager.cancelPeripheralConnection(server)
    case .endEncountered, .errorOccurred: say("ended \(received.count)")
    default: break
    }
  }
}
