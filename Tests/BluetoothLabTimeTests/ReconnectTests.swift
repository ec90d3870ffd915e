import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import Foundation
import Testing

/// An app as for an iPhone that connects to a heart rate sensor, and connects again 5 s after each disconnection.
@MainActor private final class ReconnectingApp: NSObject, @preconcurrency CBCentralManagerDelegate {
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private var strap: CBPeripheral?
  private(set) var connections = 0
  var isConnected: Bool { strap?.state == .connected }

  func start() { _ = manager }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    strap = peripheral
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { connections += 1 }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    Task {
      try await Task.sleep(for: .seconds(5))
      manager.connect(peripheral)
    }
  }
}

@Suite(.serialized) struct ReconnectTests {
  @MainActor
  @Test("An app that connects again after a pause does so at the end of the pause")
  func appReconnects() async throws {
    let world = World(seed: 1)
    let strap = world.add(HeartRateSensor(), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))
    try await world.withAppTime {
      let app = ReconnectingApp()
      app.start()
      #expect(await world.run(until: { app.isConnected }))
      strap.setPower(false)
      #expect(await world.run(until: { !app.isConnected }))
      strap.setPower(true)
      let lost = world.now
      #expect(await world.run(until: { app.isConnected }))
      #expect((.seconds(5) ... .seconds(6)).contains(world.now - lost))
      #expect(app.connections == 2)
    }
  }
}
