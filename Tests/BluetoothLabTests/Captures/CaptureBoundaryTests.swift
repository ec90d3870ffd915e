import BluetoothLab
import CoreBluetooth
import TestSupport
import Testing

/// The start and the end of captures at arbitrary instants.
@Suite struct CaptureBoundaryTests {
  private static func capture(_ name: String, in folder: TemporaryFolder) throws -> Capture {
    try Capture(path: folder.file(name))
  }

  private static func packets(_ name: String, in folder: TemporaryFolder) throws -> [AirCapture.Packet] {
    try AirCapture(path: folder.file(name)).packets.map { packet in
      // The comments describe a packet's state at the end of the capture.
      var packet = packet
      packet.comments = []
      // The direction is known only to a capture that contains the CONNECT_IND.
      if packet.interface == 0 { packet.data.replaceSubrange(8..<10, with: [0, 0]) }
      return packet
    }
  }

  /// Begins at once to read a file, and returns its content when the reading ends.
  private static func read(_ path: String) -> AsyncStream<Data?> {
    let (stream, continuation) = AsyncStream.makeStream(of: Data?.self)
    // A separate thread, which needs no turn: the writer blocks a thread of the concurrency pool while it waits for this
    // reader, and a task would wait behind those of other tests, for as long as a minute.
    Thread.detachNewThread {
      continuation.yield(FileHandle(forReadingAtPath: path)?.readDataToEndOfFile())
      continuation.finish()
    }
    return stream
  }

  private static let length = Duration.seconds(2)

  /// Lets two devices meet, and calls `body` at each of the instants.
  private static func meet(
    _ first: Capture, _ instants: [Duration] = [], _ body: (World, Int) throws -> Void = { _, _ in }
  ) async throws {
    let meeting = Meeting(seed: 3, capture: first)
    for (number, instant) in instants.enumerated() {
      await meeting.world.run(for: instant - meeting.world.now)
      try body(meeting.world, number)
    }
    await meeting.world.run(for: length - meeting.world.now)
    try meeting.world.finishCapture()
  }

  /// Returns instants in the middle of some packets; 30 µs is shorter than any packet.
  private static func instants(of packets: [AirCapture.Packet]) -> [Duration] {
    let air = packets.filter { $0.interface == 0 }
    return stride(from: 3, to: air.count, by: max(1, air.count / 20)).map {
      .nanoseconds(Int64(air[$0].nanoseconds) + 30_000)
    }.filter { $0 < length }
  }

  @Test("Consecutive captures contain every packet once, even those on the air at the change")
  func switching() async throws {
    try await withTemporaryFolder { folder in
      try await Self.meet(Self.capture("whole", in: folder))
      let whole = try Self.packets("whole", in: folder)
      let instants = Self.instants(of: whole)
      #expect(instants.count > 15)
      try await Self.meet(Self.capture("part 0", in: folder), instants) { world, number in
        try world.finishCapture()
        world.startCapture(try Self.capture("part \(number + 1)", in: folder))
      }
      let parts = try (0...instants.count).flatMap { try Self.packets("part \($0)", in: folder) }
      #expect(parts == whole)
    }
  }

  @Test("A capture contains every packet whose start it has seen, and marks the incomplete ones")
  func ending() async throws {
    try await withTemporaryFolder { folder in
      try await Self.meet(Self.capture("whole", in: folder))
      let whole = try Self.packets("whole", in: folder)
      let instant = try #require(Self.instants(of: whole).last)
      try await Self.meet(Self.capture("first", in: folder), [instant]) { world, _ in try world.finishCapture() }
      let first = try Self.packets("first", in: folder)
      #expect(first == whole.filter { Duration.nanoseconds(Int64($0.nanoseconds)) <= instant })
      let last = try AirCapture(path: folder.file("first")).air.last
      #expect(last?.comments.contains { $0.hasSuffix("on the air when the capture ended") } ?? false)
    }
  }

  @Test("A world waits for the reader of a FIFO in virtual time and loses no packet")
  func fifo() async throws {
    try await withTemporaryFolder { folder in
      try await Self.meet(Self.capture("whole", in: folder))
      let path = folder.file("fifo")
      try #require(mkfifo(path, 0o600) == 0)
      var content = Self.read(path).makeAsyncIterator()
      try await Self.meet(Capture(path: path))
      let octets = await content.next()
      #expect(octets == FileManager.default.contents(atPath: folder.file("whole")))
    }
  }
}
