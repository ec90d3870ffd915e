import CoreBluetooth
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothDaemon
@testable import BluetoothWire
@testable import CoreBluetooth

/// The streams of a channel in real time. The test plays the daemon at the other end of the pipe.
@Suite struct StreamTests {
  /// A thread with a run loop, in which streams send their events.
  private final class LoopThread: @unchecked Sendable {
    // All its properties are constants that every thread may use: locked boxes and semaphores.
    private let loop = NIOLockedValueBox<AppBox<RunLoop?>>(AppBox(value: nil))
    private let ready = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    let isOver = NIOLockedValueBox(false)

    /// - Parameter work: The code that runs first in the thread.
    init(_ work: @escaping @Sendable () -> Void) {
      let thread = Thread { [self] in
        work()
        loop.withLockedValue { $0.value = .current }
        ready.signal()
        // The loop runs as long as a source is scheduled in it.
        while !isOver.withLockedValue({ $0 }), RunLoop.current.run(mode: .default, before: .distantFuture) {}
        ended.signal()
      }
      thread.start()
      ready.wait()
    }

    /// Waits until the run loop has no more sources or has been stopped.
    func waitForEnd() -> Bool { ended.wait(timeout: .now() + 600) == .success }

    /// Stops the run loop, whatever is scheduled in it.
    func end() -> Bool {
      isOver.withLockedValue { $0 = true }
      let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in RunLoop.current._stop() }
      loop.withLockedValue { $0.value?.add(timer, forMode: .default) }
      return waitForEnd()
    }
  }

  private final class Delegate: NSObject, StreamDelegate, @unchecked Sendable {
    // A lock protects the recorded events; `onEvent` is set before the first event can arrive.
    let seen = DispatchSemaphore(value: 0)
    private let state = NIOLockedValueBox<[String]>([])
    var onEvent: (Stream, Stream.Event) -> Void = { _, _ in }
    var events: [String] { state.withLockedValue { $0 } }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
      let name: String
      switch eventCode {
      case .openCompleted: name = "open"
      case .hasBytesAvailable: name = "bytes"
      case .hasSpaceAvailable: name = "space"
      case .endEncountered: name = "end"
      case .errorOccurred: name = "error"
      default: name = "?"
      }
      state.withLockedValue { $0.append(name) }
      onEvent(aStream, eventCode)
      seen.signal()
    }

    func wait(for count: Int) -> Bool {
      (0..<count).allSatisfy { _ in seen.wait(timeout: .now() + 600) == .success }
    }
  }

  private final class Stand: @unchecked Sendable {
    // All its properties are constants; the pipe and the streams may be used from every thread.
    let pipe = LocalSessions().makePipe()
    let channel: CBL2CAPChannel
    let delegate = Delegate()

    init() {
      channel = CBL2CAPChannel(OpenChannel(psm: 0x80, pipe: pipe), peer: .none, isInVirtualTime: false)
    }

    /// Delivers octets of the peer, as the executor does.
    func receive(_ octets: [UInt8]) {
      #expect(pipe.receive(ByteSlice(octets)))
      if pipe.beginAnnouncement() { pipe.announce() }
    }

    func finish(_ end: ChannelEnd) {
      pipe.finish(end)
      if pipe.beginAnnouncement() { pipe.announce() }
    }

    func read(_ maximum: Int = 100) -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: maximum)
      let count = channel.inputStream.read(&buffer, maxLength: maximum)
      return Array(buffer.prefix(max(0, count)))
    }
  }

  @Test("The channel's events wake a run loop on the app's thread and arrive in order")
  func otherThread() {
    let stand = Stand()
    let thread = LoopThread {
      stand.channel.inputStream.delegate = stand.delegate
      stand.channel.inputStream.schedule(in: .current, forMode: .default)
      stand.channel.inputStream.open()
    }
    #expect(stand.delegate.wait(for: 1))
    stand.receive([1, 2, 3])
    #expect(stand.delegate.wait(for: 1))
    stand.receive([4])
    #expect(stand.read(2) == [1, 2], "what is left is told")
    #expect(stand.delegate.wait(for: 1))
    #expect(stand.read() == [3, 4])
    stand.finish(.closed)
    #expect(stand.delegate.wait(for: 1))
    #expect(stand.delegate.events == ["open", "bytes", "bytes", "end"])
    #expect(thread.end())
  }

  @Test("A scheduled stream keeps its run loop running, and a removed stream sends no more events")
  func removing() {
    let stand = Stand()
    let input = stand.channel.inputStream!
    stand.delegate.onEvent = { stream, event in
      if event == .hasBytesAvailable { stream.remove(from: .current, forMode: .default) }
    }
    let thread = LoopThread {
      stand.channel.inputStream.delegate = stand.delegate
      stand.channel.inputStream.schedule(in: .current, forMode: .default)
      stand.channel.inputStream.open()
    }
    stand.receive([1])
    #expect(thread.waitForEnd(), "nothing else is in the run loop")
    #expect(input.hasBytesAvailable && stand.read() == [1])
    stand.receive([2])
    #expect(stand.delegate.events == ["open", "bytes"])
  }

  @Test("A run loop that is run for one event returns after that event")
  func oneTurn() {
    let stand = Stand()
    let thread = LoopThread {
      stand.channel.inputStream.schedule(in: .current, forMode: .default)
      stand.channel.inputStream.open()
    }
    let isOver = thread.isOver
    stand.delegate.onEvent = { _, event in
      if event == .hasBytesAvailable { isOver.withLockedValue { $0 = true } }
    }
    stand.channel.inputStream.delegate = stand.delegate
    stand.receive([1])
    #expect(thread.waitForEnd())
  }

  @Test("Space is reported again once there is some, after all of it was used")
  func space() {
    let stand = Stand()
    let full = [UInt8](repeating: 7, count: ChannelPipe.capacity + 1)
    let counts = NIOLockedValueBox<[Int]>([])
    stand.delegate.onEvent = { stream, event in
      guard event == .hasSpaceAvailable, let output = stream as? OutputStream else { return }
      counts.withLockedValue { $0.append(output.write(full, maxLength: full.count)) }
    }
    let thread = LoopThread {
      stand.channel.outputStream.delegate = stand.delegate
      stand.channel.outputStream.schedule(in: .current, forMode: .default)
      stand.channel.outputStream.open()
    }
    #expect(stand.delegate.wait(for: 2))
    #expect(!stand.channel.outputStream.hasSpaceAvailable)
    #expect(stand.pipe.removeSent(500), "somebody waits for it")
    if stand.pipe.beginAnnouncement() { stand.pipe.announce() }
    #expect(stand.delegate.wait(for: 1))
    #expect(counts.withLockedValue { $0 } == [ChannelPipe.capacity, 500])
    #expect(stand.delegate.events == ["open", "space", "space"])
    #expect(thread.end())
  }

  @Test("Streams in the main run loop are served by the main queue too")
  func mainQueue() {
    let stand = Stand()
    stand.channel.inputStream.delegate = stand.delegate
    stand.channel.inputStream.schedule(in: .main, forMode: .default)
    stand.channel.inputStream.open()
    stand.receive([1])
    #expect(stand.delegate.wait(for: 2))
    #expect(stand.delegate.events == ["open", "bytes"])
    stand.channel.inputStream.close()
  }

  @Test("A delegate that is set late gets the pending events")
  func lateDelegate() {
    let stand = Stand()
    let thread = LoopThread {
      stand.channel.inputStream.schedule(in: .current, forMode: .default)
      stand.channel.inputStream.open()
    }
    stand.receive([1])
    stand.channel.inputStream.delegate = stand.delegate
    #expect(stand.delegate.wait(for: 2))
    #expect(stand.delegate.events == ["open", "bytes"])
    #expect(thread.end())
  }

  @Test("An app's credits return when it has read an SDU completely")
  func credits() {
    let stand = Stand()
    stand.channel.inputStream.open()
    stand.receive([1, 2, 3])
    stand.receive([4])
    stand.receive([5, 6])
    #expect(stand.read(2) == [1, 2] && stand.pipe.takeWork().readSDUs == 0)
    #expect(stand.read(3) == [3, 4, 5] && stand.pipe.takeWork().readSDUs == 2)
    stand.channel.inputStream.close()
    stand.channel.outputStream.close()
    #expect(stand.pipe.takeWork().readSDUs == 1, "what nobody will read is taken, too")
    #expect(!stand.pipe.receive([7]))
  }

  @Test("A failed stream first delivers the received data and then the error")
  func failure() {
    let stand = Stand()
    let (input, output) = (stand.channel.inputStream!, stand.channel.outputStream!)
    input.open()
    output.open()
    stand.receive([1])
    stand.finish(.lost(.timeout))
    #expect(input.streamStatus == .open && input.streamError == nil)
    #expect(output.streamStatus == .error && !output.hasSpaceAvailable)
    #expect(stand.read() == [1])
    #expect(input.streamStatus == .error && (input.streamError as? CBError)?.code == .connectionTimeout)
    var octet: UInt8 = 0
    #expect(input.read(&octet, maxLength: 1) == -1 && output.write(&octet, maxLength: 1) == -1)
    input.close()
    #expect(input.streamStatus == .closed && !input.hasBytesAvailable)
  }

  @Test("Octets that many threads write and read arrive complete")
  func manyThreads() {
    let stand = Stand()
    stand.channel.inputStream.open()
    let count = 2_000
    let sum = NIOLockedValueBox((octets: 0, sum: 0))
    DispatchQueue.concurrentPerform(iterations: 3) { number in
      if number == 0 {
        for value in 0..<count { stand.receive([UInt8(value % 251), 1]) }
      } else {
        while sum.withLockedValue({ $0.octets }) < 2 * count {
          let octets = stand.read(7)
          let part = octets.reduce(0) { sum, octet in sum + Int(octet) }
          sum.withLockedValue { $0 = ($0.octets + octets.count, $0.sum + part) }
        }
      }
    }
    let expected = (0..<count).reduce(0) { sum, value in sum + value % 251 + 1 }
    #expect(sum.withLockedValue { $0.sum } == expected)
  }
}
