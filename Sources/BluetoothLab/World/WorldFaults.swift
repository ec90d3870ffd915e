import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

extension World {
  /// Applies the faults of `plan` to the whole world.
  public func add(_ plan: FaultPlan) { add(plan, to: .world) }

  /// Applies the faults of `plan` to packets between two devices and, for HCI and device faults, to these two
  /// devices.
  public func add(_ plan: FaultPlan, between first: RadioDevice, and second: RadioDevice) {
    add(plan, to: .link(first.radio, second.radio))
  }

  func add(_ plan: FaultPlan, to scope: FaultScope) {
    let (faults, environment) = (faults, environment)
    requestQueue.perform { engine in
      environment.faults = faults
      faults.add(plan, to: scope, in: engine)
    }
  }

  /// Removes all faults: cancels scheduled faults, and ends those in progress, such as muting. Clock drift remains.
  public func removeFaults() {
    let faults = faults
    requestQueue.perform { engine in faults.removeAll(in: engine) }
  }

  /// The faults of the whole world that have been added and not removed.
  package var faultPlan: FaultPlan { faults.plan }

  /// The faults that have struck, in order of time; only the latest 10,000.
  public var faultEvents: [FaultEvent] { faults.events }
  /// The number of faults that have struck.
  public var faultEventCount: Int { faults.eventCount }
}

extension RadioDevice {
  /// Applies the faults of `plan` to the packets that this device sends or receives, to its HCI, and to the device
  /// itself.
  public func add(_ plan: FaultPlan) { world.add(plan, to: .device(radio)) }

  /// Turns the device's radio on or off. While it is off, the radio neither transmits nor receives, whatever faults
  /// begin or end.
  package func setRadio(isOn: Bool) {
    let (faults, radio) = (world.faults, radio)
    world.requestQueue.perform { engine in faults.setRadio(isOn: isOn, radio, in: engine) }
  }
}
