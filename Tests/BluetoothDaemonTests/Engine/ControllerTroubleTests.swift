import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

/// The reaction to a controller that fails.
struct ControllerTroubleTests {
  @Test("Each controller failure gives a log line, and apps see resetting and then poweredOn", .requirement("G007"))
  func hardwareError() {
    let air = DaemonNetwork()
    let hub = air.add("Hub")
    let app = Phone(air, hub)
    let device = air.devices[hub]
    #expect(device.daemon.takeTrouble() == nil)
    _ = app.takeEvents()
    device.daemon.receive(HCI.Event.hardwareError(0x42).packet(in: device.pool), at: air.now)
    air.run()
    #expect(app.takeEvents() == ["state resetting", "state poweredOn"])
    var lines: [String] = []
    while let trouble = device.daemon.takeTrouble() { lines.append(trouble.description) }
    #expect(
      lines == [
        "The controller reports Hardware Error 0x42.", "Resetting the controller, attempt 1 of 5.",
        "The controller works again.",
      ])
  }

  @Test("A log that is never read does not grow")
  func unread() {
    let air = DaemonNetwork()
    let hub = air.add("Hub")
    let device = air.devices[hub]
    for code in UInt8.min...UInt8.max {
      let event = HCI.Event.dataBufferOverflow(linkType: code)
      device.daemon.receive(event.packet(in: device.pool), at: air.now)
    }
    var count = 0
    while device.daemon.takeTrouble() != nil { count += 1 }
    #expect(count == 32)
  }
}
