import ArgumentParser
import BluetoothCrypto
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The verb that sends a file to a device that runs `ble receive`.
struct Send: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends a file to a device that runs ble receive.",
    discussion: """
      The file goes over an L2CAP channel, or, with --characteristic, over a characteristic. The exit status 0 means that the receiver has the whole file, with the same \
      digest. A terminal shows the progress.
      """
  )
  .examples("ble send photo.jpg sink", "ble send photo.jpg sink --characteristic")

  @Argument(help: "The file.", completion: .file())
  var file: String
  @OptionGroup var device: DeviceChoice
  @Flag(help: "Sends over a characteristic, which is slower, for systems without L2CAP channels.")
  var characteristic = false
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    // A missing file is found before a device is.
    let source = try SentFile(file)
    try Stage(adapter).run { stage in
      let summary = try await stage.withDevice(device) { try await send(source, to: $0, stage) }
      try put((output.json ? summary.record("sent").line : summary.line("sent")) + "\n")
    }
  }

  private func send(_ file: SentFile, to peripheral: Peripheral, _ stage: Stage) async throws -> TransferSummary {
    let channel = try await open(peripheral, stage)
    defer { channel.close() }
    return try await Self.transfer(file, over: channel, stage)
  }

  /// The end of a part of a transfer.
  private enum End: Sendable {
    /// The file has been written, or can't be written.
    case written(Result<TransferSummary, any Error>)
    /// The receiver has answered, or can't answer any more.
    case answered(Result<FileTransfer.Answer, any Error>)
    /// The time for the answer is over.
    case late
  }

  /// Announces and sends a file. The receiver may refuse it before it has all octets, so the answer is read meanwhile.
  static func transfer(
    _ file: SentFile, over channel: any TransferChannel, _ stage: Stage
  ) async throws -> TransferSummary {
    var reader = ChannelReader(channel, stage)
    let header = FileTransfer.Header(name: file.name, size: file.size)
    try await channel.write(Data(header.octets), within: stage.stepLimit)
    try check(await reader.answer())
    let start = stage.now.seconds
    return try await withThrowingTaskGroup(of: End.self) { group in
      defer { group.cancelAll() }
      group.addTask { .written(await result { try await write(file, to: channel, from: start, stage) }) }
      group.addTask { [reader] in
        .answered(
          await result {
            var reader = reader
            return try await reader.answer(isLimited: false)
          })
      }
      var written: Result<TransferSummary, any Error>?
      var answer: Result<FileTransfer.Answer, any Error>?
      while let end = try await group.next() {
        switch end {
        case .written(let result):
          written = result
          // A receiver that refuses the file may end the channel before its answer has been read.
          let seconds: Double
          switch result {
          case .success: seconds = stage.timeout
          case .failure(let error as CBError) where answer == nil && error.code != .operationCancelled: seconds = 5
          case .failure(let error): throw error
          }
          group.addTask {
            try await stage.sleep(seconds)
            return .late
          }
        case .answered(let result):
          answer = result
          if case .success(let answer) = result { try check(answer) }
        case .late:
          _ = try written?.get()
          throw TimeLimitExceeded()
        }
        guard let written, let answer else { continue }
        var summary = try written.get()
        _ = try answer.get()
        summary.seconds = stage.now.seconds - start
        return summary
      }
      throw CancellationError()
    }
  }

  private static func result<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
  }

  /// Writes the octets of a file and their digest.
  ///
  /// - Returns: the summary, whose duration is that of the writing.
  private static func write(
    _ file: SentFile, to channel: any TransferChannel, from start: Double, _ stage: Stage
  ) async throws -> TransferSummary {
    var progress = TransferProgress(total: file.size, at: start)
    defer { progress.end() }
    let digest = SHA256()
    var count: UInt64 = 0
    while let piece = try file.next(after: count) {
      digest.update(piece)
      try await channel.write(piece, within: stage.stepLimit)
      count += UInt64(piece.count)
      progress.show(count, at: stage.now.seconds)
    }
    let result = digest.finish()
    try await channel.write(Data(result), within: stage.stepLimit)
    return TransferSummary(file: file.name, octets: count, seconds: stage.now.seconds - start, digest: result)
  }

  private static func check(_ answer: FileTransfer.Answer) throws {
    if case .refused(let reason) = answer {
      throw Failure("the receiver has refused the file: \(reason)", status: ExitStatus.refused)
    }
  }

  /// Opens the channel of the device's service, or subscribes to its characteristic.
  private func open(_ peripheral: Peripheral, _ stage: Stage) async throws -> any TransferChannel {
    let uuid = self.characteristic ? FileTransfer.data : FileTransfer.psm
    let services = try await peripheral.discoverServices(within: stage.stepLimit)
    guard let service = services.first(where: { $0.uuid == FileTransfer.service }),
      let characteristic = try await service.discoverCharacteristics(within: stage.stepLimit).first(where: {
        $0.uuid == uuid
      })
    else {
      throw Failure("the device receives no files: start ble receive on it", status: ExitStatus.refused)
    }
    if self.characteristic { return try await RemoteTransfer(characteristic, stage) }
    let octets = try await characteristic.read(within: stage.stepLimit)
    guard octets.count == 2, octets.contains(where: { $0 != 0 }) else {
      throw Failure("the device does not tell its channel", status: ExitStatus.refused)
    }
    let psm = CBL2CAPPSM(octets[octets.startIndex]) | CBL2CAPPSM(octets[octets.startIndex + 1]) << 8
    do { return try await peripheral.openL2CAPChannel(psm, within: stage.stepLimit) } catch let error as CBError
      where error.code == .unknown && error.linkReason == nil
    {
      // Apple's API has no code of its own for a refusal.
      throw Failure("the device has refused the channel with PSM \(psm)", status: ExitStatus.refused)
    }
  }
}

/// A file that is read in pieces.
final class SentFile: Sendable {
  /// The name without folders.
  let name: String
  /// The number of octets when the file was opened.
  let size: UInt64
  private let handle: FileHandle

  /// Opens a regular file.
  init(_ path: String) throws {
    let descriptor = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Failure("can't read \(path): \(String(cString: strerror(errno)))", status: ExitStatus.ambiguous)
    }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Failure("can't read \(path): not a regular file", status: ExitStatus.ambiguous)
    }
    size = UInt64(status.st_size)
    name = URL(fileURLWithPath: path).lastPathComponent
  }

  /// Returns the next piece; nil: the end.
  ///
  /// - Parameter count: the number of octets in the pieces before.
  /// - Throws: `Failure` if the file can't be read, or has another size than when it was opened.
  func next(after count: UInt64) throws -> Data? {
    let piece: Data
    do { piece = try handle.read(upToCount: FileTransfer.pieceSize) ?? Data() } catch {
      throw Failure("can't read \(name): \(error.localizedDescription)")
    }
    // A file that grows, such as a log, would be sent without end.
    guard piece.isEmpty ? count == size : count + UInt64(piece.count) <= size else {
      throw Failure("\(name) has changed while it was sent")
    }
    return piece.isEmpty ? nil : piece
  }
}
