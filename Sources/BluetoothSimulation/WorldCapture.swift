import BluetoothCapture
import BluetoothController
import BluetoothDaemon
import BluetoothRadio
import BluetoothWire
import NIOConcurrencyHelpers

/// A capture of a world's air and of the HCI of each of its devices, written to a file.
package final class WorldCapture: AirObserver, @unchecked Sendable {
  // The lock guards the properties below: packets come from the world's thread, and `finish` may be called on any
  // thread.
  private let lock = NIOLock()
  private var writer: PcapngWriter
  private var directions = ConnectionDirections()
  /// The output file. Once `queue` exists, only the queue uses the file.
  private let file: CaptureFile
  /// The queue that writes the file for a world that must not wait; nil: the world waits for the file.
  private var queue: CaptureQueue?
  /// True while the queue is full and packets are dropped.
  private var isDropping = false
  private var isFinished = false
  private let secrets: CaptureSecrets
  /// The file of session keys; nil: keys are not requested.
  private let keyFile: SessionKeyFile?
  /// The latest reported sessions, for the removal of duplicates: both ends of a link report each session.
  private var sessions: [LL.SessionRecord] = []
  /// The first failure; nothing is written after it.
  private var failure: CaptureFile.Failure?
  /// The names of devices, by radio index.
  private var names: [String] = []
  /// The comments on transmissions that have not ended yet.
  private var marks: [Mark] = []
  /// The comments for the next packet of any interface.
  private var announcements: [String] = []

  private struct Mark {
    let transmission: UInt64
    let text: String
    let isReplacement: Bool
  }

  /// The number of buffered octets at which the buffer is written, to save system calls.
  private static let chunk = 1 << 16
  /// The maximum number of elements of `sessions`. Both ends of a link report a session at almost the same time, so
  /// more sessions than this are unlikely in between.
  private static let rememberedSessions = 64
  private static var logger: PrintableLogger { PrintableLogger("CoreBluetooth.capture") }

  /// Creates the file or replaces the existing one; also creates a second file if keys are requested. Only its owner
  /// can access a file that shows keys or decrypted data.
  package init(path: String, _ secrets: CaptureSecrets = .none) throws(CaptureFile.Failure) {
    self.secrets = secrets
    writer = PcapngWriter(secrets)
    file = try CaptureFile(path: path, isPrivate: secrets.showsKeys)
    guard !secrets.writesKeys || file.mayHaveCompanion else {
      throw CaptureFile.Failure(path: path, reason: "can't write session keys next to a device file")
    }
    keyFile = secrets.writesKeys ? try SessionKeyFile(path: Self.keyPath(ofCapture: path)) : nil
  }

  deinit { queue?.abandon() }

  /// Writes the file on a separate thread from now on, so that the world never waits for it. Data that the disk or the
  /// reader does not accept in time is dropped and counted.
  ///
  /// - Parameter limit: the maximum number of waiting octets.
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
      // A reader gets the beginning of the capture even if no device transmits.
      if queue.room == .idle { queue.append(writer.takeBytes()) }
    }
  }

  /// Begins a new pcapng section, for a program that has just opened the FIFO.
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
    case .waitingForReader: logger.notice("\(path): waiting for a program to open the file for reading")
    case .readerArrived: logger.notice("\(path): the capture starts")
    case .readerGone:
      logger.notice("\(path): the reader closed the file; waiting for another reader")
    case .failed(let failure) where failure.isReaderGone:
      logger.warning("\(path): the capture ended: the reader closed the file")
    case .failed(let failure): logger.warning("\(path): the capture ended: \(failure.reason)")
    }
  }

  /// Returns the path of the file of keys that belongs to a capture.
  package static func keyPath(ofCapture path: String) -> String { path + ".keys.json" }

  /// Adds an interface for the packets between the host and the controller of a new device. Devices must be added in
  /// the order of their radio indices.
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
      // A fault replaced the encrypted payload, so the stored plaintext does not belong to the packet.
      if marks.contains(where: \.isReplacement) { packet.plainPayload = nil }
      if packet.plainPayload != nil, !secrets.decryptsAir {
        comments.append("encrypted")
        // Without the timing, a reader could not tell the events that the peripheral may skip from losses.
        if let timing = packet.updatedTiming { comments.append(timing) }
      }
      writer.airPacket(
        packet, crc: packet.crc, channel: record.channel, modulation: record.modulation, power: record.power,
        start: record.start, direction: directions.direction(of: packet, sender: record.radio.index),
        comments: comments + marks.map(\.text) + takeAnnouncements())
      writeIfDue()
    }
  }

  /// Adds a comment to a transmission that has not ended yet.
  ///
  /// - Parameter isReplacement: true if the transmission carries other content than its sender intended.
  package func mark(transmission: UInt64, _ text: String, isReplacement: Bool = false) {
    lock.withLock { marks.append(Mark(transmission: transmission, text: text, isReplacement: isReplacement)) }
  }

  /// Adds a comment that belongs to no packet: it is written with the next packet of any interface.
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

  /// Writes all remaining data and closes the file. Gives up if a reader accepts nothing for 2 s.
  ///
  /// - Throws: the reason why data was not written, now or before.
  package func finish() throws(CaptureFile.Failure) {
    let (queue, last) = finishWriter()
    guard let queue else { return try writeLast(last) }
    if let failure = queue.endAndWait(with: last), !failure.isReaderGone { throw failure }
    // The capture is complete, but the file of session keys may have failed.
    if let failure { throw failure }
  }

  private func writeLast(_ bytes: [UInt8]) throws(CaptureFile.Failure) {
    defer { file.close() }
    if let failure { throw failure }
    if !bytes.isEmpty { try file.append(bytes) }
  }

  /// Writes the data so far, so that the file can be read while the capture goes on. A capture that a thread writes is
  /// left to that thread.
  package func flush() throws(CaptureFile.Failure) {
    lock.lock()
    defer { lock.unlock() }
    guard queue == nil, !isFinished else { return }
    if let failure { throw failure }
    do { try file.append(writer.takeBytes()) } catch {
      failure = error
      throw error
    }
  }

  /// Writes all remaining data and closes the file, without waiting. Calls `done` on any thread, with the failure if
  /// data was not written.
  package func finish(_ done: @escaping @Sendable (CaptureFile.Failure?) -> Void) {
    let (queue, last) = finishWriter()
    guard let queue else {
      do throws(CaptureFile.Failure) { try writeLast(last) } catch { return done(error) }
      return done(nil)
    }
    queue.end(with: last) { [self] problem in done(problem?.isReaderGone ?? true ? failure : problem) }
  }

  /// Takes the last octets from the writer and ends the capture.
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
          "\(file.path): the capture resumes; \(writer.newlyDropped) packets were not captured")
      }
      // A program that reads a FIFO gets each packet as soon as it has read the earlier ones. Other files are written
      // in chunks.
      guard room == .idle && !file.isRegular || writer.pendingCount >= Self.chunk else { return }
      queue.append(writer.takeBytes())
    case .none:
      writer.dropPackets()
      guard !isDropping else { return }
      isDropping = true
      Self.logger.warning("\(file.path): packets are not captured: the reader or the disk is too slow")
    case .noReader, .failed: writer.dropPackets()
    }
  }

  /// Returns a summary such as `sensor → phone −47 dBm, hub corrupt −89 dBm`.
  private func describe(_ record: TransmissionRecord, _ receptions: [Reception]) -> String {
    let outcomes = receptions.map { reception in
      let outcome =
        switch reception.outcome {
        case .intact: ""
        case .corrupt: "corrupt "
        case .missed: "missed "
        }
      return "\(name(of: reception.radio)) \(outcome)\(reception.level.rounded) dBm"
    }
    return "\(name(of: record.radio)) → " + (outcomes.isEmpty ? "nobody" : outcomes.joined(separator: ", "))
  }

  private func name(of radio: RadioID) -> String {
    radio == .none ? "fault: injected" : radio.index < names.count ? names[radio.index] : "device \(radio.index)"
  }
}

