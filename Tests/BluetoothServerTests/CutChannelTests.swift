import BluetoothWire
import NIOConcurrencyHelpers
import NIOEmbedded
import Testing

@testable import BluetoothDaemon
@testable import BluetoothDaemonProtocol
@testable import BluetoothServer

/// The end of a channel between a server and a program, after the server has taken octets of the program.
@Suite("Channels of a server that lose octets")
struct CutChannelTests {
  private final class Recorder: CentralClient {
    let channel = NIOLockedValueBox<ChannelInfo?>(nil)

    func receive(_ event: CentralEvent) {
      if case .channelOpened(_, .success(let info)) = event { channel.withLockedValue { $0 = info } }
    }
  }

  private let handle = ChannelHandle(key: SlotKey(rawValue: 7))

  @Test(
    "The server reports a loss of taken octets before the end of a channel that the peer closes",
    arguments: [true, false])
  func server(isCut: Bool) throws {
    let pipe = LocalSessions().makePipe()
    let outbox = Outbox(PeerDirectory(), for: nil, limit: 1 << 20) {}
    let proxy = ChannelProxy(OpenChannel(psm: 192, pipe: pipe), handle, outbox) {}
    #expect(proxy.receive(ByteSlice([1, 2, 3])))
    // The host has the octets, and the peer closes the channel.
    _ = pipe.removeSent(3)
    pipe.finish(.closed, isCut: isCut)
    proxy.channelChanged()
    var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
    parser.append(try outbox.takeOctets(withDirectory: false))
    var messages: [String] = []
    while let frame = try parser.next() {
      let message = try ServerMessage(frame, .none)
      messages.append("\(message)")
    }
    var expected = [ServerMessage.channelTaken(handle, octets: 3), .channelEnded(handle, .closed)]
    if isCut { expected.insert(.channelCut(handle), at: 1) }
    #expect(messages == expected.map { "\($0)" })
  }

  @Test(
    "The final end of a program's channel is a loss if the server reports one, and closed otherwise",
    arguments: [true, false])
  func program(isCut: Bool) throws {
    let sessions = LocalSessions()
    let runner = ServerRunner(
      ServerSpecifier(.unix(path: "/no-server")), Hello(), sessions: sessions, directory: PeerDirectory(),
      on: EmbeddedEventLoop(), stop: { _, _ in })
    let recorder = Recorder()
    let session = CentralSession(client: recorder, in: sessions)
    runner.pump()
    let opened = CentralEvent.channelOpened(PeerHandle(index: 0), .success(ChannelInfo(handle: handle, psm: 192)))
    runner.handle(ServerMessage.central(SessionNumber(1), opened))
    let info = try #require(recorder.channel.withLockedValue { $0 })
    let channel = try #require(session.takeChannel(info))
    let octets: [UInt8] = [1, 2, 3]
    #expect(octets.withUnsafeBytes { channel.pipe.write($0) } == 3)
    channel.pipe.tellDaemon()
    runner.pump()
    runner.handle(ServerMessage.channelTaken(handle, octets: 3))
    if isCut { runner.handle(ServerMessage.channelCut(handle)) }
    runner.handle(ServerMessage.channelEnded(handle, .closed))
    #expect(channel.pipe.end == .closed)
    let finalEnd: ChannelEnd = isCut ? .lost(.link(.connectionTerminatedByLocalHost)) : .closed
    #expect(channel.pipe.finalEnd == finalEnd)
  }
}
