import CoreBluetooth

/// An app that uses the two streams of a channel: it sends the given data, keeps the received data, and records the
/// events.
final class StreamApp: NSObject, StreamDelegate {
  private let channel: CBL2CAPChannel
  var events: [String] = []
  var received = Data()
  /// The data that has not been written yet.
  var rest = Data()
  /// True if received data is sent back.
  var echoes = false
  /// True if received data is read.
  var reads = true
  /// The number of octets to read for each event that reports available data; nil: all.
  var portion: Int?
  /// The data received before the first of the two streams ended.
  var receivedAtEnd: Data?
  private var buffer = [UInt8](repeating: 0, count: 5_000)

  init(_ channel: CBL2CAPChannel) { self.channel = channel }

  var input: InputStream { channel.inputStream }
  var output: OutputStream { channel.outputStream }

  /// Opens both streams, scheduled in `loop`; nil: they are polled.
  func open(in loop: RunLoop? = .current) {
    for stream: Stream in [input, output] {
      stream.delegate = self
      if let loop { stream.schedule(in: loop, forMode: .default) }
      stream.open()
    }
  }

  func close() {
    input.close()
    output.close()
  }

  func send(_ data: Data) {
    rest += data
    give()
  }

  func take() {
    if let portion {
      let count = input.read(&buffer, maxLength: portion)
      received += buffer.prefix(max(0, count))
      return
    }
    while input.hasBytesAvailable {
      let count = input.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { return }
      received += buffer.prefix(count)
      if echoes { rest += buffer.prefix(count) }
    }
  }

  func give() {
    while !rest.isEmpty, output.hasSpaceAvailable {
      let part = [UInt8](rest.prefix(20_000))
      let count = output.write(part, maxLength: part.count)
      guard count > 0 else { return }
      rest.removeFirst(count)
    }
  }

  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    let name = aStream === input ? "in" : "out"
    switch eventCode {
    case .openCompleted: events.append(name + " open")
    case .hasBytesAvailable:
      if reads { take() } else { events.append("bytes") }
      if echoes { give() }
    case .hasSpaceAvailable: give()
    case .endEncountered:
      receivedAtEnd = receivedAtEnd ?? received
      events.append(name + " end")
    case .errorOccurred: events.append(name + " error")
    default: events.append("\(eventCode)")
    }
  }
}

extension Data {
  /// Returns octets with a long period.
  static func pattern(_ count: Int) -> Data {
    var value: UInt32 = 1
    return Data(
      (0..<count).map { _ in
        value = value &* 1_664_525 &+ 1_013_904_223
        return UInt8(value >> 24)
      })
  }
}
