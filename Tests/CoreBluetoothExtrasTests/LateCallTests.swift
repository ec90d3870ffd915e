import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import TestSupport
import Testing

@testable import CoreBluetoothExtras

/// Returns the name of an object in the log, without its state.
private func name(of object: NSObject) -> String { String("\(object)".prefix { $0 != "," && $0 != ">" }) }

/// A delegate of a central's manager that calls a function before the central gets the report of a connection.
private final class EarlyDelegate: NSObject, CBCentralManagerDelegate {
  private let delegate: CentralDelegate
  private let onConnection: () -> Void

  init(before delegate: CentralDelegate, _ onConnection: @escaping () -> Void) {
    (self.delegate, self.onConnection) = (delegate, onConnection)
    super.init()
  }

  func centralManagerDidUpdateState(_ manager: CBCentralManager) { delegate.centralManagerDidUpdateState(manager) }

  func centralManager(_ manager: CBCentralManager, didConnect peer: CBPeripheral) {
    onConnection()
    manager.delegate = delegate
    delegate.centralManager(manager, didConnect: peer)
  }
}

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

  @Test("A link that a call of connect has returned before its report stays if the earlier calls are cancelled then")
  func connection() throws {
    let meeting = Meeting()
    let (stage, central, peripheral) = (meeting.stage, meeting.central, try meeting.discover())
    let manager = try #require(central.manager)
    let original = try #require(central.with { Unchecked($0.delegate) }.value)
    let first = stage.start { try await peripheral.connect() }
    let second = Box<[Outcome]>([])
    let delegate = EarlyDelegate(before: original) {
      // In the place of other threads.
      #expect(peripheral.state == .connected && first.result == nil)
      Task(executorPreference: ImmediateExecutor()) {
        second.append(await asyncOutcome { try await peripheral.connect() })
      }
      #expect(second.value == [.success])
      first.cancel()
    }
    manager.delegate = delegate
    #expect(outcome { try stage.value(of: first) } == .cancelled)
    withExtendedLifetime(delegate) {}
    stage.run(for: .seconds(1))
    #expect(second.value == [.success])
    #expect(peripheral.state == .connected && peripheral.pendingCount == 0)
    #expect(peripheral.lastDisconnection == nil)
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
