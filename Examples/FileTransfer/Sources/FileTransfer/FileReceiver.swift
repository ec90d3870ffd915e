import CoreBluetooth

/// Receives files from senders, one at a time. Use it on the main queue.
public final class FileReceiver: NSObject {
  /// Called with the number of octets that have arrived, and their total.
  public var onProgress: ((_ received: Int, _ total: Int) -> Void)?
  /// Called at the end of each transfer.
  public var onFile: ((Result<Data, FileTransfer.Failure>) -> Void)?

  private let maximumLength: Int
  private lazy var manager = CBPeripheralManager(delegate: self, queue: .main)
  private var channel: CBL2CAPChannel?
  private var header: [UInt8] = []
  private var file = Data()

  /// Creates a receiver.
  ///
  /// - Parameter maximumLength: the maximum length of a file. What comes over the air is not to be trusted.
  public init(maximumLength: Int = 10_000_000) { self.maximumLength = maximumLength }

  /// Begins as soon as Bluetooth is on.
  public func start() { _ = manager }

  /// The length that the sender has announced; nil before it is known.
  private var announcedLength: UInt64? {
    header.count == FileTransfer.headerLength ? header.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  private func read(_ stream: InputStream) {
    var buffer = [UInt8](repeating: 0, count: 8_192)
    while stream.hasBytesAvailable {
      let count = stream.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { return }
      var octets = buffer[..<count]
      let missing = octets.prefix(FileTransfer.headerLength - header.count)
      header += missing
      octets = octets.dropFirst(missing.count)
      guard let length = announcedLength else { continue }
      guard length <= maximumLength else { return end(.failure(.tooLong)) }
      file += octets
      onProgress?(file.count, Int(length))
      if file.count >= length { return end(.success(file)) }
    }
  }

  private func end(_ result: Result<Data, FileTransfer.Failure>) {
    guard let channel else { return }
    self.channel = nil
    channel.inputStream.close()
    channel.outputStream.close()
    (header, file) = ([], Data())
    onFile?(result)
  }
}

extension FileReceiver: CBPeripheralManagerDelegate {
  public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    if peripheral.state == .poweredOn { peripheral.publishL2CAPChannel(withEncryption: false) }
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {
    guard error == nil else { return }
    let service = CBMutableService(type: FileTransfer.service, primary: true)
    service.characteristics = [
      CBMutableCharacteristic(
        type: FileTransfer.psm, properties: .read, value: withUnsafeBytes(of: psm.littleEndian) { Data($0) },
        permissions: .readable)
    ]
    peripheral.add(service)
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [FileTransfer.service]])
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
  ) {
    guard let channel else { return }
    guard self.channel == nil else {
      // Another sender is at work.
      channel.inputStream.close()
      return channel.outputStream.close()
    }
    self.channel = channel
    for stream in [channel.inputStream, channel.outputStream] as [Stream] {
      stream.delegate = self
      stream.schedule(in: .main, forMode: .default)
      stream.open()
    }
  }
}

extension FileReceiver: StreamDelegate {
  public func stream(_ stream: Stream, handle event: Stream.Event) {
    switch event {
    case .hasBytesAvailable: if let input = stream as? InputStream { read(input) }
    case .endEncountered, .errorOccurred:
      end(.failure(.incomplete(octets: file.count, of: Int(clamping: announcedLength ?? 0))))
    default: break
    }
  }
}
