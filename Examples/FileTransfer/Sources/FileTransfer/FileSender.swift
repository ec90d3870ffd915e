import CoreBluetooth

/// Finds a receiver, and sends a file to it. Use it on the main queue.
public final class FileSender: NSObject {
  /// Called with the number of octets that the channel has taken, and their total.
  public var onProgress: ((_ sent: Int, _ total: Int) -> Void)?
  /// Called once, at the end. If Bluetooth goes off during the transfer, that is its end.
  public var onEnd: ((Result<Void, any Error>) -> Void)?

  private let octets: Data
  private let fileLength: Int
  private var position = 0
  private lazy var central = CBCentralManager(delegate: self, queue: .main)
  private var receiver: CBPeripheral?
  private var channel: CBL2CAPChannel?
  private var isEnded = false

  /// Creates a sender of a file.
  public init(_ file: Data) {
    fileLength = file.count
    octets = withUnsafeBytes(of: UInt64(file.count).bigEndian) { Data($0) } + file
  }

  /// Begins as soon as Bluetooth is on.
  public func start() { _ = central }

  /// Writes as much as the channel takes. The stream says when there is room again.
  private func write() {
    guard let stream = channel?.outputStream else { return }
    while stream.hasSpaceAvailable, position < octets.count {
      // A part of limited size, so that little has to be copied.
      let part = [UInt8](octets[position..<min(position + 8_192, octets.count)])
      let count = stream.write(part, maxLength: part.count)
      guard count > 0 else { return }
      position += count
      onProgress?(max(0, position - FileTransfer.headerLength), fileLength)
    }
  }

  private func end(_ result: Result<Void, any Error>) {
    guard !isEnded else { return }
    isEnded = true
    channel?.inputStream.close()
    channel?.outputStream.close()
    if let receiver, receiver.state != .disconnected { central.cancelPeripheralConnection(receiver) }
    onEnd?(result)
  }
}

extension FileSender: CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard !isEnded else { return }
    if central.state == .poweredOn {
      central.scanForPeripherals(withServices: [FileTransfer.service])
    } else if receiver != nil {
      // The link has ended without `didDisconnectPeripheral`.
      end(.failure(FileTransfer.Failure.incomplete(octets: position, of: octets.count)))
    }
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central.stopScan()
    receiver = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([FileTransfer.service])
  }

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    end(.failure(error ?? FileTransfer.Failure.notAReceiver))
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    end(.failure(error ?? FileTransfer.Failure.incomplete(octets: position, of: octets.count)))
  }
}

extension FileSender: CBPeripheralDelegate {
  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else {
      return end(.failure(error ?? FileTransfer.Failure.notAReceiver))
    }
    peripheral.discoverCharacteristics([FileTransfer.psm], for: service)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    guard let psm = service.characteristics?.first else {
      return end(.failure(error ?? FileTransfer.Failure.notAReceiver))
    }
    peripheral.readValue(for: psm)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    guard let value = characteristic.value.map({ [UInt8]($0) }), value.count == 2 else {
      return end(.failure(error ?? FileTransfer.Failure.notAReceiver))
    }
    peripheral.openL2CAPChannel(CBL2CAPPSM(value[0]) | CBL2CAPPSM(value[1]) << 8)
  }

  public func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    guard let channel else { return end(.failure(error ?? FileTransfer.Failure.notAReceiver)) }
    self.channel = channel
    for stream in [channel.inputStream, channel.outputStream] as [Stream] {
      stream.delegate = self
      stream.schedule(in: .main, forMode: .default)
      stream.open()
    }
  }
}

extension FileSender: StreamDelegate {
  public func stream(_ stream: Stream, handle event: Stream.Event) {
    switch event {
    case .hasSpaceAvailable: write()
    case .errorOccurred: end(.failure(stream.streamError ?? FileTransfer.Failure.notAReceiver))
    case .endEncountered where position == octets.count: end(.success(()))
    case .endEncountered: end(.failure(FileTransfer.Failure.incomplete(octets: position, of: octets.count)))
    default: break
    }
  }
}
