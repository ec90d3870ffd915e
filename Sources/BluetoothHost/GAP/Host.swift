import BluetoothWire
import DequeModule

/// The host of one adapter · Vol 1, Part A, 2: GAP, GATT, ATT and L2CAP above one controller.
///
/// Whoever owns it moves packets between it and the controller, tells it the time, and takes its events.
package struct Host {
  package init(configuration: HostConfiguration, random: SplitGenerator, pool: PacketPool) {}

  /// The next instant at which `timeReached` is to be called; nil: none.
  package var deadline: Instant? { nil }

  /// The device's own random static address · Vol 6, Part B, 1.3.2.1.
  package var address: DeviceAddress { DeviceAddress(0, .random) }

  /// The links that exist, in the order in which they came about.
  package var links: [Link] { [] }

  /// The ATT_MTU of a link; that of a link which does not exist is the default.
  package func mtu(of handle: HCI.ConnectionHandle) -> Int { ATT.defaultMTU }

  /// Starts up or shuts down the controller. A host begins switched off.
  package mutating func setPower(_ on: Bool, at now: Instant) {}

  // MARK: The controller's side

  /// Takes in a packet of the controller, of any content.
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) {}
  package mutating func timeReached(_ now: Instant) {}
  /// The next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { nil }
  /// The next event for the service.
  package mutating func takeEvent() -> HostEvent? { nil }

  // MARK: GAP

  /// Advertises as connectable and scannable; answered by `advertisingStarted`. Goes on while links exist, as far as the
  /// controller allows. New data take the place of the old. Each at most 31 octets, else `outOfSpace`.
  package mutating func startAdvertising(data: ByteSlice, scanResponse: ByteSlice, at now: Instant) {}
  package mutating func stopAdvertising(at now: Instant) {}
  /// Scans in this way from now on; nil: not any more.
  package mutating func setScanning(_ parameters: ScanParameters?, at now: Instant) {}
  /// Connects as soon as the device is heard, until then for ever. Several devices may be waited for.
  package mutating func connect(to address: DeviceAddress, at now: Instant) {}
  /// Does not wait for the device any more. A link that just then came about is ended without an event.
  package mutating func cancelConnecting(to address: DeviceAddress, at now: Instant) {}
  /// Ends a link; answered by `disconnected`.
  package mutating func disconnect(_ handle: HCI.ConnectionHandle, at now: Instant) {}
  /// Answered by `rssiRead`.
  package mutating func readRSSI(_ handle: HCI.ConnectionHandle, at now: Instant) {}
  /// A central changes the parameters of a link, a peripheral asks for it; either may be refused without an event.
  package mutating func updateConnection(
    _ handle: HCI.ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) {}

  // MARK: GATT client

  /// Begins a procedure as soon as those before it on this link have ended.
  package mutating func request(
    _ request: GATTRequest, token: GATTToken, on handle: HCI.ConnectionHandle, at now: Instant
  ) {}

  // MARK: GATT server

  /// Adds a service to the local database.
  package mutating func addService(
    _ definition: GATTServiceDefinition, at now: Instant
  ) -> Result<GATTServicePlacement, GATTDatabaseError> { .failure(.full) }
  /// Removes the service whose declaration stands at this handle.
  package mutating func removeService(declaration: AttributeHandle, at now: Instant) {}
  /// Answers a request of a client; a second answer is ignored.
  package mutating func respond(
    to request: GATTServerRequest, on handle: HCI.ConnectionHandle, with result: Result<ByteSlice, ATT.ErrorCode>,
    at now: Instant
  ) {}
  /// Notifies or indicates, as the client has subscribed; followed by `GATTEvent.updateSent`.
  package mutating func update(
    _ value: AttributeHandle, with bytes: ByteSlice, on handle: HCI.ConnectionHandle, at now: Instant
  ) {}
}
