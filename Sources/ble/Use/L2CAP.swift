import ArgumentParser
import BluetoothAir
import BluetoothDissection
import CoreBluetooth
import CoreBluetoothExtras
import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// The verbs that use an L2CAP channel as a pipe.
struct L2CAP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "l2cap", abstract: "Connects the standard input and output with an L2CAP channel.",
    subcommands: [Open.self, Listen.self])

  struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Opens a channel to a device.", discussion: Pipe.discussion
    )
    .examples("ble l2cap open sink 128 < file.bin", "ble l2cap open sink 0x80 --linger 10s > answer.bin")
    @OptionGroup var device: DeviceChoice
    @Argument(help: "The PSM of the channel, 1 to 255, such as 192 or 0xC0.")
    var psm: String
    @OptionGroup var pipe: Pipe
    @OptionGroup var adapter: AdapterOptions
    @OptionGroup var output: OutputOptions

    /// The PSMs of LE credit-based channels (SPSM) · Vol 3, Part A, 4.22.
    private static let psms: ClosedRange<UInt16> = 0x0001...0x00FF

    func run() throws {
      let digits = psm.lowercased().hasPrefix("0x") ? UInt16(psm.dropFirst(2), radix: 16) : UInt16(psm)
      guard let psm = digits, Self.psms.contains(psm) else {
        throw Failure("invalid PSM \"\(psm)\": expected 1 to 255 (0x01 to 0xFF)", status: ExitStatus.usage)
      }
      try Stage(adapter).run { stage in
        try await stage.withDevice(device) { peripheral in
          let channel: L2CAPChannel
          do { channel = try await peripheral.openL2CAPChannel(psm, within: stage.stepLimit) } catch let error
            as CBError
            where error.code == .unknown && error.linkReason == nil
          {
            // Apple's API has no code of its own for a refusal.
            throw Failure("the device has refused the channel with PSM \(psm)", status: ExitStatus.refused)
          }
          let log = ChannelLog(psm: channel.psm, device: peripheral.id.uuidString, stage, output)
          try log.emit("opened")
          try await pipe.run(channel, log, stage)
        }
      }
    }
  }

  struct Listen: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Advertises, and waits for a device that opens a channel.",
      discussion: "The PSM is printed on the standard error. " + Pipe.discussion
    )
    .examples("ble l2cap listen --name Sink > copy.bin", "ble l2cap listen --encrypted > copy.bin")
    @Option(help: "The advertised name.")
    var name = "ble l2cap"
    @Flag(help: "Requires an encrypted link, so that a device without a bond has to pair.")
    var encrypted = false
    @OptionGroup var pipe: Pipe
    @OptionGroup var adapter: AdapterOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
      try Stage(adapter).run { stage in
        try await stage.withLocalPeripheral { device in try await listen(by: device, stage) }
      }
    }

    private func listen(by device: LocalPeripheral, _ stage: Stage) async throws {
      let listener: L2CAPListener
      do {
        listener = try await device.publishL2CAPChannel(requiresEncryption: encrypted, within: stage.stepLimit)
      } catch { throw await stage.failure(of: error, "publishing the channel", by: device) }
      // Its end closes the channel.
      defer { withExtendedLifetime(listener) {} }
      complain("listening as \"\(name)\" with PSM \(listener.psm)")
      let log = ChannelLog(psm: listener.psm, stage, output)
      try log.emit("listening", ["name": .text(name)])
      let channel: L2CAPChannel?
      do {
        channel = try await device.withAdvertising(localName: name) {
          try await listener.channels.first { _ in true }
        }
      } catch { throw await stage.failure(of: error, "listening", by: device) }
      guard let channel else { throw Failure("the channel was closed", status: ExitStatus.linkLost) }
      complain("a device has opened the channel")
      try log.emit("opened")
      do { try await pipe.run(channel, log, stage) } catch {
        throw await stage.failure(of: error, "the channel", by: device)
      }
      // The end of the program ends the link. The other side learns by the response to its request to close the channel
      // that this side has all octets, and the response may still be in the controller.
      try await stage.sleep(Self.timeForResponse)
    }

    /// The time in which a response reaches the other side at common connection intervals, in seconds.
    private static let timeForResponse = 0.5
  }

  /// Moves octets between a channel and the standard input and output.
  struct Pipe: ParsableArguments {
    static let discussion = """
      What comes from the channel is written to the standard output, or with --json as records, and the standard input \
      is sent. The verb ends when the other side closes the channel, or when the standard input has ended and nothing \
      has come for the time of --linger. It fails if the other side closes the channel before it has all octets that were read.
      """

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "How long to wait for octets when the standard input has ended (default: 2).", valueName: "time"),
      transform: TimeArgument.seconds(of:))
    var linger = 2.0

    mutating func validate() throws {
      guard linger >= 0, linger <= 1e6 else { throw ValidationError("--linger must be 0 to 1000000") }
    }

    fileprivate func run(_ channel: L2CAPChannel, _ log: ChannelLog, _ stage: Stage) async throws {
      try await run(channel, StandardInput.pieces(), stage) { try log.received($0) }
      try log.emit("closed")
    }

    /// Moves octets from `pieces` to the channel, and from the channel to `output`.
    func run(
      _ channel: L2CAPChannel, _ pieces: AsyncStream<Data>, _ stage: Stage,
      output: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws {
      defer { channel.close() }
      try await move(channel, pieces, stage, output)
      // The end of the link would discard the octets that the other side does not have. If the other side has closed
      // the channel, the call tells at once if octets were lost.
      do { try await channel.closeWhenSent(within: stage.stepLimit) } catch is TimeLimitExceeded {
        throw late(stage)
      } catch let error as CBError where error.code == .operationCancelled { throw Self.cut }
    }

    private static let cut = Failure(
      "the other side closed the channel before it had all octets", status: ExitStatus.linkLost)

    private func late(_ stage: Stage) -> Failure {
      Failure(
        "the other side has not taken all octets within \(stage.timeout.short) s", status: ExitStatus.timeLimit)
    }

    /// Moves octets until the other side has closed the channel, or until the standard input has ended and nothing has
    /// come for the time of `--linger`.
    ///
    /// - Throws: a failure if the other side has closed the channel before it had an octet that was read from the
    ///   standard input, or if a part of a piece has not been taken within the time of `--timeout`.
    private func move(
      _ channel: L2CAPChannel, _ pieces: AsyncStream<Data>, _ stage: Stage,
      _ output: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws {
      let lastArrival = NIOLockedValueBox(stage.now)
      let isWriting = NIOLockedValueBox(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for try await octets in channel.incoming {
            try output(Array(octets))
            lastArrival.withLockedValue { $0 = stage.now }
          }
          // A cancellation ends the other task.
          try Task.checkCancellation()
          if isWriting.withLockedValue({ $0 }) { throw Self.cut }
        }
        group.addTask {
          for await octets in pieces {
            isWriting.withLockedValue { $0 = true }
            try await write(octets, to: channel, stage)
            isWriting.withLockedValue { $0 = false }
          }
          try Task.checkCancellation()
          lastArrival.withLockedValue { $0 = max($0, stage.now) }
          while true {
            let rest = linger - (stage.now - lastArrival.withLockedValue { $0 }).seconds
            if rest <= 0 { return }
            try await stage.sleep(rest)
          }
        }
        defer { group.cancelAll() }
        _ = try await group.next()
      }
    }

    /// Writes a piece of the standard input in parts, each of which has the time of `--timeout`.
    private func write(_ octets: Data, to channel: L2CAPChannel, _ stage: Stage) async throws {
      var rest = octets
      while !rest.isEmpty {
        let part = rest.prefix(Self.partSize)
        do { try await channel.write(part, within: stage.stepLimit) } catch is TimeLimitExceeded {
          throw late(stage)
        } catch let error as CBError where error.code == .notConnected { throw Self.cut }
        rest = rest.dropFirst(part.count)
      }
    }

    /// The number of octets that must leave the send buffer within the time of `--timeout`.
    private static let partSize = 1_024
  }
}

