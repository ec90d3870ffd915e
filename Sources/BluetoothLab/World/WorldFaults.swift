import BluetoothRadio
import BluetoothServer
import BluetoothWire

extension World {
  /// Has the faults of `plan` strike wherever they match.
  public func add(_ plan: FaultPlan) { add(plan, to: .world) }

  /// Has the faults of `plan` strike what these two send to each other, and (for faults at HCI and of devices) these two.
  public func add(_ plan: FaultPlan, between first: RadioDevice, and second: RadioDevice) {
    add(plan, to: .link(first.radio, second.radio))
  }

  func add(_ plan: FaultPlan, to scope: FaultScope) {
    let (faults, environment) = (faults, environment)
    mailbox.perform { engine in
      environment.faults = faults
      faults.add(plan, to: scope, in: engine)
    }
  }

  /// The faults that have struck, in the order of time.
  public var faultStrikes: [FaultStrike] { faults.strikes }
}

extension RadioDevice {
  /// Has the faults of `plan` strike what this device sends or hears, its HCI, and itself.
  public func add(_ plan: FaultPlan) { world.add(plan, to: .device(radio)) }
}
