import BluetoothDaemon
import BluetoothHost
import BluetoothWire

extension CentralCommand {
  var type: CentralCommandType {
    switch self {
    case .scan: .scan
    case .stopScan: .stopScan
    case .connect: .connect
    case .cancelConnection: .cancelConnection
    case .registerForConnectionEvents: .registerForConnectionEvents
    case .readRSSI: .readRSSI
    case .observeLinks: .observeLinks
    case .changeLink: .changeLink
    case .discoverServices: .discoverServices
    case .discoverIncludedServices: .discoverIncludedServices
    case .discoverCharacteristics: .discoverCharacteristics
    case .discoverDescriptors: .discoverDescriptors
    case .read: .read
    case .write: .write
    case .writeWithoutResponse: .writeWithoutResponse
    case .signedWriteWithoutResponse: .signedWriteWithoutResponse
    case .setNotify: .setNotify
    case .openChannel: .openChannel
    case .barrier: .barrier
    case .askForPower: .askForPower
    case .requestAlerts: .requestAlerts
    case .synchronize: .synchronize
    case .endSynchronization: .endSynchronization
    case .requireNotifications: .requireNotifications
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .scan(let request): writer.append(request)
    case .stopScan, .observeLinks, .askForPower: break
    case .connect(let peer, let delay, let reconnects):
      writer.append(peer)
      writer.append(delay)
      writer.append(reconnects)
    case .cancelConnection(let peer), .readRSSI(let peer), .requireNotifications(let peer): writer.append(peer)
    case .registerForConnectionEvents(let filter):
      writer.append(optional: filter) { writer, filter in
        // In a fixed order, so that the same command has the same octets.
        writer.append(filter: filter.peers.sorted { ($0.high, $0.low) < ($1.high, $1.low) }) { $0.append($1) }
        writer.append(filter: filter.services.sorted { ($0.high, $0.low) < ($1.high, $1.low) }) { $0.append($1) }
      }
    case .changeLink(let peer, let request):
      writer.append(peer)
      writer.append(request)
    case .discoverServices(let peer, let filter):
      writer.append(peer)
      writer.append(optionalFilter: filter)
    case .discoverIncludedServices(let peer, let attribute, let filter),
      .discoverCharacteristics(let peer, let attribute, let filter):
      writer.append(peer)
      writer.append(attribute)
      writer.append(optionalFilter: filter)
    case .discoverDescriptors(let peer, let attribute), .read(let peer, let attribute):
      writer.append(peer)
      writer.append(attribute)
    case .write(let peer, let attribute, let value), .writeWithoutResponse(let peer, let attribute, let value),
      .signedWriteWithoutResponse(let peer, let attribute, let value):
      writer.append(peer)
      writer.append(attribute)
      writer.append(value)
    case .setNotify(let peer, let attribute, let isOn):
      writer.append(peer)
      writer.append(attribute)
      writer.append(isOn)
    case .openChannel(let peer, let psm):
      writer.append(peer)
      writer.append(psm)
    case .barrier(let number): writer.append(number)
    case .synchronize(let number, let request):
      writer.append(number)
      writer.append(request.advertiser)
      writer.append(request.advertisingSID)
      writer.append(request.skip)
      writer.append(request.timeout)
      writer.append(request.includesLECoded)
    case .endSynchronization(let number): writer.append(number)
    case .requestAlerts(let peer, let alerts):
      writer.append(peer)
      writer.append(alerts.rawValue)
    }
  }

  init(_ type: CentralCommandType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .scan: self = .scan(try reader.scanRequest())
    case .stopScan: self = .stopScan
    case .synchronize:
      let number = try reader.uint32()
      let advertiser = try reader.address()
      let advertisingSID = try reader.uint8()
      let skip = try reader.uint16()
      let timeout = try reader.uint16()
      self = .synchronize(
        number,
        SyncRequest(
          advertiser: advertiser, advertisingSID: advertisingSID, skip: skip, timeout: timeout,
          includesLECoded: try reader.bool()))
    case .endSynchronization: self = .endSynchronization(try reader.uint32())
    case .requestAlerts:
      let peer = try reader.peer()
      self = .requestAlerts(peer, AlertKinds(rawValue: try reader.uint8()))
    case .connect:
      let peer = try reader.peer()
      let delay = try reader.delay()
      self = .connect(peer, delay: delay, reconnects: try reader.bool())
    case .requireNotifications: self = .requireNotifications(try reader.peer())
    case .cancelConnection: self = .cancelConnection(try reader.peer())
    case .registerForConnectionEvents:
      self = .registerForConnectionEvents(
        try reader.optional { (reader) throws(DecodingError) in
          let peers = try reader.filter { (reader) throws(DecodingError) in try reader.identifier() }
          return ConnectionEventFilter(peers: Set(peers), services: Set(try reader.filterUUIDs()))
        })
    case .readRSSI: self = .readRSSI(try reader.peer())
    case .observeLinks: self = .observeLinks
    case .changeLink:
      let peer = try reader.peer()
      self = .changeLink(peer, try reader.linkRequest())
    case .discoverServices:
      let peer = try reader.peer()
      self = .discoverServices(peer, try reader.optionalFilter())
    case .discoverIncludedServices:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .discoverIncludedServices(peer, attribute, try reader.optionalFilter())
    case .discoverCharacteristics:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .discoverCharacteristics(peer, attribute, try reader.optionalFilter())
    case .discoverDescriptors:
      let peer = try reader.peer()
      self = .discoverDescriptors(peer, try reader.remoteAttribute())
    case .read:
      let peer = try reader.peer()
      self = .read(peer, try reader.remoteAttribute())
    case .write:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .write(peer, attribute, try reader.slice(atMost: 0xFFFF))
    case .writeWithoutResponse:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .writeWithoutResponse(peer, attribute, try reader.slice(atMost: 0xFFFF))
    case .signedWriteWithoutResponse:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .signedWriteWithoutResponse(peer, attribute, try reader.slice(atMost: 0xFFFF))
    case .setNotify:
      let peer = try reader.peer()
      let attribute = try reader.remoteAttribute()
      self = .setNotify(peer, attribute, try reader.bool())
    case .openChannel:
      let peer = try reader.peer()
      self = .openChannel(peer, psm: try reader.uint16())
    case .barrier: self = .barrier(try reader.uint32())
    case .askForPower: self = .askForPower
    }
  }
}

extension MessageWriter {
  fileprivate mutating func append(optionalFilter uuids: [BluetoothUUID]?) {
    append(optional: uuids) { writer, uuids in writer.append(filter: uuids) { $0.append($1) } }
  }

  mutating func append(_ request: ScanRequest) {
    append(optionalFilter: request.services)
    append(filter: request.solicitedServices) { $0.append($1) }
    append(request.allowsDuplicates)
    append(optional: request.packets) { writer, packets in
      writer.append(packets.isActive)
      writer.append(packets.includesLECoded)
    }
  }
}

extension MessageReader {
  fileprivate mutating func optionalFilter() throws(DecodingError) -> [BluetoothUUID]? {
    try optional { (reader) throws(DecodingError) in try reader.filterUUIDs() }
  }

  mutating func scanRequest() throws(DecodingError) -> ScanRequest {
    let services = try optionalFilter()
    let solicitedServices = try filterUUIDs()
    var request = ScanRequest(
      services: services, solicitedServices: solicitedServices, allowsDuplicates: try bool())
    request.packets = try optional { (reader) throws(DecodingError) in
      let isActive = try reader.bool()
      return PacketScan(isActive: isActive, includesLECoded: try reader.bool())
    }
    return request
  }
}
