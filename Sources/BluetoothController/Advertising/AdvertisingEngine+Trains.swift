import BluetoothRadio
import BluetoothWire

/// The periodic advertising trains of the local sets · Vol 6, Part B, 4.4.2.12.
extension AdvertisingEngine {
  /// Starts the train of a set if it is enabled, does not exist yet, and the set advertises.
  mutating func startTrain(
    _ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) {
    guard let set = sets[index], let periodic = set.periodic, periodic.isEnabled, periodic.advertiser == nil,
      let identity = set.advertiser?.identity
    else { return }
    let activityID = radio.scheduler.add(.periodicAdvertising(index))
    let interval = LL.SyncInfo.intervalUnit * Int64(periodic.properties.interval)
    // Starts where no other activity has a timeslot at present.
    let start = radio.scheduler.gap(of: .milliseconds(5), from: now + interval, before: now + interval * 2)
    let advertiser = PeriodicAdvertiser(
      periodic.properties, of: identity, data: periodic.data,
      dataInfo: set.trainDataInfo,
      sleepClockAccuracy: device.sleepClockAccuracy,
      channelMap: device.channelMap, clock: device.clock, activityID: activityID, random: &device.random, start: start)
    sets[index]?.periodic?.advertiser = advertiser
    radio.scheduler[activityID] = advertiser.timeslot
    // AUX_ADV_IND carries the train's SyncInfo from now on.
    contentChanged(index, device: &device, radio: &radio)
  }

  /// Ends the train of a set.
  mutating func stopTrain(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    guard let activityID = sets[index]?.periodic?.advertiser?.activityID else { return }
    radio.scheduler.remove(activityID)
    sets[index]?.periodic?.advertiser = nil
    radio.abandon(.periodicAdvertising(index))
    contentChanged(index, device: &device, radio: &radio)
  }

  /// Applies new data of the train, or data that receivers treat as new; a new DID indicates them.
  mutating func renewTrainData(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    sets[index]?.periodic?.dataID = UInt16(truncatingIfNeeded: device.random.next()) & 0xFFF
    guard let set = sets[index], let periodic = set.periodic else { return }
    sets[index]?.periodic?.advertiser?.setData(periodic.data, set.trainDataInfo)
    if !radio.owner.isActivity(.periodicAdvertising(index)) { scheduleTrain(index, radio: &radio) }
  }

  /// Applies the host's channel classification to all sets. Receivers of trains get an announcement before the map
  /// changes.
  mutating func channelsChanged(device: inout LocalDevice, radio: inout RadioControl) {
    for index in sets.indices { sets[index]?.advertiser?.auxiliary?.channelMap = device.channelMap }
    for index in sets.indices {
      sets[index]?.periodic?.advertiser?.setChannelMap(device.channelMap)
      if !radio.owner.isActivity(.periodicAdvertising(index)) { scheduleTrain(index, radio: &radio) }
    }
  }

  private mutating func scheduleTrain(_ index: Int, radio: inout RadioControl) {
    guard let activityID = sets[index]?.periodic?.advertiser?.activityID else { return }
    radio.scheduler[activityID] = sets[index]?.periodic?.advertiser?.timeslot
  }

  /// Sends the next packet of a train. Called when the radio is available.
  mutating func beginTrainEvent(
    _ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> RadioStep {
    sets[index]?.periodic?.advertiser?.begin(at: now, scheduler: radio.scheduler, in: device.pool) ?? .done
  }

  /// Handles a packet of a train for which the radio was not free in time.
  mutating func loseTrainEvent(_ index: Int, radio: inout RadioControl) {
    sets[index]?.periodic?.advertiser?.lose()
    scheduleTrain(index, radio: &radio)
  }

  /// Ends a packet of a train. Called when the train has released the radio.
  mutating func endTrainEvent(_ index: Int, radio: inout RadioControl) {
    sets[index]?.periodic?.advertiser?.end()
    scheduleTrain(index, radio: &radio)
  }

  /// Applies the accuracy of the local clock to all sets.
  mutating func setSleepClock(_ accuracy: LL.SleepClockAccuracy, partsPerMillion: Int64) {
    for index in sets.indices {
      sets[index]?.periodic?.advertiser?.sleepClockAccuracy = accuracy
      sets[index]?.advertiser?.auxiliary?.isClockAccurate = partsPerMillion <= 50
    }
  }
}
