import BluetoothWire
import DequeModule
import Testing

@testable import BluetoothDaemon

@Suite("Sessions of one process")
struct SessionTests {
  let sessions = LocalSessions()
  let client = CentralRecorder()

  func take() -> [String] {
    var requests = Deque<DaemonRequest>()
    sessions.requests.takeAll(&requests)
    return requests.map { request in
      switch request {
      case .openCentral: "opened"
      case .central(_, .stopScan, _): "stopScan"
      case .central(_, .readRSSI(let peer), _): "readRSSI \(peer.index)"
      case .closeCentral: "closed"
      default: "other"
      }
    }
  }

  @Test("A session's messages arrive in the order in which they were sent, between opening and closing")
  func order() {
    let session = CentralSession(client: client, in: sessions)
    session.send(.stopScan)
    session.send(.readRSSI(PeerHandle(index: 7)))
    session.close()
    #expect(take() == ["opened", "stopScan", "readRSSI 7", "closed"])
    #expect(sessions.requests.isEmpty)
  }

  @Test("A session that is closed twice ends once")
  func closedTwice() {
    let session = CentralSession(client: client, in: sessions)
    session.close()
    session.close()
    #expect(take() == ["opened", "closed"])
  }

  @Test("The executor is woken once for all pending messages")
  func wakesOnce() {
    let executor = WakeCounter()
    sessions.requests.setExecutor(executor)
    let session = CentralSession(client: client, in: sessions)
    session.send(.stopScan)
    #expect(executor.wakes == 1)
    _ = take()
    session.send(.stopScan)
    #expect(executor.wakes == 2)
  }

  @Test("A session does not retain its client, and a closed one does not reach it")
  func weakClient() {
    var gone: CentralRecorder? = CentralRecorder()
    let session = CentralSession(client: gone!, in: sessions)
    #expect(sessions.client(of: session.id) === gone)
    gone = nil
    #expect(sessions.client(of: session.id) == nil)
    let closed = CentralSession(client: client, in: sessions)
    closed.close()
    #expect(sessions.client(of: closed.id) == nil)
  }

  @Test("The identifier of a closed session identifies no later session")
  func identifiers() {
    let first = CentralSession(client: client, in: sessions)
    first.close()
    let second = CentralSession(client: client, in: sessions)
    #expect(first.id != second.id)
    sessions.deliver(.central(first.id, .stateChanged(.poweredOn)))
    #expect(client.take().isEmpty)
    sessions.deliver(.central(second.id, .stateChanged(.poweredOn)))
    #expect(client.take().count == 1)
  }

  @Test("An event for a deallocated client closes its session, and a channel in it")
  func deallocatedClient() throws {
    var gone: CentralRecorder? = CentralRecorder()
    let session = CentralSession(client: try #require(gone), in: sessions)
    gone = nil
    let pipe = sessions.makePipe()
    let channel = ChannelInfo(handle: pipe.handle, psm: 0x80)
    sessions.deliver(.central(session.id, .channelOpened(PeerHandle(index: 0), .success(channel))))
    #expect(take() == ["opened", "other", "closed"])
    #expect(pipe.end == .closed)
    #expect(sessions.takeChannel(channel) == nil)
  }
}
