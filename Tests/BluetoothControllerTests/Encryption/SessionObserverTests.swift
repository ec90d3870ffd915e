import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothController

@Suite struct SessionObserverTests {
  private final class Notebook: SessionObserver {
    var sessions: [LL.SessionRecord] = []

    func sessionBegins(_ session: LL.SessionRecord, at now: Instant) { sessions.append(session) }
  }

  private let search = KeySearch((0..<16).map { UInt8(truncatingIfNeeded: testKey >> (8 * $0)) })

  @Test("Both ends report the keys of a session when it begins, and again after a key refresh")
  func sessions() throws {
    let (central, peripheral) = (Notebook(), Notebook())
    let link = try LinkHarness.encrypted { first, second in
      first.controller.setSessionObserver(central)
      second.controller.setSessionObserver(peripheral)
    }
    #expect(central.sessions == peripheral.sessions)
    #expect(central.sessions.count == 1)
    let first = try #require(central.sessions.first)
    #expect(first.accessAddress == link.accessAddress)
    #expect(first.central == link.central.address)
    #expect(first.peripheral == link.peripheral.address)
    #expect(first.keys.longTermKey.value == testKey)

    #expect(link.enableEncryption() == .success)
    link.air.run(until: { !link.central.encryptionChanges.isEmpty })
    #expect(central.sessions == peripheral.sessions)
    #expect(central.sessions.count == 2)
    let requests = link.controlPDUs.compactMap { sent -> LL.SessionPart? in
      if case .encReq(_, _, let part) = sent.pdu { part } else { nil }
    }
    #expect(requests == central.sessions.suffix(1).map(\.keys.central))
  }

  @Test("An observer that was removed gets no more sessions, and a reset keeps the observer")
  func removal() throws {
    let notebook = Notebook()
    let link = try LinkHarness.encrypted { first, _ in first.controller.setSessionObserver(notebook) }
    link.central.controller.setSessionObserver(nil)
    #expect(link.enableEncryption() == .success)
    link.air.run(until: { !link.central.encryptionChanges.isEmpty })
    #expect(notebook.sessions.count == 1)
    link.central.controller.setSessionObserver(notebook)
    link.central.send(.reset)
    #expect(link.central.controller.device.output.sessions === notebook)
  }

  @Test("The descriptions of a connection's encryption state omit the key")
  func descriptions() throws {
    let request = Encryption.Request(random: 1, encryptedDiversifier: 2, longTermKey: Secret(testKey))
    #expect(!search.finds(in: request))
    var list = ResolvingList()
    #expect(list.add(HCI.PeerAddress(type: 0, value: 1), peerIRK: testKey, localIRK: testKey) == .success)
    #expect(!search.finds(in: list))
    let link = try LinkHarness.encrypted()
    #expect(!search.finds(in: try #require(link.central.controller.connections.first).encryption))
  }
}
