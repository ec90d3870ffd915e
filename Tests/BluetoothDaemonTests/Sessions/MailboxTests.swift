import BluetoothWire
import DequeModule
import Testing

@testable import BluetoothDaemon

@Suite("Mailbox")
struct MailboxTests {
  let mailbox = Mailbox()
  let client = CentralRecorder()

  func take() -> [String] {
    var mail = Deque<Mail>()
    mailbox.takeAll(&mail)
    return mail.map { mail in
      switch mail {
      case .centralOpened: "opened"
      case .central(_, .stopScan, _): "stopScan"
      case .central(_, .readRSSI(let peer), _): "readRSSI \(peer.index)"
      case .centralClosed: "closed"
      default: "other"
      }
    }
  }

  @Test("A session's messages arrive in the order in which they were sent, between opening and closing")
  func order() {
    let session = CentralSession(client: client, mailbox: mailbox)
    session.send(.stopScan)
    session.send(.readRSSI(PeerHandle(index: 7)))
    session.close()
    #expect(take() == ["opened", "stopScan", "readRSSI 7", "closed"])
    #expect(mailbox.isEmpty)
  }

  @Test("A session that is closed twice ends once")
  func closedTwice() {
    let session = CentralSession(client: client, mailbox: mailbox)
    session.close()
    session.close()
    #expect(take() == ["opened", "closed"])
  }

  @Test("The executor is woken once for all pending messages")
  func wakesOnce() {
    let executor = WakeCounter()
    mailbox.setExecutor(executor)
    let session = CentralSession(client: client, mailbox: mailbox)
    session.send(.stopScan)
    #expect(executor.wakes == 1)
    _ = take()
    session.send(.stopScan)
    #expect(executor.wakes == 2)
  }

  @Test("A session does not retain its client, and a closed one does not reach it")
  func weakClient() {
    var gone: CentralRecorder? = CentralRecorder()
    let session = CentralSession(client: gone!, mailbox: mailbox)
    #expect(session.client === gone)
    gone = nil
    #expect(session.client == nil)
    let closed = CentralSession(client: client, mailbox: mailbox)
    closed.close()
    #expect(closed.client == nil)
  }
}
