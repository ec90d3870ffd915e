import CoreBluetooth

/// Sends back the data received on a channel, until the channel ends.
final class Echo: NSObject, StreamDelegate {
  let channel: CBL2CAPChannel
  private var waiting = Data()
  private var count = 0
  private let onEnd: (Echo) -> Void

  init(_ channel: CBL2CAPChannel, onEnd: @escaping (Echo) -> Void) {
    self.channel = channel
    self.onEnd = onEnd
    super.init()
    channel.open(self)
  }

  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    switch eventCode {
    case .hasBytesAvailable:
      let octets = channel.take()
      count += octets.count
      waiting += octets
      channel.give(&waiting)
    case .hasSpaceAvailable: channel.give(&waiting)
    case .endEncountered, .errorOccurred:
      guard aStream === channel.inputStream else { return }
      say("channel \(eventCode == .endEncountered ? "ended" : "lost") \(count)")
      onEnd(self)
    default: break
    }
  }
}

extension CBL2CAPChannel {
  /// Opens both streams in the main run loop.
  func open(_ delegate: any StreamDelegate) {
    for stream: Stream in [inputStream, outputStream] {
      stream.delegate = delegate
      stream.schedule(in: .main, forMode: .default)
      stream.open()
    }
  }

  /// Returns the received data.
  func take() -> Data {
    var result = Data()
    var buffer = [UInt8](repeating: 0, count: 1_000)
    while inputStream.hasBytesAvailable {
      let count = inputStream.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { break }
      result += buffer.prefix(count)
    }
    return result
  }

  /// Writes as much of `data` as there is room for.
  func give(_ data: inout Data) {
    while !data.isEmpty, outputStream.hasSpaceAvailable {
      let count = data.withUnsafeBytes { octets in
        outputStream.write(octets.bindMemory(to: UInt8.self).baseAddress!, maxLength: octets.count)
      }
      guard count > 0 else { return }
      data = Data(data.dropFirst(count))
    }
  }
}
