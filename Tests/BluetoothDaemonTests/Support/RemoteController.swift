import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// A controller at the other end of a socket, which answers commands and has no radio. Confined to its link's event loop.
final class RemoteController: H4Receiver, @unchecked Sendable {
  /// What the connections to one listener have in common.
  final class Place: Sendable {
    let opcodes = NIOLockedValueBox<[HCI.Opcode]>([])
    let links = NIOLockedValueBox<[NIOLoopBound<H4Handler>]>([])
    let opened: AsyncStream<NIOLoopBound<H4Handler>>
    let closed: AsyncStream<Int>
    fileprivate let opening: AsyncStream<NIOLoopBound<H4Handler>>.Continuation
    fileprivate let closing: AsyncStream<Int>.Continuation
    /// Whether commands are answered.
    let answers = NIOLockedValueBox(true)

    init() {
      (opened, opening) = AsyncStream.makeStream()
      (closed, closing) = AsyncStream.makeStream()
    }

    func makeLink() -> H4Handler {
      H4Handler(for: .controller, pool: PacketPool(), receiver: RemoteController(self))
    }
  }

  private let place: Place
  private let pool = PacketPool()
  private var controller = FakeController()

  init(_ place: Place) { self.place = place }

  func opened(_ link: H4Handler) {
    if let loop = link.eventLoop { place.opening.yield(NIOLoopBound(link, eventLoop: loop)) }
  }

  func receive(_ packet: HCI.Packet, on link: H4Handler) {
    guard case .command(let opcode, let parameters) = packet,
      let command = try? HCI.Command(opcode: opcode, parameters: parameters)
    else { return }
    place.opcodes.withLockedValue { $0.append(opcode) }
    if place.answers.withLockedValue({ $0 }) { link.send(controller.take(command).packet(in: pool)) }
  }

  func synchronizationLost(on link: H4Handler) { link.close() }
  func receivedAll(on link: H4Handler) { link.flush() }
  func closed(_ ending: H4Ending, on link: H4Handler) { place.closing.yield(ending.cut) }
}

/// A central manager's place, which tells of each thing as it comes.
final class CentralStream: CentralClient {
  let events: AsyncStream<CentralEvent>
  private let continuation: AsyncStream<CentralEvent>.Continuation

  init() { (events, continuation) = AsyncStream.makeStream() }

  func receive(_ event: CentralEvent) { continuation.yield(event) }
}

/// An app on an adapter whose controller is elsewhere.
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

  /// The next state that the app is told of.
  mutating func nextState() async -> AdapterState? {
    while let event = await events.next() {
      if case .stateChanged(let state) = event { return state }
    }
    return nil
  }
}
