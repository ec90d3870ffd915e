import BluetoothWire

/// The controller's reports of advertising.
extension GAP {
  /// Handles a legacy advertising report.
  mutating func receive(_ report: HCI.AdvertisingReport, _ context: inout HostContext, at now: Instant) {
    let isConnectable = report.type == .connectableScannable || report.type == .connectableDirected
    guard context.controller.isOn,
      let address = advertiserHeard(report.address, isConnectable: isConnectable, &context.security, at: now)
    else { return }
    if scanner.listensForHostAlone { return }
    var result = AdvertisingReport(
      address: address, isConnectable: isConnectable,
      isScannable: report.type == .connectableScannable || report.type == .scannable,
      isScanResponse: report.type == .scanResponse, data: report.data, rssi: report.rssi)
    result.isDirected = report.type == .connectableDirected
    context.output.tell(.advertisingReport(result))
  }

  /// Handles an extended advertising report. Some controllers report legacy scanning with this event, and Bumble's
  /// does not mark the PDUs as legacy. While the host uses legacy commands, every report is of legacy PDUs.
  mutating func receive(_ report: HCI.ExtendedAdvertisingReport, _ context: inout HostContext, at now: Instant) {
    guard context.controller.isOn, let heard = report.address.deviceAddress else { return }
    let isLegacy = report.type.contains(.legacy) || !context.controller.usesExtendedCommands
    let isScanResponse = report.type.contains(.scanResponse)
    let isConnectable = !isScanResponse && report.type.contains(.connectable)
    guard let address = advertiserHeard(report.address, isConnectable: isConnectable, &context.security, at: now)
    else { return }
    if scanner.listensForHostAlone { return }
    let content: (data: ByteSlice, isTruncated: Bool)
    if isLegacy {
      guard report.data.count <= HCI.maximumAdvertisingDataLength, !report.type.contains(.moreToCome) else { return }
      content = (report.data, false)
    } else {
      guard let whole = reports.take(report, from: heard, at: now) else { return }
      content = whole
    }
    var result = AdvertisingReport(
      address: address, isConnectable: isConnectable,
      isScannable: !isScanResponse && report.type.contains(.scannable), isScanResponse: isScanResponse,
      data: content.data, rssi: report.rssi)
    result.isTruncated = content.isTruncated
    result.isDirected = report.type.contains(.directed)
    if !isLegacy {
      result.advertisingSet = report.advertisingSID
      result.primaryPHY = report.primaryPHY
      result.secondaryPHY = report.secondaryPHY
      result.transmitPower = report.transmitPower
      result.periodicInterval = report.periodicAdvertisingInterval
    }
    context.output.tell(.advertisingReport(result))
  }

  /// Handles the controller's own end of advertising.
  mutating func advertisingSetTerminated(
    _ set: HCI.AdvertisingHandle, _ status: HCI.ErrorCode, _ context: inout HostContext
  ) {
    if context.controller.isOn, advertisers.terminated(set, status) { context.output.tellAdvertisingEnded(set) }
  }

  // MARK: Periodic trains

  mutating func synchronizationEstablished(
    _ status: HCI.ErrorCode, _ sync: HCI.PeriodicSync, _ context: inout HostContext
  ) {
    if context.controller.isOn { context.output.tell(synchronizer.established(status, sync)) }
  }

  mutating func receive(_ report: HCI.PeriodicAdvertisingReport, _ context: inout HostContext) {
    if context.controller.isOn { context.output.tell(synchronizer.received(report)) }
  }

  mutating func synchronizationLost(_ sync: HCI.SyncHandle, _ context: inout HostContext) {
    if context.controller.isOn { context.output.tell(synchronizer.lost(sync)) }
  }
}