extension AirPacket {
  /// The new connection parameters in words if the packet is an encrypted LL_CONNECTION_UPDATE_IND; else nil.
  fileprivate var updatedTiming: String? {
    guard let plainPayload, LL.DataHeader(rawValue: header).llid == .control,
      case .connectionUpdateInd(let timing, _)? = try? LL.ControlPDU(payload: plainPayload)
    else { return nil }
    // Units of 1.25 ms, and of 10 ms.
    let interval = Double(timing.interval) * 1.25
    return "LL_CONNECTION_UPDATE_IND: interval \(interval) ms, latency \(timing.latency), "
      + "timeout \(Int(timing.timeout) * 10) ms"
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

  /// The observer of session keys; nil: keys are not requested.
  fileprivate var sessionObserver: (any SessionObserver)? { keyFile == nil ? nil : self }
}

/// One device's part of a capture. Confined to the world.
package final class DeviceCapture {
  private let world: WorldCapture
  private let interface: PcapngWriter.Interface
  /// The app calls that have not caused a packet yet.
  private var calls: [String] = []
  private var lastFromController: PcapngWriter.Record?

  /// The observer of the keys of the controller's sessions; nil: keys are not requested.
  package var sessionObserver: (any SessionObserver)? { world.sessionObserver }

  fileprivate init(world: WorldCapture, interface: PcapngWriter.Interface) {
    self.world = world
    self.interface = interface
  }

  /// Records a packet between host and controller.
  ///
  /// - Parameter fault: the fault that changes, delays or drops the packet; nil: none.
  func packet(_ packet: HCI.Packet, isFromHost: Bool, at now: Instant, fault: String? = nil) {
    var comments = isFromHost ? calls : []
    if let fault { comments.append(fault) }
    let record = world.packet(packet, on: interface, isFromHost: isFromHost, at: now, comments: comments)
    if isFromHost { calls.removeAll(keepingCapacity: true) } else { lastFromController = record }
  }

  /// Records an app's call, as a comment on the next packet from the host.
  func call(_ text: String) { calls.append(text) }

  /// Records an app's callback, as a comment on the latest packet from the controller, which caused it.
  func callback(_ text: String) {
    if let lastFromController { world.add(text, to: lastFromController) }
  }
}
