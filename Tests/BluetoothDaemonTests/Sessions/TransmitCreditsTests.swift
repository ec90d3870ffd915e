import Testing

@testable import BluetoothDaemon

@Suite("Transmit credits")
struct TransmitCreditsTests {
  let credits = TransmitCredits(capacity: 2)

  @Test("No more credits can be taken than exist")
  func takes() {
    #expect(credits.take())
    #expect(credits.take())
    #expect(!credits.take())
    #expect(!credits.isAvailable)
  }

  @Test("A returned credit is reported once after a request was refused")
  func announcedOnce() {
    _ = credits.take()
    _ = credits.take()
    _ = credits.take()
    #expect(credits.put())
    #expect(!credits.put())
  }

  @Test("A returned credit is not reported if no request was refused")
  func notAnnounced() {
    _ = credits.take()
    _ = credits.take()
    #expect(!credits.put())
  }

  @Test("Reading an empty counter counts as a refused request")
  func lookingIsWaiting() {
    _ = credits.take()
    _ = credits.take()
    #expect(!credits.isAvailable)
    #expect(credits.put())
    #expect(credits.isAvailable)
  }

  @Test("The credits never exceed the capacity")
  func capacity() {
    _ = credits.put(10)
    #expect(credits.take())
    #expect(credits.take())
    #expect(!credits.take())
  }
}
