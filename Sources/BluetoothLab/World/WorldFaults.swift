import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
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

  /// Ends all faults: nothing is struck any more, muted radios are back, what was still to come does not. A clock that
  /// drifts goes on drifting.
  public func removeFaults() {
    let faults = faults
    mailbox.perform { engine in faults.removeAll(in: engine) }
  }

  /// The faults that have struck, in the order of time; of more than 10,000 the latest.
  public var faultStrikes: [FaultStrike] { faults.strikes }
  /// How many faults have struck.
  public var faultStrikeCount: Int { faults.strikeCount }
}

extension RadioDevice {
  /// Has the faults of `plan` strike what this device sends or hears, its HCI, and itself.
  public func add(_ plan: FaultPlan) { world.add(plan, to: .device(radio)) }

  /// Has this device hear nobody and be heard by nobody until it is switched on again, whatever faults begin and end meanwhile.
  package func setRadio(isOn: Bool) {
    let (faults, radio) = (world.faults, radio)
    world.mailbox.perform { engine in faults.setRadio(isOn: isOn, radio, in: engine) }
  }
}