/// The output of a channel: what it receives as octets, or records of what happens.
private struct ChannelLog: Sendable {
  let psm: UInt16
  /// The identifier of the device that has the channel; nil: this program waits for one.
  var device: String?
  let stage: Stage
  let output: OutputOptions
  private let start: Duration

  init(psm: UInt16, device: String? = nil, _ stage: Stage, _ output: OutputOptions) {
    (self.psm, self.device, self.stage, self.output) = (psm, device, stage, output)
    start = stage.now
  }

  /// Prints a record of an event, if the user wants records.
  func emit(_ event: String, _ details: KeyValuePairs<String, JSONText?> = [:]) throws(OutputFailure) {
    var record = JSONRecord("channel")
    record.add(time: stage.now - start, on: stage)
    record.add("event", event)
    record.add("device", device)
    record.add("psm", Int(psm))
    for (name, value) in details { record.add(name, value) }
    try output.emit(record)
  }

  /// Prints octets that have arrived.
  func received(_ octets: [UInt8]) throws(OutputFailure) {
    guard output.json else { return try put(octets: octets) }
    try emit("received", ["data": .text("0x" + octets.digits)])
  }
}

/// The standard input, read by a thread that no task waits for.
enum StandardInput {
  /// The largest piece, in octets.
  private static let pieceSize = 16_384

  /// Returns the pieces of the standard input. A piece is read when the one before has been taken.
  static func pieces() -> AsyncStream<Data> {
    let taken = DispatchSemaphore(value: 1)
    let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: pieceSize)
      while true {
        taken.wait()
        let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR {
          taken.signal()
          continue
        }
        guard count > 0 else { break }
        continuation.yield(Data(buffer[..<count]))
      }
      continuation.finish()
    }
    let iterator = PieceIterator(stream.makeAsyncIterator())
    return AsyncStream {
      let piece = await iterator.next()
      taken.signal()
      return piece
    }
  }

  /// The iterator over the pieces. Unchecked, because one task at a time iterates over an `AsyncStream`.
  private final class PieceIterator: @unchecked Sendable {
    private var iterator: AsyncStream<Data>.Iterator
    init(_ iterator: AsyncStream<Data>.Iterator) { self.iterator = iterator }
    func next() async -> Data? { await iterator.next() }
  }
}
