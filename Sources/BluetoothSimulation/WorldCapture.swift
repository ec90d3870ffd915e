import BluetoothCapture
import BluetoothController
import BluetoothRadio
import BluetoothWire
import Logging
import NIOConcurrencyHelpers

/// Writes a world's air, and the HCI of each of its devices, to a file.
package final class WorldCapture: AirObserver, @unchecked Sendable {
  // The lock guards everything below it: packets come from the world's thread, the end from any other.
  private let lock = NIOLock()
  private var writer: PcapngWriter
  private var directions = ConnectionDirections()
  /// Not used any more once there is a queue.
  private let file: CaptureFile
  /// Writes the file in a world that must not wait; nil: the world waits for the file.
  private var queue: CaptureQueue?
  /// The queue has no room, and packets are dropped.
  private var isDropping = false
  private var isFinished = false
  private let secrets: CaptureSecrets
  /// nil: keys are not asked for.
  private let keyFile: SessionKeyFile?
  /// Both ends of a link tell its sessions: those that were told last.
  private var sessions: [LL.SessionRecord] = []
  /// What went wrong first; nothing is written after it.
  private var failure: CaptureFile.Failure?
  private var names: [String] = []
  /// What is to be said of transmissions that have not ended yet.
  private var marks: [Mark] = []
  private var announcements: [String] = []

  private struct Mark {
    let transmission: UInt64
    let text: String
    let isReplacement: Bool
  }

  /// Octets that wait before they are written in one piece.
  private static let chunk = 1 << 16
  /// More links than are likely to begin a session while one end of another has told its own and the other has not.
  private static let rememberedSessions = 64
  private static var logger: Logger { Logger(label: "CoreBluetooth.capture") }

  /// Begins a file, or replaces the one that is there; and another one beside it, if keys are to be written. What shows keys
  /// or what was encrypted is its owner's only.
  package init(path: String, _ secrets: CaptureSecrets = .none) throws(CaptureFile.Failure) {
    self.secrets = secrets
    writer = PcapngWriter(secrets)
    file = try CaptureFile(path: path, isPrivate: secrets.showsKeys)
    guard !secrets.writesKeys || file.mayHaveCompanion else {
      throw CaptureFile.Failure(path: path, reason: "a device has no place beside it for a file of keys")
    }
    keyFile = secrets.writesKeys ? try SessionKeyFile(path: Self.keyPath(ofCapture: path)) : nil
  }

  deinit { queue?.abandon() }

  /// Has the file written by a thread of its own from now on, so that the world never waits for it: what a disk or a reader
  /// does not take in time is dropped, and counted.
  ///
  /// - Parameter limit: the octets that wait at most.
  package func writeInBackground(limit: Int = CaptureQueue.standardLimit) {
    lock.withLock {
      guard queue == nil else { return }
      let path = file.path
      let queue = CaptureQueue(file, limit: limit) { [weak self] queue in
        self?.begin(queue)
      } report: {
        Self.tell($0, of: path)
      }
      self.queue = queue
      // A reader has what the capture begins with also where nobody sends anything.
      if queue.room == .idle { queue.append(writer.takeBytes()) }
    }
  }

  /// For a reader that has just come.
  private func begin(_ queue: CaptureQueue) {
    lock.withLock {
      writer.beginSection()
      queue.restart(with: writer.takeBytes())
    }
  }

  /// True if the file is a FIFO that no program has opened for reading.
  package var isWaitingForReader: Bool { lock.withLock { queue?.room == .noReader } }

  private static func tell(_ report: CaptureQueue.Report, of path: String) {
    switch report {
    case .waitingForReader: logger.notice("\(path.printable): the capture begins when a program opens it for reading")
    case .readerArrived: logger.notice("\(path.printable): the capture begins")
    case .readerGone:
      logger.notice("\(path.printable): its reader has closed it; a capture begins when a program opens it again")
    case .failed(let failure) where failure.isReaderGone:
      logger.warning("\(path.printable): the capture has ended: its reader has closed it")
    case .failed(let failure): logger.warning("\(path.printable): the capture has ended: \(failure.reason)")
    }
  }

  /// Where the keys of a capture go.
  package static func keyPath(ofCapture path: String) -> String { path + ".keys.json" }

  /// Where the packets between host and controller of one more device go. Devices are told in the order of their numbers.
  package func device(named name: String) -> DeviceCapture {
    lock.withLock {
      names.append(name)
      return DeviceCapture(world: self, interface: writer.addInterface(name: name, linkType: .hciH4WithDirection))
    }
  }

  package func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    add(record) { describe(record, receptions) }
  }

  package func observationEnds(during record: TransmissionRecord) {
    add(record) { "\(name(of: record.radio)) → on the air when the capture ended" }
  }

  private func add(_ record: TransmissionRecord, _ outcome: () -> String) {
    lock.withLock {
      guard !isFinished else { return }
      let marks = takeMarks(of: record.number)
      var packet = record.packet
      var comments = [outcome()]
      // Something else was sent in place of what was encrypted.
      if marks.contains(where: \.isReplacement) { packet.plainPayload = nil }
      if packet.plainPayload != nil, !secrets.decryptsAir { comments.append("encrypted") }
      writer.airPacket(
        packet, crc: packet.crc, channel: record.channel, modulation: record.modulation, power: record.power,
        start: record.start, direction: directions.direction(of: packet, sender: record.radio.index),
        comments: comments + marks.map(\.text) + takeAnnouncements())
      writeIfDue()
    }
  }

  /// Says something of a transmission that has not ended yet.
  ///
  /// - Parameter isReplacement: it carries something else than its sender meant.
  package func mark(transmission: UInt64, _ text: String, isReplacement: Bool = false) {
    lock.withLock { marks.append(Mark(transmission: transmission, text: text, isReplacement: isReplacement)) }
  }

  /// Says something of what is no packet: it stands with the next one, wherever that is.
  package func announce(_ text: String) {
    lock.withLock { announcements.append(text) }
  }

  private func takeAnnouncements() -> [String] {
    defer { announcements.removeAll() }
    return announcements
  }

  private func takeMarks(of transmission: UInt64) -> [Mark] {
    guard !marks.isEmpty else { return [] }
    let result = marks.filter { $0.transmission == transmission }
    marks.removeAll { $0.transmission == transmission }
    return result
  }

  fileprivate func packet(
    _ packet: HCI.Packet, on interface: PcapngWriter.Interface, isFromHost: Bool, at now: Instant, comments: [String]
  ) -> PcapngWriter.Record? {
    lock.withLock {
      if isFinished { return nil }
      defer { writeIfDue() }
      return writer.hciPacket(
        packet, on: interface, isFromHost: isFromHost, at: now, comments: comments + takeAnnouncements())
    }
  }

  fileprivate func add(_ comment: String, to record: PcapngWriter.Record) {
    lock.withLock { _ = writer.add(comment: comment, to: record) }
  }

  // MARK: Writing

  /// Writes everything that is left, and closes the file. A reader that takes nothing for 2 s is given up.
  ///
  /// - Throws: why something was not written, now or before.
  package func finish() throws(CaptureFile.Failure) {
    let (queue, last) = finishWriter()
    guard let queue else { return try writeLast(last) }
    if let failure = queue.endAndWait(with: last), !failure.isReaderGone { throw failure }
    // Of the file of keys.
    if let failure { throw failure }
  }

  private func writeLast(_ bytes: [UInt8]) throws(CaptureFile.Failure) {
    defer { file.close() }
    if let failure { throw failure }
    if !bytes.isEmpty { try file.append(bytes) }
  }

  /// Does the same without waiting: `done` is called on any thread.
  package func finish(_ done: @escaping @Sendable (CaptureFile.Failure?) -> Void) {
    let (queue, last) = finishWriter()
    guard let queue else {
      do throws(CaptureFile.Failure) { try writeLast(last) } catch { return done(error) }
      return done(nil)
    }
    queue.end(with: last) { [self] problem in done(problem?.isReaderGone ?? true ? failure : problem) }
  }

  /// Takes the last octets of the writer. Nothing is captured from now on.
  private func finishWriter() -> (CaptureQueue?, [UInt8]) {
    lock.withLock {
      guard !isFinished else { return (queue, []) }
      isFinished = true
      if let room = queue?.room, room == .none || room == .noReader { writer.dropPackets(all: true) }
      return (queue, writer.finish())
    }
  }

  private func writeIfDue() {
    if let queue { return write(to: queue) }
    guard failure == nil else {
      writer.dropPackets()
      return
    }
    guard writer.pendingCount >= Self.chunk else { return }
    do throws(CaptureFile.Failure) { try file.append(writer.takeBytes()) } catch { failure = error }
  }

  private func write(to queue: CaptureQueue) {
    let room = queue.room
    switch room {
    case .idle, .some:
      if isDropping {
        isDropping = false
        Self.logger.warning(
          "\(file.path.printable): the capture goes on; \(writer.newlyDropped) packets were not captured")
      }
      // A program that reads along has each packet as soon as it has read the ones before.
      guard room == .idle && !file.isRegular || writer.pendingCount >= Self.chunk else { return }
      queue.append(writer.takeBytes())
    case .none:
      writer.dropPackets()
      guard !isDropping else { return }
      isDropping = true
      Self.logger.warning("\(file.path.printable): packets are not captured: the reader or the disk is too slow")
    case .noReader, .failed: writer.dropPackets()
    }
  }

  /// `sensor → phone −47 dBm, hub corrupt −89 dBm`
  private func describe(_ record: TransmissionRecord, _ receptions: [Reception]) -> String {
    let fates = receptions.map { reception in
      let fate =
        switch reception.outcome {
        case .intact: ""
        case .corrupt: "corrupt "
        case .missed: "missed "
        }
      return "\(name(of: reception.radio)) \(fate)\(reception.level.rounded) dBm"
    }
    return "\(name(of: record.radio)) → " + (fates.isEmpty ? "nobody" : fates.joined(separator: ", "))
  }

  private func name(of radio: RadioID) -> String {
    radio == .none ? "fault: injected" : radio.index < names.count ? names[radio.index] : "device \(radio.index)"
  }
}

