import BluetoothController
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// A controller at the other end of a socket, with nothing on its radio. Confined to its link's event loop.
final class RemoteController: H4Receiver, @unchecked Sendable {
  /// The state shared by the connections to one listener.
  final class SharedState: Sendable {
    let opcodes = NIOLockedValueBox<[HCI.Opcode]>([])
    let links = NIOLockedValueBox<[NIOLoopBound<H4Handler>]>([])
    let opened: AsyncStream<NIOLoopBound<H4Handler>>
    let closed: AsyncStream<Int>
    fileprivate let opening: AsyncStream<NIOLoopBound<H4Handler>>.Continuation
    fileprivate let closing: AsyncStream<Int>.Continuation
    /// True if the next command closes its link instead of being answered.
    let closesAtNextCommand = NIOLockedValueBox(false)
    /// The number of the next connections on which the controller answers each command with Hardware Failure.
    let failingConnections = NIOLockedValueBox(0)

    init() {
      (opened, opening) = AsyncStream.makeStream()
      (closed, closing) = AsyncStream.makeStream()
    }

    func makeLink(_ writing: H4Handler.Writing = .stream) -> H4Handler {
      H4Handler(for: .controller, pool: PacketPool(), writing: writing, receiver: RemoteController(self))
    }
  }

  private let state: SharedState
  /// True if each command is answered with Hardware Failure.
  private var isFailing = false
  private var controller = Controller(
    configuration: ControllerConfiguration(address: DeviceAddress(0x0200_0000_0001, .public)),
    random: RandomStream(seed: 1), pool: PacketPool())

  init(_ state: SharedState) { self.state = state }

  func opened(_ link: H4Handler) {
    isFailing = state.failingConnections.withLockedValue { count in
      defer { count = max(0, count - 1) }
      return count > 0
    }
    if let loop = link.eventLoop { state.opening.yield(NIOLoopBound(link, eventLoop: loop)) }
  }

  func receive(_ packet: HCI.Packet, on link: H4Handler) {
    guard case .command(let opcode, _) = packet else { return }
    state.opcodes.withLockedValue { $0.append(opcode) }
    let closes = state.closesAtNextCommand.withLockedValue { closes in
      defer { closes = false }
      return closes
    }
    if closes { return link.close() }
    if isFailing {
      let code = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
      return link.send(octets: [0x04, 0x0E, 4, 1] + code + [HCI.ErrorCode.hardwareFailure.rawValue])
    }
    controller.receive(packet, at: .zero)
    while let answer = controller.takePacket() { link.send(answer) }
  }

  func synchronizationLost(on link: H4Handler) { link.close() }
  func receivedAll(on link: H4Handler) { link.flush() }
  func closed(_ ending: H4Ending, on link: H4Handler) { state.closing.yield(ending.cut) }
}

/// A central manager's client that streams each event as it arrives.
final class CentralStream: CentralClient {
  let events: AsyncStream<CentralEvent>
  private let continuation: AsyncStream<CentralEvent>.Continuation

  init() { (events, continuation) = AsyncStream.makeStream() }

  func receive(_ event: CentralEvent) { continuation.yield(event) }
}

/// An app on an adapter whose controller is remote.
struct DistantApp {
  let adapter: TransportAdapter
  let client = CentralStream()
  let session: CentralSession
  private var events: AsyncStream<CentralEvent>.Iterator

  init(_ adapter: TransportAdapter) {
    self.adapter = adapter
    session = adapter.openCentralSession(for: client)
    events = client.events.makeAsyncIterator()
  }

  /// Returns the next state event of the app.
  mutating func nextState() async -> AdapterState? {
    while let event = await events.next() {
      if case .stateChanged(let state) = event { return state }
    }
    return nil
  }
}
