import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@Suite struct ChannelTests {
  private func open(_ meeting: Meeting) throws -> (channel: L2CAPChannel, peripheral: Peripheral) {
    let peripheral = try meeting.connect()
    let psm = try #require(meeting.sensor.psm)
    return (try meeting.stage.perform { try await peripheral.openL2CAPChannel(psm) }, peripheral)
  }

  @Test("100 kB come back over a channel, complete and in order, from a writer that waits for room")
  func echo() throws {
    let meeting = Meeting()
    let (channel, _) = try open(meeting)
    #expect(channel.psm == meeting.sensor.psm)
    let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) })
    let isWritten = Box(false)
    let writer = meeting.stage.start {
      try await channel.write(data)
      isWritten.value = true
    }
    meeting.stage.run(for: .milliseconds(10))
    #expect(!isWritten.value)
    let received = try meeting.stage.perform {
      var received = Data()
      for try await octets in channel.incoming {
        received += octets
        if received.count >= data.count { break }
      }
      return received
    }
    try meeting.stage.value(of: writer)
    #expect(received == data)
    #expect(channel.pendingCount == 0)
  }

  @Test("A peripheral that does not read stops the writer, whose write can be cancelled")
  func flowControl() throws {
    let meeting = Meeting()
    meeting.sensor.echoes = false
    let (channel, _) = try open(meeting)
    let write = meeting.stage.start { try await channel.write(Data(count: 100_000)) }
    let next = meeting.stage.start { try await channel.write(Data([1])) }
    meeting.stage.run(for: .seconds(20))
    #expect(write.result == nil && next.result == nil && channel.pendingCount == 2)
    for task in [next, write] {
      task.cancel()
      #expect(outcome { try meeting.stage.value(of: task) } == .cancelled)
    }
    let read = meeting.stage.start { try await channel.read() }
    meeting.stage.run(for: .seconds(1))
    read.cancel()
    #expect(outcome { try meeting.stage.value(of: read) } == .cancelled)
    #expect(channel.pendingCount == 0)
  }

  @Test("Reads get at most as many octets as they ask for, in the order of the calls")
  func reading() throws {
    let meeting = Meeting()
    let (channel, _) = try open(meeting)
    let reads = (0..<3).map { _ in meeting.stage.start { try await channel.read(upTo: 2) } }
    try meeting.stage.perform { try await channel.write(Data([1, 2, 3, 4, 5])) }
    #expect(try reads.map { try meeting.stage.value(of: $0) } == [Data([1, 2]), Data([3, 4]), Data([5])])
  }

  @Test("A read without a maximum gets the octets that have arrived")
  func readingAll() throws {
    let meeting = Meeting()
    let (channel, _) = try open(meeting)
    let read = meeting.stage.start { try await channel.read(upTo: .max) }
    try meeting.stage.perform { try await channel.write(Data([1, 2, 3])) }
    let piece = try #require(try meeting.stage.value(of: read))
    #expect(piece == Data([1, 2, 3]) && piece.startIndex == 0)
    #expect(channel.pendingCount == 0)
  }

  @Test("Octets that a call has taken are its result, even if its task is cancelled before it is resumed")
  func cancelledWithOctets() throws {
    let meeting = Meeting()
    let (channel, _) = try open(meeting)
    let (first, second) = (Box<Data?>(nil), Box<AppTask<Data?>?>(nil))
    Task(executorPreference: ImmediateExecutor()) {
      first.value = try? await channel.read(upTo: 2)
      // The channel has taken octets for the second call, too, and has not resumed it.
      second.value?.cancel()
    }
    #expect(channel.pendingCount == 1)
    let call = meeting.stage.start { try await channel.read(upTo: 2) }
    second.value = call
    #expect(meeting.stage.run(until: { channel.pendingCount == 2 }))
    try meeting.stage.perform { try await channel.write(Data([1, 2, 3, 4, 5])) }
    #expect(try meeting.stage.value(of: call) == Data([3, 4]))
    #expect(first.value == Data([1, 2]))
    #expect(try meeting.stage.perform { try await channel.read() } == Data([5]))
  }

  @Test("A channel ends when a side closes it: reads return nil, writes throw an error")
  func closing() throws {
    let meeting = Meeting()
    let (channel, peripheral) = try open(meeting)
    let end = meeting.stage.start { for try await _ in channel.incoming {} }
    meeting.stage.run(for: .seconds(1))
    meeting.sensor.closeChannels()
    try meeting.stage.value(of: end)
    #expect(outcome { try meeting.stage.perform { try await channel.write(Data([1])) } } == .core(.notConnected))
    let psm = try #require(meeting.sensor.psm)
    let second = try meeting.stage.perform { try await peripheral.openL2CAPChannel(psm) }
    let read = meeting.stage.start { try await second.read() }
    meeting.stage.run(for: .seconds(1))
    second.close()
    #expect(try meeting.stage.value(of: read) == nil)
    #expect(try meeting.stage.perform { try await second.read() } == nil)
    #expect(outcome { try meeting.stage.perform { try await second.write(Data([1])) } } == .core(.notConnected))
    second.close()
  }

  @Test("When the link is lost, reads and writes throw its error, after the received octets have been read")
  func loss() throws {
    let meeting = Meeting()
    let (channel, _) = try open(meeting)
    try meeting.stage.perform { try await channel.write(Data([1, 2, 3])) }
    meeting.stage.run(until: { meeting.sensor.received == 3 })
    meeting.stage.run(for: .seconds(1))
    meeting.sensor.device.setRadio(isOn: false)
    meeting.stage.run(for: .seconds(10))
    #expect(try meeting.stage.perform { try await channel.read() } == Data([1, 2, 3]))
    #expect(outcome { try meeting.stage.perform { try await channel.read() } } == .core(.connectionTimeout))
    #expect(outcome { try meeting.stage.perform { try await channel.write(Data([1])) } } == .core(.connectionTimeout))
  }

  @Test("A cancelled task closes a channel, and does not wait until the peer has all octets")
  func cancelledClosing() throws {
    let meeting = Meeting()
    let (channel, peripheral) = try open(meeting)
    try meeting.stage.perform { try await channel.write(Data(count: 500)) }
    let start = meeting.world.now
    let call = meeting.stage.start { () -> Outcome in
      withUnsafeCurrentTask { $0?.cancel() }
      return await asyncOutcome { try await channel.closeWhenSent() }
    }
    #expect(try meeting.stage.value(of: call) == .cancelled)
    #expect(meeting.world.now == start && channel.pendingCount == 0)
    #expect(try meeting.stage.perform { try await channel.read() } == nil)
    #expect(meeting.world.now == start)
    // Octets written before are still sent.
    #expect(meeting.stage.run(until: { meeting.sensor.received == 500 }, limit: .seconds(1)))
    #expect(peripheral.state == .connected)
  }

  @Test("A channel whose opening was cancelled closes when it opens")
  func cancelledOpening() throws {
    let meeting = Meeting()
    let peripheral = try meeting.connect()
    let psm = try #require(meeting.sensor.psm)
    let opening = meeting.stage.start { try await peripheral.openL2CAPChannel(psm) }
    meeting.stage.run(until: { peripheral.pendingCount == 1 })
    opening.cancel()
    #expect(outcome { try meeting.stage.value(of: opening) } == .cancelled)
    meeting.stage.run(for: .seconds(2))
    #expect(peripheral.pendingCount == 0)
    let channel = try meeting.stage.perform { try await peripheral.openL2CAPChannel(psm) }
    try meeting.stage.perform { try await channel.write(Data([9])) }
    #expect(try meeting.stage.perform { try await channel.read() } == Data([9]))
  }
}
