import BluetoothWire

/// The reports of links to the host.
extension HCIEventQueue {
  /// Reports the PHYs of a link.
  mutating func report(_ phys: PHYState, _ status: HCI.ErrorCode, of handle: HCI.ConnectionHandle) {
    send(
      .lePHYUpdateComplete(
        status, handle, transmit: phys.current.transmit.rawValue, receive: phys.current.receive.rawValue))
  }

  /// Reports the version of a peer.
  mutating func report(_ version: LL.VersionInformation, of handle: HCI.ConnectionHandle) {
    send(
      .readRemoteVersionInformationComplete(
        .success, handle,
        HCI.RemoteVersion(
          version: version.version, companyIdentifier: version.company, subversion: version.subversion)))
  }

  /// Reports that a procedure of the host has failed.
  mutating func report(
    failureOf procedure: ControlProcedures.Procedure, _ reason: HCI.ErrorCode, of handle: HCI.ConnectionHandle,
    _ values: HCI.ConnectionValues, _ phys: PHYState
  ) {
    switch procedure {
    case .featureExchange: send(.leReadRemoteFeaturesComplete(reason, handle, []))
    case .versionExchange:
      send(
        .readRemoteVersionInformationComplete(
          reason, handle, HCI.RemoteVersion(version: 0, companyIdentifier: 0, subversion: 0)))
    case .parameterRequest: send(.leConnectionUpdateComplete(reason, handle, values))
    case .phyUpdate: report(phys, reason, of: handle)
    case .clockAccuracyUpdate(isHosts: true): send(.leRequestPeerSCAComplete(reason, handle, clockAccuracy: 0))
    case .encryption, .ping, .dataLengthUpdate, .connectionUpdate, .channelMapUpdate, .termination,
      .minimumUsedChannels, .syncTransfer, .clockAccuracyUpdate, .channelReporting, .channelStatus:
      break
    }
  }
}
