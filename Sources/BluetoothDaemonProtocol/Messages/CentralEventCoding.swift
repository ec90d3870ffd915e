import BluetoothDaemon
import BluetoothWire

extension CentralEvent {
  var type: CentralEventType {
    switch self {
    case .stateChanged: .stateChanged
    case .discovered: .discovered
    case .packetReceived: .packetReceived
    case .connected: .connected
    case .connectionFailed: .connectionFailed
    case .disconnected: .disconnected
    case .connectionEvent: .connectionEvent
    case .maximumWriteLengthChanged: .maximumWriteLengthChanged
    case .nameChanged: .nameChanged
    case .link(_, .changed): .linkChanged
    case .link(_, .ended): .linkEnded
    case .link(_, .requestEnded): .linkRequestEnded
    case .rssiRead: .rssiRead
    case .servicesDiscovered: .servicesDiscovered
    case .includedServicesDiscovered: .includedServicesDiscovered
    case .characteristicsDiscovered: .characteristicsDiscovered
    case .descriptorsDiscovered: .descriptorsDiscovered
    case .valueRead: .valueRead
    case .valueChanged: .valueChanged
    case .written: .written
    case .notifyStateChanged: .notifyStateChanged
    case .readyToWriteWithoutResponse: .readyToWriteWithoutResponse
    case .channelOpened: .channelOpened
    case .servicesModified: .servicesModified
    case .barrierReached: .barrierReached
    case .restored: .restored
    case .synchronization: .synchronization
    case .valueLimitReached: .valueLimitReached
    case .notificationSharingChanged: .notificationSharingChanged
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .stateChanged(let state): writer.append(state)
    case .discovered(let discovery): writer.append(discovery)
    case .packetReceived(let packet):
      writer.append(packet.peer)
      writer.append(packet.report)
      writer.append(packet.time.nanoseconds)
    case .connected(let peer, let length), .maximumWriteLengthChanged(let peer, let length):
      writer.append(peer)
      writer.append(count: length)
    case .connectionFailed(let peer, let error):
      writer.append(peer)
      writer.append(error)
    case .disconnected(let peer, let error, let isReconnecting):
      writer.append(peer)
      writer.append(optional: error)
      writer.append(isReconnecting)
    case .connectionEvent(let peer, let isConnected):
      writer.append(peer)
      writer.append(isConnected)
    case .nameChanged(let peer, let name):
      writer.append(peer)
      writer.append(optional: name) { $0.append($1) }
    case .link(let peer, let event):
      writer.append(peer)
      writer.append(event)
    case .rssiRead(let peer, let result):
      writer.append(peer)
      writer.append(result: result) { $0.append($1) }
    case .servicesDiscovered(let peer, let result):
      writer.append(peer)
      writer.append(result: result) { writer, services in writer.append(list: services) { $0.append($1) } }
    case .includedServicesDiscovered(let peer, let attribute, let result):
      writer.append(peer)
      writer.append(attribute)
      writer.append(result: result) { writer, services in writer.append(list: services) { $0.append($1) } }
    case .characteristicsDiscovered(let peer, let attribute, let result):
      writer.append(peer)
      writer.append(attribute)
      writer.append(result: result) { writer, all in
        writer.append(list: all) { $0.append($1) }
      }
    case .descriptorsDiscovered(let peer, let attribute, let result):
      writer.append(peer)
      writer.append(attribute)
      writer.append(result: result) { writer, descriptors in
        writer.append(list: descriptors) { $0.append($1) }
      }
    case .valueRead(let peer, let attribute, let result):
      writer.append(peer)
      writer.append(attribute)
      writer.append(result: result) { $0.append($1) }
    case .valueChanged(let peer, let attribute, let value):
      writer.append(peer)
      writer.append(attribute)
      writer.append(value)
    case .written(let peer, let attribute, let error):
      writer.append(peer)
      writer.append(attribute)
      writer.append(optional: error)
    case .notifyStateChanged(let peer, let attribute, let isNotifying, let error):
      writer.append(peer)
      writer.append(attribute)
      writer.append(isNotifying)
      writer.append(optional: error)
    case .readyToWriteWithoutResponse(let peer), .notificationSharingChanged(let peer): writer.append(peer)
    case .channelOpened(let peer, let result):
      writer.append(peer)
      writer.append(result: result) { $0.append($1) }
    case .servicesModified(let peer, let services):
      writer.append(peer)
      writer.append(list: services) { $0.append($1) }
    case .barrierReached(let number): writer.append(number)
    case .restored(let restored): writer.append(restored)
    case .synchronization(let number, let event, let time):
      writer.append(number)
      writer.append(event)
      writer.append(time.nanoseconds)
    case .valueLimitReached(let peer, let attribute, let isExceeded):
      writer.append(peer)
      writer.append(attribute)
      writer.append(isExceeded)
    }
  }

