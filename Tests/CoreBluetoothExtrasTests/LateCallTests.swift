import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import TestSupport
import Testing

@testable import CoreBluetoothExtras

/// Returns the name of an object in the log, without its state.
private func name(of object: NSObject) -> String { String("\(object)".prefix { $0 != "," && $0 != ">" }) }

@Suite struct LateCallTests {
  @Test("A call whose link ends between its check and its start ends with the link, and is not reported as misuse")
  func link() throws {
    let log = LogRecorder()
    let meeting = Meeting()
    let (stage, central, peripheral) = (meeting.stage, meeting.central, try meeting.connect())
    let read = stage.start {
      try await peripheral.perform(.rssi, returning: Int?.self, within: nil) { peer in
        // In the place of another thread.
        central.manager?.cancelPeripheralConnection(peer)
        peer.readRSSI()
      }
    }
    #expect(outcome { try stage.value(of: read) } == .core(.operationCancelled))
    #expect(peripheral.pendingCount == 0)
    #expect(log.lines(containing: name(of: peripheral.peer)).filter { $0.hasPrefix("API MISUSE") }.isEmpty)
  }

  @Test("A call of a central or of a peripheral that comes while Bluetooth is not on is not reported as misuse")
  func power() throws {
    let log = LogRecorder()
    let meeting = LocalMeeting()
    let central = try #require(meeting.central.with { Unchecked($0.manager) }.value)
    let peripheral = try #require(meeting.local.with { Unchecked($0.manager) }.value)
    // Bluetooth is not on yet.
    central.stopScan()
    peripheral.stopAdvertising()
    for manager in [central, peripheral] as [NSObject] {
      #expect(log.lines(containing: name(of: manager)).filter { $0.hasPrefix("API MISUSE") }.isEmpty)
    }
  }
}
