import BluetoothController
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

extension World {
  /// Adds a device whose controller serves an external host. The controllers of successive hosts have the same address
  /// and position.
  ///
  /// - Parameter aclBuffers: the number of ACL data buffers; ignored for a Bluetooth 4.0 controller, which has a fixed
  ///   number.
  func addExternalHostDevice(
    named name: String, _ options: DeviceOptions, aclBuffers: Int, outlet: any HCISink & Sendable
  ) -> RadioDevice {
    register(name, options) {
      let configuration = options.configuration(named: name)
      let environment = environment
      let radio = requestQueue.addDevice(radio: configuration.radio) { engine, radio in
        let generator = engine.generator.split("device " + name)
        var controller = configuration.controller(random: generator)
        if !configuration.isBluetooth40 { controller.aclBufferCount = aclBuffers }
        return ExternalHostDevice(
          controller, settings: StationSettings(of: radio, in: environment, named: name), generator: generator,
          pool: engine.pool, outlet: outlet)
      }
      return RadioDevice(name: name, radio: radio, world: self)
    }
  }
}
