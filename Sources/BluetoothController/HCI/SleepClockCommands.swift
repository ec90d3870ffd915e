import BluetoothWire

/// The accuracy of the sleep clock, which a host may change for tests · Vol 4, Part E, 7.8.94.
extension Controller {
  /// The accuracy that this device reports to peers.
  var sleepClockAccuracy: LL.SleepClockAccuracy { mutating get { host.sleepClock ?? ownSleepClock } }

  /// The accuracy that this device assumes for its own clock, parts per million.
  var clockAccuracy: Int64 {
    mutating get { host.sleepClock?.partsPerMillion ?? Int64(configuration.sleepClockAccuracy) }
  }

  private var ownSleepClock: LL.SleepClockAccuracy {
    mutating get { LL.SleepClockAccuracy(partsPerMillion: configuration.sleepClockAccuracy) }
  }

  /// Changes to the next less accurate clock, or back. The device simulates one clock of each accuracy below its own;
  /// the real drift of the clock stays the same.
  mutating func modifySleepClockAccuracy(isLessAccurate: Bool, at now: Instant) -> HCI.ErrorCode {
    let value = Int(sleepClockAccuracy.rawValue) + (isLessAccurate ? -1 : 1)
    guard value <= Int(ownSleepClock.rawValue), let rawValue = UInt8(exactly: value),
      let accuracy = LL.SleepClockAccuracy(rawValue: rawValue)
    else { return .limitReached }
    host.sleepClock = accuracy == ownSleepClock ? nil : accuracy
    let partsPerMillion = clockAccuracy
    for index in connections.indices {
      connections[index].setSleepClock(accuracy, partsPerMillion: partsPerMillion, at: now, into: &output)
    }
    for index in sets.indices {
      sets[index]?.periodic?.advertiser?.sleepClockAccuracy = accuracy
      sets[index]?.advertiser?.auxiliary?.isClockAccurate = partsPerMillion <= 50
    }
    for index in syncs.indices {
      guard let place = syncs[index]?.place else { continue }
      syncs[index]?.setOwnAccuracy(partsPerMillion)
      if !radioUse.isActivity(.periodicSync(index)) { agenda[place] = syncs[index]?.claim }
    }
    return .success
  }
}
