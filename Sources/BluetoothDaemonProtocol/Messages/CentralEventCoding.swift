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
      switch event {
      case .changed(let link): writer.append(link)
      case .ended(let reason): writer.append(reason.rawValue)
      case .requestEnded(let kind, let error):
        writer.append(kind)
        writer.append(optional: error)
      }
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
        writer.append(list: all) { writer, characteristic in
          writer.append(characteristic.id)
          writer.append(characteristic.uuid)
          writer.append(characteristic.properties.rawValue)
        }
      }
    case .descriptorsDiscovered(let peer, let attribute, let result):
      writer.append(peer)
      writer.append(attribute)
      writer.append(result: result) { writer, descriptors in
        writer.append(list: descriptors) { writer, descriptor in
          writer.append(descriptor.id)
          writer.append(descriptor.uuid)
        }
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
    case .readyToWriteWithoutResponse(let peer): writer.append(peer)
    case .channelOpened(let peer, let result):
      writer.append(peer)
      writer.append(result: result) { $0.append($1) }
    case .servicesModified(let peer, let services):
      writer.append(peer)
      writer.append(list: services) { $0.append($1) }
    case .barrierReached(let number): writer.append(number)
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
    case .readyToWriteWithoutResponse: self = .readyToWriteWithoutResponse(try reader.peer())
    case .channelOpened:
      let peer = try reader.peer()
      self = .channelOpened(peer, try reader.result { (reader) throws(DecodingError) in try reader.channelInfo() })
    case .servicesModified:
      let peer = try reader.peer()
      self = .servicesModified(peer, try reader.list { (reader) throws(DecodingError) in try reader.remoteAttribute() })
    case .barrierReached: self = .barrierReached(try reader.uint32())
    }
  }
}

extension MessageWriter {
  fileprivate mutating func append(_ service: RemoteService) {
    append(service.id)
    append(service.uuid)
    append(service.isPrimary)
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
      try reader.list { (reader) throws(DecodingError) in
        let id = try reader.remoteAttribute()
        let uuid = try reader.uuid()
        return RemoteService(id: id, uuid: uuid, isPrimary: try reader.bool())
      }
    }
  }

  fileprivate mutating func characteristics() throws(DecodingError) -> Result<[RemoteCharacteristic], SessionError> {
    try result { (reader) throws(DecodingError) in
      try reader.list { (reader) throws(DecodingError) in
        let id = try reader.remoteAttribute()
        let uuid = try reader.uuid()
        return RemoteCharacteristic(
          id: id, uuid: uuid, properties: CharacteristicProperties(rawValue: try reader.uint8()))
      }
    }
  }

  fileprivate mutating func descriptors() throws(DecodingError) -> Result<[RemoteDescriptor], SessionError> {
    try result { (reader) throws(DecodingError) in
      try reader.list { (reader) throws(DecodingError) in
        let id = try reader.remoteAttribute()
        return RemoteDescriptor(id: id, uuid: try reader.uuid())
      }
    }
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
