import Testing

@testable import BluetoothDaemon

@Suite("Transmit credits")
struct TransmitCreditsTests {
  let credits = TransmitCredits(capacity: 2)

  @Test("As many can be taken as there are")
  func takes() {
    #expect(credits.take())
    #expect(credits.take())
    #expect(!credits.take())
    #expect(!credits.isAvailable)
  }

  @Test("A credit that comes back is announced when somebody was refused one, and only once")
  func announcedOnce() {
    _ = credits.take()
    _ = credits.take()
    _ = credits.take()
    #expect(credits.put())
    #expect(!credits.put())
  }

  @Test("A credit that comes back is not announced when nobody was refused one")
  func notAnnounced() {
    _ = credits.take()
    _ = credits.take()
    #expect(!credits.put())
  }

  @Test("Looking at an empty counter is waiting, too")
  func lookingIsWaiting() {
    _ = credits.take()
    _ = credits.take()
    #expect(!credits.isAvailable)
    #expect(credits.put())
    #expect(credits.isAvailable)
  }

  @Test("There are never more than the capacity")
  func capacity() {
    _ = credits.put(10)
    #expect(credits.take())
    #expect(credits.take())
    #expect(!credits.take())
  }
}
