import AccessoryPlayer
import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("The button of a key fob on an adapter") struct PlayedButtonTests {
  /// A played key fob whose central, the phone, has used it, and may have Immediate Alert.
  private struct Scene {
    let played: PlayedScene<KeyFob>
    let fob: Peripheral
    let phone: LocalPeripheral
    let alerts = Box<[Data]>([])

    init(writesToCentrals: Bool = true, hasService: Bool = true, properties: CBCharacteristicProperties = .write) throws
    {
      played = PlayedScene(KeyFob(), writesToCentrals: writesToCentrals)
      phone = LocalPeripheral(adapter: played.phone)
      if hasService { try Self.publish(properties, on: phone, played.stage, alerts) }
      fob = try played.connect()
      let fob = fob
      // A played accessory meets its central at the first request.
      _ = try played.stage.perform { try await ProximityClient(fob).transmitPower() }
    }

    static func publish(
      _ properties: CBCharacteristicProperties, on phone: LocalPeripheral, _ stage: AppStage, _ alerts: Box<[Data]>
    ) throws {
      let level = LocalCharacteristic(CBUUID(string: "2A06"), properties, write: { alerts.append($0.value) })
      try stage.perform {
        try await phone.waitUntilPoweredOn()
        try await phone.add(LocalService(CBUUID(string: "1802"), [level]))
      }
    }

    /// Presses the button, and waits for the result.
    func press() -> KeyFob.PressResult? {
      played.played.act { fob, context in fob.pressButton(in: &context) }
      played.stage.run(for: .seconds(1))
      return played.played.accessory.lastPress
    }
  }

  @Test("The button of a played key fob makes an app of its central sound, over the link that the app has made")
  func sound() throws {
    for properties: CBCharacteristicProperties in [.write, .writeWithoutResponse] {
      let scene = try Scene(properties: properties)
      #expect(scene.press() == .sent)
      scene.played.played.update { $0.buttonAlert = .mildAlert }
      #expect(scene.press() == .sent)
      #expect(scene.alerts.value == [Data([2]), Data([1])])
      #expect(scene.played.world.statistics.devices.allSatisfy { $0.links.count == 1 })
      // The use of the link by the fob does not prolong it.
      let fob = scene.fob
      try scene.played.stage.perform { try await fob.disconnect() }
      scene.played.stage.run(for: .seconds(1))
      #expect(scene.press() == .notConnected)
      #expect(try scene.played.connect().id == fob.id)
    }
  }

  @Test(
    "The button of a played key fob says that the central lacks the service, or that the player has no central role")
  func failures() throws {
    let scene = try Scene(hasService: false)
    #expect(scene.press() == .failed(.notFound))
    try Scene.publish(.write, on: scene.phone, scene.played.stage, scene.alerts)
    // Service Changed arrives.
    scene.played.stage.run(for: .seconds(1))
    #expect(scene.press() == .sent)
    #expect(try Scene(writesToCentrals: false).press() == .failed(.notSupported))
    let reader = try Scene(properties: .read)
    #expect(reader.press() == .failed(.notFound))
  }
}
