import BluetoothWire

/// Advertising, scanning, connecting, and the upper layer's requests for links.
extension Host {
  /// Starts connectable and scannable advertising; answered by `advertisingStarted`. Advertising goes on while links
  /// exist, as far as the controller allows. New data replace the old. `data` and `scanResponse` have at most
  /// 31 octets each; if one is longer, the answer is `outOfSpace`.
  package mutating func startAdvertising(data: ByteSlice, scanResponse: ByteSlice, at now: Instant) {
    startAdvertising(HostAdvertising(data: data, scanResponse: scanResponse), at: now)
  }

  /// Starts advertising with the given shape, interval and PDUs; answered by `advertisingStarted`.
  package mutating func startAdvertising(_ advertising: HostAdvertising, at now: Instant) {
    gap.startAdvertising(advertising, on: HCI.AdvertisingHandle.main, &context, at: now)
    settle(at: now)
  }

  package mutating func stopAdvertising(at now: Instant) {
    gap.advertisers.stop(HCI.AdvertisingHandle.main)
    settle(at: now)
  }

  /// Starts an advertising set beside `startAdvertising(_:at:)`, or changes its parameters and data; answered by
  /// `advertisingSetStarted`. A failure ends the set. The controller must have the extended commands, and room for the
  /// set.
  ///
  /// - Parameter set: The set, 0x01 to 0xEF, which the upper layer chooses.
  package mutating func startAdvertising(
    _ advertising: HostAdvertising, on set: HCI.AdvertisingHandle, at now: Instant
  ) {
    gap.startAdvertising(advertising, on: set, &context, at: now)
    settle(at: now)
  }

  /// Stops an advertising set, with its periodic train. The handle can be used for another set at once.
  package mutating func stopAdvertising(on set: HCI.AdvertisingHandle, at now: Instant) {
    gap.advertisers.stop(set)
    settle(at: now)
  }

  /// Synchronizes with a periodic train as soon as the controller finds it, without a timeout; answered by
  /// `synchronization`. The host scans meanwhile. A train can be requested once at a time.
  package mutating func synchronize(_ id: SyncID, with request: SyncRequest, at now: Instant) {
    gap.synchronize(id, with: request, &context)
    settle(at: now)
  }

  /// Ends a synchronization, or the attempt, without an event.
  package mutating func endSynchronization(_ id: SyncID, at now: Instant) {
    gap.synchronizer.stop(id)
    settle(at: now)
  }

  /// Starts scanning with these parameters and reports every device again; nil: stops scanning.
  package mutating func setScanning(_ parameters: ScanParameters?, at now: Instant) {
    guard context.controller.isOn else { return }
    gap.scanner.set(parameters)
    settle(at: now)
  }

  /// Sets the devices whose private addresses the controller resolves; they replace the previous ones. Reports and
  /// links then use their identity addresses. Without a resolving list in the controller the call has no effect; if
  /// the list is too short, the last devices are left out.
  ///
  /// - Parameter usesPrivateAddresses: True if the controller also generates private addresses for this device, with
  ///   the local key of the first identity that has one.
  package mutating func setIdentities(
    _ identities: [HostIdentity], usesPrivateAddresses: Bool = false, at now: Instant
  ) {
    gap.resolvingList.set(identities, usesPrivateAddresses: usesPrivateAddresses)
    settle(at: now)
  }

  /// The identities to which the controller resolves private addresses.
  package var resolvedIdentities: [DeviceAddress] { gap.resolvingList.resolved }

  // MARK: Links

  /// Connects to the device as soon as the controller hears it, without a timeout. Several connection attempts may be
  /// pending.
  package mutating func connect(to address: DeviceAddress, at now: Instant) {
    guard context.controller.isOn else {
      context.output.tell(.connectionFailed(address, .commandDisallowed))
      return
    }
    context.nameDiscoveries.keepLink(to: address)
    // A link to the device may already be in establishment.
    if table.unprovenLink(to: address) == nil { gap.initiator.connect(to: address) }
    settle(at: now)
  }

  /// Cancels the connection attempt. A link that was created at the same moment is disconnected without an event.
  package mutating func cancelConnecting(to address: DeviceAddress, at now: Instant) {
    gap.initiator.cancel(address)
    table.cancelUnprovenLink(to: address, &context)
    settle(at: now)
  }

  /// Disconnects a link; answered by `disconnected`.
  package mutating func disconnect(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = table.index(of: handle) else { return }
    table[index].disconnect(.remoteUserTerminatedConnection, &context)
    settle(at: now)
  }

  /// Reads the RSSI of a link; answered by `rssiRead`.
  package mutating func readRSSI(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard table.index(of: handle) != nil else {
      context.output.tell(.rssiRead(handle, .failure(.notConnected)))
      return
    }
    context.controller.append(.readRSSI(handle), for: .readRSSI(handle))
    settle(at: now)
  }

  /// Returns the properties of a link; nil: the link does not exist.
  package func properties(of handle: HCI.ConnectionHandle) -> HostLinkProperties? {
    table.index(of: handle).map { table[$0].properties }
  }

  /// True if the host reports each change of a link's properties by `linkChanged`.
  package var reportsLinkChanges: Bool {
    get { context.reportsLinkChanges }
    set { context.reportsLinkChanges = newValue }
  }

  /// Requests other properties of a link; answered by `linkRequestEnded`, unless the link ends before. The upper layer
  /// makes one request at a time on a link. A peripheral requests connection parameters as `updateConnection` does; the
  /// answer is that of the central, which changes them shortly after it has accepted a request by L2CAP.
  package mutating func changeLink(_ handle: HCI.ConnectionHandle, _ request: LinkRequest, at now: Instant) {
    guard let index = table.index(of: handle) else {
      context.output.tell(.linkRequestEnded(handle, .notConnected))
      return
    }
    table[index].begin(request, &context, at: now)
    settle(at: now)
  }

  /// Updates the connection parameters of a link. A central changes them directly. A peripheral requests them when
  /// the link is 5 s old and the central has been quiet for 1 s; a later request replaces an earlier one. The peer or
  /// the controller may refuse either without an event.
  package mutating func updateConnection(
    _ handle: HCI.ConnectionHandle, _ parameters: LinkParameters, at now: Instant
  ) {
    guard let index = table.index(of: handle) else { return }
    switch table[index].link.role {
    case .central: table[index].update(parameters, &context)
    case .peripheral: table[index].requestUpdate(parameters, &context, at: now)
    }
    settle(at: now)
  }

  /// Reads the Device Name of a device; answered by `nameDiscovered`. Without a link the host creates one, reports it
  /// like any other link, and disconnects it when the procedure ends.
  ///
  /// - Parameter timeout: The maximum time to connect to the device.
  package mutating func discoverName(
    of address: DeviceAddress, timeout: TimeSpan = .seconds(10), at now: Instant
  ) {
    guard context.controller.isOn else {
      context.output.tell(.nameDiscovered(address, nil))
      return
    }
    guard !context.nameDiscoveries.contains(address) else { return }
    let isLinked = table.all.contains { $0.link.peer == address && !$0.isHidden }
    context.nameDiscoveries.begin(
      address, endsLink: !isLinked && !gap.initiator.requestedDevices.contains(address), until: now + timeout)
    if !isLinked { gap.initiator.connect(to: address) }
    settle(at: now)
  }
}
