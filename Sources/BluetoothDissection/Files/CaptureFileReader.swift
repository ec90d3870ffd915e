/// Reads one format of capture files.
protocol CaptureFileReader {
  /// The format of the capture; nil: the file has not told it yet.
  var format: CaptureDecoder.Format? { get }

  /// Returns the next element, and consumes its octets; nil: more octets are needed.
  mutating func next(_ input: inout CaptureOctets) throws(CaptureProblem) -> CaptureElement?

  /// Checks that the file has ended after a complete element.
  func finish(_ input: CaptureOctets) throws(CaptureProblem)
}

extension CaptureFileReader {
  func finish(_ input: CaptureOctets) throws(CaptureProblem) {
    if !input.isEmpty { throw input.problem("the file ends within a packet") }
  }
}

/// The interfaces that a capture file has shown: those that it describes, and one for each adapter of a Linux monitor
/// channel, whose connection handles and packets are its own.
struct CaptureInterfaces {
  private struct Adapter: Hashable {
    let source: Int
    let number: UInt16
  }

  /// The number of the monitor channel for messages that concern no adapter.
  private static let noAdapter: UInt16 = 0xFFFF
  /// The largest number of interfaces of a file.
  private static let maximumCount = 1 << 16

  private var count = 0
  private var adapters: [Adapter: CaptureInterface] = [:]

  /// Returns the next interface; nil: the file has too many.
  mutating func add(_ name: String?, _ link: CaptureLink) -> CaptureInterface? {
    guard count < Self.maximumCount else { return nil }
    defer { count += 1 }
    return CaptureInterface(index: count, name: name, link: link)
  }

  /// Returns the interface of the adapter that a message of a Linux monitor channel names, and true if it is new; nil:
  /// the file has too many.
  ///
  /// - Parameters:
  ///   - source: the number of the channel in the file.
  ///   - number: the number of the adapter.
  mutating func adapter(
    _ number: UInt16, of source: Int, _ link: CaptureLink
  ) -> (interface: CaptureInterface, isNew: Bool)? {
    let adapter = Adapter(source: source, number: number)
    if let known = adapters[adapter] { return (known, false) }
    guard let interface = add(number == Self.noAdapter ? nil : "hci\(number)", link) else { return nil }
    adapters[adapter] = interface
    return (interface, true)
  }
}

/// The times of captures, in nanoseconds.
enum CaptureTime {
  /// The time stamp of 1970-01-01 in btsnoop files, in microseconds.
  static let btsnoopEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

  /// Times are within ±126 years, so that sums and differences of two of them can't overflow.
  private static let times: ClosedRange<Int64> = -4_000_000_000_000_000_000...4_000_000_000_000_000_000

  static func bounded(_ time: Int64) -> Int64 { min(max(time, times.lowerBound), times.upperBound) }

  /// Returns the time of seconds since 1970, and of a fraction of a second in microseconds.
  static func time(seconds: UInt32, microseconds: UInt32) -> Int64 {
    bounded(Int64(seconds) * 1_000_000_000 + Int64(microseconds) * 1_000)
  }

  /// Returns the time of microseconds since 1970.
  static func time(microseconds: Int64) -> Int64 {
    let product = microseconds.multipliedReportingOverflow(by: 1_000)
    return bounded(product.overflow ? (microseconds < 0 ? .min : .max) : product.partialValue)
  }
}
