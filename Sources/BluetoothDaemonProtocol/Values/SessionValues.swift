import BluetoothDaemon
import BluetoothWire

// The values of the daemon's sessions. A new case of an enumeration does not compile without its number here.

/// The numbers of the cases of `SessionError`.
private enum ErrorNumber: UInt8 {
  case att, link, timeout, invalidResponse, notSupported, invalidParameters, uuidNotAllowed, alreadyAdvertising
  case outOfSpace, connectionLimitReached, encryptionTimedOut, tooManyPairedDevices, refused, unknownPeer, invalidHandle
  case unusableHandle
}

/// The numbers of the cases of `AdapterState`.
private enum StateNumber: UInt8 {
  case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

/// The numbers of the cases of `AppAccess`.
private enum AccessNumber: UInt8 { case undetermined, denied, allowed }

/// The numbers of the cases of `ChannelEnd`.
private enum ChannelEndNumber: UInt8 { case closed, lost }

extension MessageWriter {
  mutating func append(_ error: SessionError) {
    switch error {
    case .att(let code):
      put(ErrorNumber.att)
      append(code.rawValue)
    case .link(let code):
      put(ErrorNumber.link)
      append(code.rawValue)
    case .timeout: put(ErrorNumber.timeout)
    case .invalidResponse: put(ErrorNumber.invalidResponse)
    case .invalidHandle: put(ErrorNumber.invalidHandle)
    case .unusableHandle(let handle):
      put(ErrorNumber.unusableHandle)
      append(handle)
    case .notSupported: put(ErrorNumber.notSupported)
    case .invalidParameters: put(ErrorNumber.invalidParameters)
    case .uuidNotAllowed: put(ErrorNumber.uuidNotAllowed)
    case .alreadyAdvertising: put(ErrorNumber.alreadyAdvertising)
    case .outOfSpace: put(ErrorNumber.outOfSpace)
    case .connectionLimitReached: put(ErrorNumber.connectionLimitReached)
    case .encryptionTimedOut: put(ErrorNumber.encryptionTimedOut)
    case .tooManyPairedDevices: put(ErrorNumber.tooManyPairedDevices)
    case .refused: put(ErrorNumber.refused)
    case .unknownPeer: put(ErrorNumber.unknownPeer)
    }
  }

  /// Appends the number of a case.
  mutating func put(_ number: some RawRepresentable<UInt8>) { append(number.rawValue) }

  mutating func append(optional error: SessionError?) { append(optional: error) { $0.append($1) } }

  mutating func append(_ state: AdapterState) {
    switch state {
    case .unknown: put(StateNumber.unknown)
    case .resetting: put(StateNumber.resetting)
    case .unsupported: put(StateNumber.unsupported)
    case .unauthorized: put(StateNumber.unauthorized)
    case .poweredOff: put(StateNumber.poweredOff)
    case .poweredOn: put(StateNumber.poweredOn)
    }
  }

  mutating func append(_ access: AppAccess) {
    switch access {
    case .undetermined: put(AccessNumber.undetermined)
    case .denied: put(AccessNumber.denied)
    case .allowed: put(AccessNumber.allowed)
    }
  }

  mutating func append(_ end: ChannelEnd) {
    switch end {
    case .closed: put(ChannelEndNumber.closed)
    case .lost(let error):
      put(ChannelEndNumber.lost)
      append(error)
    }
  }

  mutating func append(_ uuid: BluetoothUUID) {
    append(UInt8(uuid.width.rawValue))
    switch uuid.width {
    case .bits16: append(UInt16(truncatingIfNeeded: uuid.high >> 32))
    case .bits32: append(UInt32(truncatingIfNeeded: uuid.high >> 32))
    case .bits128:
      append(uuid.high)
      append(uuid.low)
    }
  }

  mutating func append(_ address: DeviceAddress) {
    append(address.kind.rawValue)
    append(address.value)
  }

  mutating func append(_ peer: PeerInfo) {
    append(peer.handle)
    append(peer.identifier)
    append(optional: peer.name) { $0.append($1) }
  }

  mutating func append(_ central: CentralInfo) {
    append(central.handle)
    append(central.identifier)
    append(count: central.maximumUpdateLength)
  }

  mutating func append(_ bond: BondInfo) {
    append(bond.isSecureConnections)
    append(bond.isAuthenticated)
    append(UInt8(clamping: bond.keySize))
    append(bond.getsNotifications)
  }

  mutating func append(_ channel: ChannelInfo) {
    append(channel.handle.key.rawValue)
    append(channel.psm)
  }