  init(_ type: CentralEventType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .stateChanged: self = .stateChanged(try reader.adapterState())
    case .discovered: self = .discovered(try reader.discovery())
    case .packetReceived:
      let peer = try reader.peerInfo()
      let report = try reader.report()
      self = .packetReceived(
        ReceivedPacket(peer: peer, report: report, time: Instant(nanoseconds: try reader.int64())))
    case .connected:
      let peer = try reader.peer()
      self = .connected(peer, maximumWriteLength: try reader.count(atMost: 0xFFFF))
    case .connectionFailed:
      let peer = try reader.peer()
      self = .connectionFailed(peer, try reader.sessionError())
    case .disconnected:
      let peer = try reader.peer()
      let error = try reader.optionalError()
      self = .disconnected(peer, error, isReconnecting: try reader.bool())
    case .connectionEvent:
      let peer = try reader.peerInfo()
      self = .connectionEvent(peer, isConnected: try reader.bool())
    case .maximumWriteLengthChanged:
      let peer = try reader.peer()
      self = .maximumWriteLengthChanged(peer, try reader.count(atMost: 0xFFFF))
    case .nameChanged:
      let peer = try reader.peer()
      self = .nameChanged(peer, try reader.name())
    case .linkChanged:
      let peer = try reader.peer()
      self = .link(peer, .changed(try reader.linkInfo()))
    case .linkEnded:
      let peer = try reader.peer()
      self = .link(peer, .ended(HCI.ErrorCode(rawValue: try reader.uint8())))
    case .linkRequestEnded:
      let peer = try reader.peer()
      let kind = try reader.linkRequestKind()
      self = .link(peer, .requestEnded(kind, try reader.optionalError()))
    case .rssiRead:
      let peer = try reader.peer()
      self = .rssiRead(peer, try reader.result { (reader) throws(DecodingError) in try reader.int8() })
    case .servicesDiscovered:
      let peer = try reader.peer()
      self = .servicesDiscovered(peer, try reader.services())
    case .includedServicesDiscovered:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .includedServicesDiscovered(peer, attribute, try reader.services())
    case .characteristicsDiscovered:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .characteristicsDiscovered(peer, attribute, try reader.characteristics())
    case .descriptorsDiscovered:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .descriptorsDiscovered(peer, attribute, try reader.descriptors())
    case .valueRead:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .valueRead(peer, attribute, try reader.result { (reader) throws(DecodingError) in try reader.slice() })
    case .valueChanged:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .valueChanged(peer, attribute, try reader.slice())
    case .written:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .written(peer, attribute, try reader.optionalError())
    case .notifyStateChanged:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      let isNotifying = try reader.bool()
      self = .notifyStateChanged(peer, attribute, isNotifying: isNotifying, try reader.optionalError())
    case .notificationSharingChanged: self = .notificationSharingChanged(try reader.peer())
    case .readyToWriteWithoutResponse: self = .readyToWriteWithoutResponse(try reader.peer())
    case .channelOpened:
      let peer = try reader.peer()
      self = .channelOpened(peer, try reader.result { (reader) throws(DecodingError) in try reader.channelInfo() })
    case .servicesModified:
      let peer = try reader.peer()
      self = .servicesModified(peer, try reader.list { (reader) throws(DecodingError) in try reader.remoteAttribute() })
    case .barrierReached: self = .barrierReached(try reader.uint32())
    case .restored: self = .restored(try reader.restoredCentral())
    case .synchronization:
      let number = try reader.uint32()
      let event = try reader.syncEvent()
      self = .synchronization(number, event, at: Instant(nanoseconds: try reader.int64()))
    case .valueLimitReached:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .valueLimitReached(peer, attribute, isExceeded: try reader.bool())
    }
  }
}

extension MessageWriter {
  fileprivate mutating func append(_ service: RemoteService) {
    append(service.id)
    append(service.uuid)
    append(service.isPrimary)
  }

  fileprivate mutating func append(_ characteristic: RemoteCharacteristic) {
    append(characteristic.id)
    append(characteristic.uuid)
    append(characteristic.properties.rawValue)
  }

  fileprivate mutating func append(_ descriptor: RemoteDescriptor) {
    append(descriptor.id)
    append(descriptor.uuid)
  }

  fileprivate mutating func append(_ restored: RestoredCentral) {
    append(list: restored.peers) { writer, peer in
      writer.append(peer.info)
      writer.append(optional: peer.maximumWriteLength) { $0.append(count: $1) }
      writer.append(peer.reconnects)
      writer.append(optional: peer.services) { writer, services in writer.append(list: services) { $0.append($1) } }
    }
    append(optional: restored.scan) { $0.append($1) }
  }