extension WorldCapture: SessionObserver {
  package func sessionBegins(_ session: LL.SessionRecord, at now: Instant) {
    lock.withLock {
      let isKnown = sessions.contains { $0.accessAddress == session.accessAddress && $0.keys == session.keys }
      guard let keyFile, failure == nil, !isFinished, !isKnown else { return }
      if sessions.count >= Self.rememberedSessions { sessions.removeFirst() }
      sessions.append(session)
      do throws(CaptureFile.Failure) { try keyFile.append(session, at: now) } catch { failure = error }
    }
  }

  /// Who is to be told the keys of sessions; nil: nobody.
  fileprivate var sessionObserver: (any SessionObserver)? { keyFile == nil ? nil : self }
}

/// One device's part of a capture. Confined to the world.
package final class DeviceCapture {
  private let world: WorldCapture
  private let interface: PcapngWriter.Interface
  /// Calls of apps whose packets are still to come.
  private var calls: [String] = []
  private var lastFromController: PcapngWriter.Record?

  /// Who is to be told the keys of its controller's sessions; nil: nobody.
  package var sessionObserver: (any SessionObserver)? { world.sessionObserver }

  fileprivate init(world: WorldCapture, interface: PcapngWriter.Interface) {
    self.world = world
    self.interface = interface
  }

  /// - Parameter fault: why it does not arrive as it was sent.
  func packet(_ packet: HCI.Packet, isFromHost: Bool, at now: Instant, fault: String? = nil) {
    var comments = isFromHost ? calls : []
    if let fault { comments.append(fault) }
    let record = world.packet(packet, on: interface, isFromHost: isFromHost, at: now, comments: comments)
    if isFromHost { calls.removeAll(keepingCapacity: true) } else { lastFromController = record }
  }

  /// An app has called this; what follows comes of it.
  func call(_ text: String) { calls.append(text) }

  /// An app gets this callback, which came of the latest packet from the controller.
  func callback(_ text: String) {
    if let lastFromController { world.add(text, to: lastFromController) }
  }
}