  mutating func append(_ attribute: RemoteAttributeID) { append(attribute.handle) }
  mutating func append(_ attribute: LocalAttributeID) { append(attribute.number) }
}

extension MessageReader {
  mutating func sessionError() throws(DecodingError) -> SessionError {
    switch try value(ErrorNumber.self) {
    case .att: .att(ATT.ErrorCode(rawValue: try uint8()))
    case .link: .link(HCI.ErrorCode(rawValue: try uint8()))
    case .timeout: .timeout
    case .invalidResponse: .invalidResponse
    case .invalidHandle: .invalidHandle
    case .unusableHandle: .unusableHandle(try uint16())
    case .notSupported: .notSupported
    case .invalidParameters: .invalidParameters
    case .uuidNotAllowed: .uuidNotAllowed
    case .alreadyAdvertising: .alreadyAdvertising
    case .outOfSpace: .outOfSpace
    case .connectionLimitReached: .connectionLimitReached
    case .encryptionTimedOut: .encryptionTimedOut
    case .tooManyPairedDevices: .tooManyPairedDevices
    case .refused: .refused
    case .unknownPeer: .unknownPeer
    }
  }

  mutating func optionalError() throws(DecodingError) -> SessionError? {
    try optional { (reader) throws(DecodingError) in try reader.sessionError() }
  }

  mutating func adapterState() throws(DecodingError) -> AdapterState {
    switch try value(StateNumber.self) {
    case .unknown: .unknown
    case .resetting: .resetting
    case .unsupported: .unsupported
    case .unauthorized: .unauthorized
    case .poweredOff: .poweredOff
    case .poweredOn: .poweredOn
    }
  }

  mutating func access() throws(DecodingError) -> AppAccess {
    switch try value(AccessNumber.self) {
    case .undetermined: .undetermined
    case .denied: .denied
    case .allowed: .allowed
    }
  }

  mutating func channelEnd() throws(DecodingError) -> ChannelEnd {
    switch try value(ChannelEndNumber.self) {
    case .closed: .closed
    case .lost: .lost(try sessionError())
    }
  }

  mutating func uuid() throws(DecodingError) -> BluetoothUUID {
    guard let width = BluetoothUUID.Width(rawValue: Int(try uint8())) else { throw .invalid(field: "width of a UUID") }
    switch width {
    case .bits16: return BluetoothUUID(try uint16())
    case .bits32: return BluetoothUUID(try uint32())
    case .bits128:
      let high = try uint64()
      return BluetoothUUID(high: high, low: try uint64())
    }
  }

  /// Reads the UUIDs of an event.
  mutating func uuids() throws(DecodingError) -> [BluetoothUUID] {
    try list { (reader) throws(DecodingError) in try reader.uuid() }
  }

  /// Reads the UUIDs of a command.
  mutating func filterUUIDs() throws(DecodingError) -> [BluetoothUUID] {
    try filter { (reader) throws(DecodingError) in try reader.uuid() }
  }

  mutating func address() throws(DecodingError) -> DeviceAddress {
    let kind = try value(DeviceAddress.Kind.self)
    let number = try uint64()
    guard number <= 0xFFFF_FFFF_FFFF else { throw .invalid(field: "address") }
    return DeviceAddress(number, kind)
  }

  mutating func peerInfo() throws(DecodingError) -> PeerInfo {
    let handle = try peer()
    let identifier = try identifier()
    return PeerInfo(handle: handle, identifier: identifier, name: try name())
  }

  mutating func name() throws(DecodingError) -> String? {
    try optional { (reader) throws(DecodingError) in try reader.text() }
  }

  mutating func centralInfo() throws(DecodingError) -> CentralInfo {
    let handle = try peer()
    let identifier = try identifier()
    return CentralInfo(handle: handle, identifier: identifier, maximumUpdateLength: try count(atMost: 0xFFFF))
  }

  mutating func bond() throws(DecodingError) -> BondInfo {
    let isSecureConnections = try bool()
    let isAuthenticated = try bool()
    let keySize = Int(try uint8())
    return BondInfo(
      isSecureConnections: isSecureConnections, isAuthenticated: isAuthenticated, keySize: keySize,
      getsNotifications: try bool())
  }

  mutating func channelInfo() throws(DecodingError) -> ChannelInfo {
    let handle = try channel()
    return ChannelInfo(handle: handle, psm: try uint16())
  }

  mutating func channel() throws(DecodingError) -> ChannelHandle {
    ChannelHandle(key: SlotKey(rawValue: try uint64()))
  }

  mutating func remoteAttribute() throws(DecodingError) -> RemoteAttributeID { RemoteAttributeID(try uint16()) }
  mutating func localAttribute() throws(DecodingError) -> LocalAttributeID {
    LocalAttributeID(number: try uint32())
  }
}
