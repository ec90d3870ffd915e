import BluetoothRadio
import BluetoothWire

/// The periodic advertising trains of the local sets · Vol 6, Part B, 4.4.2.12.
extension Controller {
  /// Starts the train of a set if it is enabled, does not exist yet, and the set advertises.
  mutating func startTrain(_ index: Int, at now: Instant) {
    guard let set = sets[index], let periodic = set.periodic, periodic.isEnabled, periodic.advertiser == nil,
      let identity = set.advertiser?.identity
    else { return }
    let place = agenda.add(.periodicAdvertising(index))
    let interval = LL.SyncInfo.intervalUnit * Int64(periodic.properties.interval)
    // Starts where no other activity has a claim at present.
    let start = agenda.gap(of: .milliseconds(5), from: now + interval, before: now + interval * 2)
    let advertiser = PeriodicAdvertiser(
      periodic.properties, of: identity, data: periodic.data,
      dataInfo: set.trainDataInfo,
      sleepClockAccuracy: sleepClockAccuracy,
      channelMap: host.channelMap, clock: clock, place: place, random: &random, start: start)
    sets[index]?.periodic?.advertiser = advertiser
    agenda[place] = advertiser.claim
    // AUX_ADV_IND carries the train's SyncInfo from now on.
    contentChanged(index)
  }

  /// Ends the train of a set.
  mutating func stopTrain(_ index: Int) {
    guard let place = sets[index]?.periodic?.advertiser?.place else { return }
    agenda.remove(place)
    sets[index]?.periodic?.advertiser = nil
    if radioUse.isActivity(.periodicAdvertising(index)) { abandonRadio() }
    contentChanged(index)
  }

  /// Applies new data of the train, or data that receivers treat as new; a new DID indicates them.
  mutating func renewTrainData(_ index: Int) {
    sets[index]?.periodic?.dataID = UInt16(truncatingIfNeeded: random.next()) & 0xFFF
    guard let set = sets[index], let periodic = set.periodic else { return }
    sets[index]?.periodic?.advertiser?.setData(periodic.data, set.trainDataInfo)
    if !radioUse.isActivity(.periodicAdvertising(index)) { claimTrain(index) }
  }

  /// Applies the host's channel classification to all trains: receivers get an announcement before the map changes.
  mutating func trainChannelsChanged() {
    for index in sets.indices {
      sets[index]?.periodic?.advertiser?.setChannelMap(host.channelMap)
      if !radioUse.isActivity(.periodicAdvertising(index)) { claimTrain(index) }
    }
  }

  private mutating func claimTrain(_ index: Int) {
    guard let place = sets[index]?.periodic?.advertiser?.place else { return }
    agenda[place] = sets[index]?.periodic?.advertiser?.claim
  }

  mutating func beginPeriodicAdvertising(_ index: Int, at now: Instant) -> RadioStep {
    sets[index]?.periodic?.advertiser?.begin(at: now, agenda: agenda, in: pool) ?? .done
  }

  mutating func losePeriodicAdvertising(_ index: Int) {
    sets[index]?.periodic?.advertiser?.lose()
    claimTrain(index)
  }

  mutating func endPeriodicAdvertising(_ index: Int) {
    sets[index]?.periodic?.advertiser?.end()
    claimTrain(index)
  }
}
