import ArgumentParser
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Crypto
import Foundation

/// The verb that waits for a file.
struct Receive: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Advertises, and receives a file from ble send.",
    discussion: """
      The file appears when it is complete and its digest is that of the sender; until then, its octets are in a hidden \
      file beside it. A file that exists stays, unless --force is given.
      """)

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "The file, or a folder for a file of the sender's name; -: the standard output (default: this folder).",
      valueName: "path"))
  var path = "."
  @Option(help: "The advertised name.")
  var name = "ble receive"
  @Flag(help: "Replaces a file that exists.")
  var force = false
  @Flag(help: "Requires an encrypted link, so that a device without a bond has to pair.")
  var encrypted = false
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if output.json, path == "-" { throw ValidationError("with --json, expected --output FILE") }
  }

  func run() throws {
    try Stage(adapter).run { stage in
      let device = LocalPeripheral(adapter: stage.adapter)
      defer { device.close() }
      try await stage.waitForPower(of: device.waitUntilPoweredOn(within:)) { device.state }
      do {
        let listener = try await device.publishL2CAPChannel(requiresEncryption: encrypted, within: stage.stepLimit)
        let psm = Data([UInt8(truncatingIfNeeded: listener.psm), UInt8(listener.psm >> 8)])
        let local = LocalTransfer(by: device)
        try await device.add(
          LocalService(
            FileTransfer.service, [LocalCharacteristic(FileTransfer.psm, value: psm), local.characteristic]),
          within: stage.stepLimit)
        let channel = try await device.withAdvertising(localName: name) {
          complain("waiting for a file as \"\(name)\"")
          return try await first(of: listener, local)
        }
        let summary = try await receive(from: channel, stage)
        if output.json {
          try put(summary.record("received").line + "\n")
        } else if path == "-" {
          complain(summary.line("received"))
        } else {
          try say(summary.line("received"))
        }
      } catch { throw Failure.of(error, "receiving") }
    }
  }

  /// Waits for a channel, or for octets of a characteristic.
  private func first(of listener: L2CAPListener, _ local: LocalTransfer) async throws -> any TransferChannel {
    try await withThrowingTaskGroup(of: (any TransferChannel).self) { group in
      defer { group.cancelAll() }
      group.addTask {
        guard let channel = try await listener.channels.first(where: { _ in true }) else {
          throw Failure("the channel was closed", status: ExitStatus.linkLost)
        }
        return channel
      }
      group.addTask {
        try await local.waitForBeginning()
        return local
      }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }

  private func receive(from channel: any TransferChannel, _ stage: Stage) async throws -> TransferSummary {
    let watch = (channel as? LocalTransfer).map { local in
      Task(executorPreference: stage.taskExecutor) { await local.watch() }
    }
    defer { watch?.cancel() }
    return try await transfer(from: channel, stage)
  }

  private func transfer(from channel: any TransferChannel, _ stage: Stage) async throws -> TransferSummary {
    defer { channel.close() }
    var reader = ChannelReader(channel, stage)
    guard let (size, length) = FileTransfer.Header.prefix(try await reader.exactly(FileTransfer.Header.prefixLength))
    else { throw Failure("the other side speaks another protocol", status: ExitStatus.refused) }
    let sentName = String(decoding: try await reader.exactly(length), as: UTF8.self)
    let file: ReceivedFile
    do { file = try ReceivedFile(path, named: sentName, replaces: force) } catch {
      try await refuse(error, channel, &reader, stage)
    }
    defer { file.discard() }
    try await channel.write(Data(FileTransfer.Answer.accepted.octets), within: stage.stepLimit)
    let start = stage.now.seconds
    var progress = TransferProgress(total: size, at: start)
    defer { progress.end() }
    var digest = SHA256()
    var count: UInt64 = 0
    while count < size {
      let piece = try await reader.some(Int(min(UInt64(FileTransfer.pieceSize), size - count)))
      digest.update(data: piece)
      do { try file.write(piece) } catch { try await refuse(error, channel, &reader, stage) }
      count += UInt64(piece.count)
      progress.show(count, at: stage.now.seconds)
    }
    let result = Array(digest.finalize())
    do {
      guard try await reader.exactly(FileTransfer.digestLength) == result else {
        throw Failure("the digest is not that of the sender")
      }
      try file.keep()
    } catch let failure as Failure where failure.status != ExitStatus.linkLost {
      try await refuse(failure, channel, &reader, stage)
    }
    let seconds = stage.now.seconds - start
    try await channel.write(Data(FileTransfer.Answer.accepted.octets), within: stage.stepLimit)
    // The sender closes the channel when it has the answer.
    _ = try? await channel.octets(within: stage.limit(5))
    return TransferSummary(file: file.title, octets: count, seconds: seconds, digest: result)
  }

  /// Tells the sender the reason of a failure, and throws it.
  private func refuse(
    _ error: any Error, _ channel: any TransferChannel, _ reader: inout ChannelReader, _ stage: Stage
  ) async throws -> Never {
    let reason = (error as? Failure)?.description ?? (error as? OutputFailure)?.reason ?? "\(error)"
    // The reason of the failure matters more than whether the sender gets it.
    try? await channel.write(Data(FileTransfer.Answer.refused(reason).octets), within: stage.limit(5))
    while (try? await reader.some(FileTransfer.pieceSize)) != nil {}
    throw error
  }
}

/// A file that appears when it is complete.
final class ReceivedFile {
  /// The name in messages.
  let title: String
  /// The file; nil: the standard output.
  private let path: String?
  /// The file that has the octets until all have come.
  private let partial: String
  private let replaces: Bool
  private var descriptor: Int32 = -1

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: the file, or its folder; `-`: the standard output.
  ///   - name: the name that the sender gives.
  ///   - replaces: true to replace a file that exists.
  init(_ path: String, named name: String, replaces: Bool) throws {
    self.replaces = replaces
    guard path != "-" else {
      (title, self.path, partial) = (name.printable, nil, "")
      return
    }
    var isFolder: ObjCBool = false
    var place = path
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      // A name of the sender must not lead to another folder, or to a file of settings.
      guard !name.isEmpty, !name.hasPrefix("."), !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }) else {
        throw Failure("the name \(name.printable.debugDescription) is not allowed", status: ExitStatus.refused)
      }
      place = path == "." ? name : path + (path.hasSuffix("/") ? "" : "/") + name
    }
    title = place.printable
    self.path = place
    if !replaces, FileManager.default.fileExists(atPath: place) {
      throw Failure("\(title) exists", status: ExitStatus.refused)
    }
    let parts = place.split(separator: "/", omittingEmptySubsequences: false)
    partial = (parts.dropLast() + [".\(parts.last ?? "").\(getpid()).part"]).joined(separator: "/")
    descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw Failure("can't write \(title): \(String(cString: strerror(errno)))")
    }
  }

  deinit { discard() }

  /// Appends octets.
  func write(_ octets: [UInt8]) throws {
    guard path != nil else { return try put(octets: octets) }
    var rest = octets[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw Failure("can't write \(title): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Gives the file its name.
  func keep() throws {
    guard let path, descriptor >= 0 else { return }
    // A link, unlike a renaming, does not replace a file that has appeared meanwhile.
    let isDone = fsync(descriptor) == 0 && (replaces ? rename(partial, path) : link(partial, path)) == 0
    let code = errno
    discard()
    guard isDone else { throw Failure("can't write \(title): \(String(cString: strerror(code)))") }
  }

  /// Removes what has come, unless the file has its name.
  func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    unlink(partial)
  }
}
