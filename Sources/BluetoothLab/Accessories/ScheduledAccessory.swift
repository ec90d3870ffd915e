/// An accessory whose advertising intervals can be set.
package protocol ScheduledAccessory: Accessory {
  /// The advertising intervals after power-on and after each disconnection.
  var advertisingSchedule: [Advertising.Phase] { get set }
}

extension BatteryPack: ScheduledAccessory {}
extension BloodPressureMonitor: ScheduledAccessory {}
extension CyclingPowerMeter: ScheduledAccessory {}
extension CyclingSensor: ScheduledAccessory {}
extension FinderTag: ScheduledAccessory {}
extension Flashlight: ScheduledAccessory {}
extension GlucoseMeter: ScheduledAccessory {}
extension HeartRateSensor: ScheduledAccessory {}
extension KeyFob: ScheduledAccessory {}
extension Keyboard: ScheduledAccessory {}
extension LocationSensor: ScheduledAccessory {}
extension Mouse: ScheduledAccessory {}
extension NotifyingPhone: ScheduledAccessory {}
extension Pedometer: ScheduledAccessory {}
extension PinBoard: ScheduledAccessory {}
extension RunningSensor: ScheduledAccessory {}
extension SensorTag: ScheduledAccessory {}
extension Telephone: ScheduledAccessory {}
extension Thermometer: ScheduledAccessory {}
extension WeightScale: ScheduledAccessory {}
