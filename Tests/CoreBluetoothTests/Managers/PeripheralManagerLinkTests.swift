import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import CoreBluetooth

/// Channels and links of a peripheral manager.
extension PeripheralManagerTests {
  @Test(
    "5.2 Publishing a channel reports its PSM or an error, and unpublishing reports the PSM", .requirement("A040"),
    .symbol(
      "CBPeripheralManagerDelegate.peripheralManager(_:didPublishL2CAPChannel:error:)",
      "CBPeripheralManagerDelegate.peripheralManager(_:didUnpublishL2CAPChannel:error:)"))
  func channels() {
    let bench = PeripheralHarness()
    bench.manager.publishL2CAPChannel(withEncryption: true)
    bench.manager.unpublishL2CAPChannel(0x80)
    var commands = bench.commands
    guard case .unpublishChannel(0x80) = commands.popLast(), case .publishChannel(true) = commands.popLast() else {
      Issue.record("not asked for")
      return
    }
    bench.adapter.tell(.channelPublished(psm: 0x80, nil))
    bench.adapter.tell(.channelPublished(psm: 0, .outOfSpace))
    #expect(bench.app.lastError?.code == .outOfSpace)
    bench.adapter.tell(.channelUnpublished(psm: 0x80, nil))
    #expect(bench.app.events == ["published 128", "published 0 failed", "unpublished 128"])
  }

  @Test(
    "A request for another latency reaches the daemon", .requirement("A037"),
    .symbol("CBPeripheralManager.setDesiredConnectionLatency(_:for:)"))
  func latency() {
    let bench = PeripheralHarness()
    let ids = bench.publish()
    bench.adapter.tell(.subscribed(bench.phone, ids.measurement))
    bench.manager.setDesiredConnectionLatency(.high, for: bench.app.centrals[0])
    guard case .setConnectionLatency(.high, bench.phone.handle)? = bench.commands.first else {
      Issue.record("not handed on")
      return
    }
  }
}
