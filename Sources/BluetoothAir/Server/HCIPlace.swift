import BluetoothController
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

extension World {
  /// Adds a device for a host that joins by HCI. All its controllers have the same address and position.
  func addPlace(
    named name: String, _ options: DeviceOptions, aclBuffers: Int, outlet: any HCIOutlet & Sendable
  ) -> RadioDevice {
    register(name, options) {
      let configuration = options.configuration(named: name)
      let environment = environment
      let radio = mailbox.addDevice(radio: configuration.radio) { engine, radio in
        let generator = engine.generator.split("device " + name)
        var controller = configuration.controller(random: generator)
        if !configuration.isBluetooth40 { controller.aclBufferCount = aclBuffers }
        return HCIParticipant(
          controller, settings: StationSettings(of: radio, in: environment, named: name), generator: generator,
          pool: engine.pool, outlet: outlet)
      }
      return RadioDevice(name: name, radio: radio, world: self)
    }
  }
}
