import ArgumentParser
import BluetoothCrypto
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The verb that waits for a file.
struct Receive: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Advertises, and receives a file from ble send.",
    discussion: """
      The file appears when it is complete and its digest is that of the sender; until then, its octets are in a hidden \
      file beside it. A file that exists stays, unless --force is given.
      """
  )
  .examples("ble receive --name Sink", "ble receive --name Sink -o copy.jpg --force")

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "The file, or a folder for a file of the sender's name; -: the standard output (default: this folder).",
      valueName: "path"), completion: .file())
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
      try await stage.withLocalPeripheral { device in try await receive(by: device, stage) }
    }
  }

  /// Advertises, and receives a file.
  private func receive(by device: LocalPeripheral, _ stage: Stage) async throws {
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
    } catch { throw await stage.failure(of: error, "receiving", by: device) }
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

  /// Takes a file from a channel.
  func transfer(from channel: any TransferChannel, _ stage: Stage) async throws -> TransferSummary {
    defer { channel.close() }
    var reader = ChannelReader(channel, stage)
    guard let (size, length) = FileTransfer.Header.prefix(try await reader.exactly(FileTransfer.Header.prefixLength))
    else { throw Failure("the other side speaks another protocol", status: ExitStatus.refused) }
    let sentName = String(decoding: try await reader.exactly(length), as: UTF8.self)
    let file: ReceivedFile
    do { file = try ReceivedFile(path, named: sentName, replaces: force) } catch {
      try await refuse(error, channel, stage)
    }
    defer { file.discard() }
    try await channel.write(Data(FileTransfer.Answer.accepted.octets), within: stage.stepLimit)
    let start = stage.now.seconds
    var progress = TransferProgress(total: size, at: start)
    defer { progress.end() }
    let digest = SHA256()
    var count: UInt64 = 0
    while count < size {
      let piece = try await reader.some(Int(min(UInt64(FileTransfer.pieceSize), size - count)))
      digest.update(piece)
      do { try file.write(piece) } catch { try await refuse(error, channel, stage) }
      count += UInt64(piece.count)
      progress.show(count, at: stage.now.seconds)
    }
    let result = digest.finish()
    do {
      guard try await reader.exactly(FileTransfer.digestLength) == result else {
        throw Failure("the digest is not that of the sender")
      }
      try file.keep()
    } catch let failure as Failure where failure.status != ExitStatus.linkLost {
      try await refuse(failure, channel, stage)
    }
    let seconds = stage.now.seconds - start
    try await channel.write(Data(FileTransfer.Answer.accepted.octets), within: stage.stepLimit)
    // The sender closes the channel when it has the answer.
    _ = try? await channel.octets(within: stage.limit(5))
    return TransferSummary(file: file.title, octets: count, seconds: seconds, digest: result)
  }

  /// Tells the sender the reason of a failure, waits for a short time until the sender ends the transfer, and throws the
  /// failure.
  private func refuse(_ error: any Error, _ channel: any TransferChannel, _ stage: Stage) async throws -> Never {
    let reason = (error as? Failure)?.description ?? (error as? OutputFailure)?.reason ?? "\(error)"
    // The reason of the failure matters more than whether the sender gets it.
    try? await channel.write(Data(FileTransfer.Answer.refused(reason).octets), within: stage.limit(5))
    let end = stage.now.seconds + 5
    while stage.now.seconds < end {
      // The octets make room for those that keep the sender from reading the answer.
      guard (try? await channel.octets(within: stage.limit(end - stage.now.seconds))) != nil else { break }
    }
    throw error
  }
}

/// The file that a sender has announced.
final class ReceivedFile {
  /// The name in messages.
  let title: String
  private let file: OutputFile

  /// The longest name in a folder, in octets.
  private static let maximumName = Int(NAME_MAX)

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: the file, or its folder; `-`: the standard output.
  ///   - name: the name that the sender gives.
  ///   - replaces: true to replace a file that exists.
  init(_ path: String, named name: String, replaces: Bool) throws {
    var place = path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      // A name of the sender must not lead to another folder, or to a file of settings, or control the terminals on
      // which the folder is listed.
      guard !name.isEmpty, !name.hasPrefix("."),
        !name.unicodeScalars.contains(where: { $0 == "/" || $0.properties.generalCategory == .control })
      else {
        throw Failure("the name \(name.printable.debugDescription) is not allowed", status: ExitStatus.refused)
      }
      // Octets that are no UTF-8 have become longer.
      var name = name
      while name.utf8.count > Self.maximumName { name.removeLast() }
      // The name "-" is that of a file, not of the standard output.
      place = path == "." && name != "-" ? name : path + (path.hasSuffix("/") ? "" : "/") + name
    }
    title = (path == "-" ? name : place).printable
    file = try OutputFile(place, replaces: replaces)
  }

  /// Appends octets.
  func write(_ octets: [UInt8]) throws { try file.write(octets) }

  /// Gives the file its name.
  func keep() throws { try file.finish(isSynchronized: true) }

  /// Removes what has come, unless the file has its name.
  func discard() { file.discard() }
}
