import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The state and the formats of the Apple Notification Center Service.
@Suite("Apple Notification Center Service")
struct NotificationProviderTests {
  private typealias Service = AppleNotificationService

  private static func provider() -> NotificationProvider {
    let provider = NotificationProvider()
    provider.placement = GATTServicePlacement(range: 16...24, values: [18, 21, 23])
    provider.clients.append(.init(connection: HCI.ConnectionHandle(rawValue: 1)))
    return provider
  }

  @Test("The number of notifications is limited: the oldest is removed")
  func limit() {
    let provider = Self.provider()
    for number in 0..<NotificationStore.maximumCount + 2 {
      provider.post(SystemNotification(identifier: "\(number)", app: "app"), date: "")
    }
    #expect(provider.entries.count == NotificationStore.maximumCount)
    #expect(provider.entries.first?.notification.identifier == "2")
  }

  @Test("A notification that changes its category is removed and added again")
  func category() {
    let provider = Self.provider()
    var notification = SystemNotification(identifier: "one", app: "app")
    provider.clients[0].wantsEvents = true
    provider.beginSession(of: 0)
    provider.post(notification, date: "")
    notification.category = .email
    provider.post(notification, date: "")
    #expect(provider.clients[0].waiting.map { $0.1.bytes[0] } == [0, 2, 0])
    #expect(provider.entries.map(\.uid) == [2])
  }

  @Test("An accessory that subscribes once more gets the events from the beginning, and its responses still wait")
  func repeatedSubscription() {
    let provider = Self.provider()
    provider.post(SystemNotification(identifier: "one", app: "app"), date: "")
    provider.restartSession(of: 0)
    provider.beginSession(of: 0)
    #expect(provider.respond([1], to: 0, partLength: 20))
    provider.post(SystemNotification(identifier: "two", app: "app"), date: "")
    provider.restartSession(of: 0)
    provider.beginSession(of: 0)
    #expect(provider.clients[0].waiting.map { $0.1.bytes.count } == [1, 8, 8])
    #expect(provider.clients[0].waiting.dropFirst().map { $0.1.bytes[4] } == [1, 2])
  }

  @Test("The values that wait for an accessory that takes none are limited")
  func waiting() {
    let provider = Self.provider()
    provider.clients[0].wantsEvents = true
    provider.beginSession(of: 0)
    for number in 0..<2_000 { provider.post(SystemNotification(identifier: "\(number)", app: "app"), date: "") }
    #expect(provider.clients[0].waiting.count == NotificationProvider.maximumWaitingCount)
    #expect(!provider.respond([1, 2, 3], to: 0, partLength: 20))
    provider.endSession(of: 0)
    #expect(provider.clients[0].waiting.isEmpty)
    #expect(provider.respond([1, 2, 3], to: 0, partLength: 2))
    #expect(provider.clients[0].waiting.map { $0.1.bytes } == [[1, 2], [3]])
  }

  @Test("Any octets are a command or one of the three errors")
  func anyOctets() {
    var random = RandomStream(seed: 7)
    var accepted = 0
    for _ in 0..<5_000 {
      let count = Int(random.next() % 12)
      var octets = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() % 10) }
      if !octets.isEmpty { octets[0] %= 4 }
      do throws(ATT.ErrorCode) {
        _ = try Service.Command(ByteSlice(octets))
        accepted += 1
      } catch {
        #expect((0xA0...0xA2).contains(error.rawValue))
      }
    }
    #expect(accepted > 10)
  }

  @Test(
    "The Date attribute has the calendar's date and the time in UTC",
    arguments: [
      (Int64(0), "20010101T000000"), (5_097_599, "20010228T235959"), (5_097_600, "20010301T000000"),
      (99_792_000, "20040301T000000"), (817_689_600, "20261130T000000"),
    ])
  func date(_ seconds: Int64, _ text: String) {
    #expect(notificationDate(seconds) == text)
  }
}
