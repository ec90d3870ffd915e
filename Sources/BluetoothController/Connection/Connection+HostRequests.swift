import BluetoothWire

/// The requests of the host.
extension Connection {
  var isTerminating: Bool {
    if case .termination? = procedures.active { return true }
    return ending != nil
  }

  /// True if the controller sends LL_CONNECTION_PARAM_REQ for new parameters: this device supports the procedure, and
  /// the peer may support it. A central that does not send the request decides without the peer · Vol 6, Part B, 5.1.1,
  /// 5.1.7.
  var asksForParameters: Bool {
    let procedure = HCI.LEFeatures.connectionParametersRequestProcedure
    return features.contains(procedure) && !procedures.isParameterRequestUnknown && !procedures.peerLacks(procedure)
  }

  /// True if the host may change the parameters: a peripheral can only request a change.
  var canRequestParameters: Bool { role == .central || asksForParameters }

  /// Returns the status of LE Set PHY · Vol 4, Part E, 7.8.49.
  func check(_ preference: HCI.PHYPreference) -> HCI.ErrorCode {
    let preferences = LL.PHYPreferences(preference, of: features)
    if let refusal = preferences.refusal(with: features) { return refusal }
    let requested = preferences.transmit.union(preferences.receive)
    if procedures.peerLacks(.le2MPHY), procedures.peerLacks(.leCodedPHY), !requested.contains(.le1M) {
      return .unsupportedRemoteFeature
    }
    return procedures.isFull ? .controllerBusy : .success
  }

  /// True if this device may request the peer's features: in Bluetooth 4.0 only a central does · 5.1.4.
  var canReadFeatures: Bool { role == .central || features.contains(.peripheralInitiatedFeaturesExchange) }

  /// Reports the peer's features. The controller requests them once in a connection · Vol 4, Part E, 7.8.21.
  mutating func readFeatures(at now: Instant, into output: inout HCIEventQueue) {
    if let features = procedures.remoteFeatures {
      output.send(.leReadRemoteFeaturesComplete(.success, handle, features))
    } else {
      begin(.featureExchange, at: now, into: &output)
    }
  }

  mutating func setDataLength(_ length: HCI.DataLength, at now: Instant, into output: inout HCIEventQueue) {
    guard length != lengths.preferred || lengths.transmit != length else { return }
    lengths.preferred = length
    // A waiting procedure will carry the new lengths.
    guard !procedures.isWaiting(where: { if case .dataLengthUpdate = $0 { true } else { false } }) else { return }
    begin(.dataLengthUpdate, at: now, into: &output)
  }

  /// True if the host may start encryption now: only a central can, and one start at a time.
  var canStartEncryption: Bool {
    role == .central && !isTerminating && !procedures.has { $0.isEncryption }
  }
}