  private mutating func append(_ restored: RestoredCentral.Service) {
    append(restored.service)
    append(optional: restored.characteristics) { writer, all in
      writer.append(list: all) { writer, characteristic in
        writer.append(characteristic.characteristic)
        writer.append(characteristic.isNotifying)
        writer.append(optional: characteristic.descriptors) { writer, descriptors in
          writer.append(list: descriptors) { $0.append($1) }
        }
      }
    }
  }

  fileprivate mutating func append(_ discovery: Discovery) {
    append(discovery.peer)
    append(discovery.isConnectable)
    append(optional: discovery.localName) { $0.append($1) }
    append(optional: discovery.txPowerLevel) { $0.append($1) }
    append(list: discovery.services) { $0.append($1) }
    append(list: discovery.overflowServices) { $0.append($1) }
    append(list: discovery.solicitedServices) { $0.append($1) }
    append(list: discovery.serviceData) { writer, data in
      writer.append(data.0)
      writer.append(data.1)
    }
    append(optional: discovery.manufacturerData) { $0.append($1) }
    append(discovery.rssi)
  }
}

extension MessageReader {
  fileprivate mutating func services() throws(DecodingError) -> Result<[RemoteService], SessionError> {
    try result { (reader) throws(DecodingError) in
      try reader.list { (reader) throws(DecodingError) in try reader.service() }
    }
  }

  private mutating func service() throws(DecodingError) -> RemoteService {
    let id = try remoteAttribute()
    let uuid = try uuid()
    return RemoteService(id: id, uuid: uuid, isPrimary: try bool())
  }

  fileprivate mutating func characteristics() throws(DecodingError) -> Result<[RemoteCharacteristic], SessionError> {
    try result { (reader) throws(DecodingError) in
      try reader.list { (reader) throws(DecodingError) in try reader.characteristic() }
    }
  }

  private mutating func characteristic() throws(DecodingError) -> RemoteCharacteristic {
    let id = try remoteAttribute()
    let uuid = try uuid()
    return RemoteCharacteristic(id: id, uuid: uuid, properties: CharacteristicProperties(rawValue: try uint8()))
  }

  fileprivate mutating func descriptors() throws(DecodingError) -> Result<[RemoteDescriptor], SessionError> {
    try result { (reader) throws(DecodingError) in
      try reader.list { (reader) throws(DecodingError) in try reader.descriptor() }
    }
  }

  private mutating func descriptor() throws(DecodingError) -> RemoteDescriptor {
    let id = try remoteAttribute()
    return RemoteDescriptor(id: id, uuid: try uuid())
  }

  fileprivate mutating func restoredCentral() throws(DecodingError) -> RestoredCentral {
    let peers = try list { (reader) throws(DecodingError) in try reader.restoredPeer() }
    return RestoredCentral(
      peers: peers, scan: try optional { (reader) throws(DecodingError) in try reader.scanRequest() })
  }

  private mutating func restoredPeer() throws(DecodingError) -> RestoredCentral.RestoredPeer {
    let info = try peerInfo()
    let length = try optional { (reader) throws(DecodingError) in try reader.count(atMost: 0xFFFF) }
    let reconnects = try bool()
    return RestoredCentral.RestoredPeer(
      info: info, maximumWriteLength: length, reconnects: reconnects,
      services: try optional { (reader) throws(DecodingError) in
        try reader.list { (reader) throws(DecodingError) in try reader.restoredService() }
      })
  }

  private mutating func restoredService() throws(DecodingError) -> RestoredCentral.Service {
    let service = try service()
    return RestoredCentral.Service(
      service: service,
      characteristics: try optional { (reader) throws(DecodingError) in
        try reader.list { (reader) throws(DecodingError) in try reader.restoredCharacteristic() }
      })
  }

  private mutating func restoredCharacteristic() throws(DecodingError) -> RestoredCentral.Characteristic {
    let characteristic = try characteristic()
    let isNotifying = try bool()
    return RestoredCentral.Characteristic(
      characteristic: characteristic, isNotifying: isNotifying,
      descriptors: try optional { (reader) throws(DecodingError) in
        try reader.list { (reader) throws(DecodingError) in try reader.descriptor() }
      })
  }

  fileprivate mutating func discovery() throws(DecodingError) -> Discovery {
    let peer = try peerInfo()
    var result = Discovery(peer: peer, isConnectable: try bool(), rssi: 0)
    result.localName = try name()
    result.txPowerLevel = try optional { (reader) throws(DecodingError) in try reader.int8() }
    result.services = try uuids()
    result.overflowServices = try uuids()
    result.solicitedServices = try uuids()
    result.serviceData = try list { (reader) throws(DecodingError) in
      let uuid = try reader.uuid()
      return (uuid, try reader.slice())
    }
    result.manufacturerData = try optional { (reader) throws(DecodingError) in try reader.slice() }
    result.rssi = try int8()
    return result
  }
}
