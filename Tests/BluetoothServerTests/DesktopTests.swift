import Testing

@testable import BluetoothServer

@Suite("The texts of notifications on a desktop")
struct DesktopTests {
  @Test("The text of an app does not become markup")
  func markup() { #expect(DesktopNotifications.markup("<b>a</b> & b") == "&lt;b&gt;a&lt;/b&gt; &amp; b") }

  @Test("The text of a notification has no zero, no line break, and no change of direction")
  func harmless() { #expect(DesktopNotifications.harmless("a\0\n\u{202E}b") == #"a\u{0}\n\u{202E}b"#) }
}
