import BluetoothDaemon
import BluetoothWire

/// The numbers of the cases of `ConnectionLatency`.
private enum LatencyNumber: UInt8 { case low, medium, high }

extension PeripheralCommand {
  var type: PeripheralCommandType {
    switch self {
    case .startAdvertising: .startAdvertising
    case .advertise: .advertise
    case .stopAdvertising: .stopAdvertising
    case .addService: .addService
    case .addServiceAt: .addServiceAt
    case .removeService: .removeService
    case .removeAllServices: .removeAllServices
    case .respond: .respond
    case .update: .update
    case .setConnectionLatency: .setConnectionLatency
    case .publishChannel: .publishChannel
    case .unpublishChannel: .unpublishChannel
    case .barrier: .barrier
    case .askForPower: .askForPower
    case .startSet: .startSet
    case .stopSet: .stopSet
    case .observeLinks: .observeLinks
    case .changeLink: .changeLink
    case .disconnect: .disconnect
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .startAdvertising(let localName, let services):
      writer.append(optional: localName) { $0.append($1) }
      writer.append(filter: services) { $0.append($1) }
    case .advertise(let advertising): writer.append(advertising)
    case .stopAdvertising, .removeAllServices, .askForPower, .observeLinks: break
    case .startSet(let set, let advertising):
      writer.append(set.number)
      writer.append(advertising)
    case .stopSet(let set): writer.append(set.number)
    case .changeLink(let peer, let request):
      writer.append(peer)
      writer.append(request)
    case .disconnect(let peer): writer.append(peer)
    case .addService(let service): writer.append(service)
    case .addServiceAt(let service):
      writer.append(service)
      writer.append(handlesOf: service)
    case .removeService(let id): writer.append(id)
    case .respond(let request, let error, let value):
      writer.append(request.number)
      writer.append(optional: error) { $0.append($1.rawValue) }
      writer.append(value)
    case .update(let id, let value, let centrals):
      writer.append(id)
      writer.append(value)
      writer.append(optional: centrals) { writer, centrals in writer.append(filter: centrals) { $0.append($1) } }
    case .setConnectionLatency(let latency, let peer):
      switch latency {
      case .low: writer.put(LatencyNumber.low)
      case .medium: writer.put(LatencyNumber.medium)
      case .high: writer.put(LatencyNumber.high)
      }
      writer.append(peer)
    case .publishChannel(let isEncrypted): writer.append(isEncrypted)
    case .unpublishChannel(let psm): writer.append(psm)
    case .barrier(let number): writer.append(number)
    }
  }

  init(_ type: PeripheralCommandType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .startAdvertising:
      let localName = try reader.name()
      self = .startAdvertising(localName: localName, services: try reader.filterUUIDs())
    case .advertise: self = .advertise(try reader.advertising())
    case .stopAdvertising: self = .stopAdvertising
    case .addService: self = .addService(try reader.localService())
    case .addServiceAt:
      var service = try reader.localService()
      try reader.readHandles(of: &service)
      self = .addServiceAt(service)
    case .removeService: self = .removeService(try reader.localAttribute())
    case .removeAllServices: self = .removeAllServices
    case .respond:
      let request = CentralRequestID(number: try reader.uint64())
      let error = try reader.optional { (reader) throws(DecodingError) in
        ATT.ErrorCode(rawValue: try reader.uint8())
      }
      self = .respond(request, error, value: try reader.slice(atMost: 0xFFFF))
    case .update:
      let id = try reader.localAttribute()
      let value = try reader.slice(atMost: 0xFFFF)
      self = .update(
        id, value,
        try reader.optional { (reader) throws(DecodingError) in
          try reader.filter { (reader) throws(DecodingError) in try reader.peer() }
        })
    case .setConnectionLatency:
      let latency: ConnectionLatency =
        switch try reader.value(LatencyNumber.self) {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
      self = .setConnectionLatency(latency, try reader.peer())
    case .publishChannel: self = .publishChannel(isEncrypted: try reader.bool())
    case .unpublishChannel: self = .unpublishChannel(psm: try reader.uint16())
    case .barrier: self = .barrier(try reader.uint32())
    case .askForPower: self = .askForPower
    case .startSet:
      let set = LocalSetID(number: try reader.uint32())
      self = .startSet(set, try reader.advertising())
    case .stopSet: self = .stopSet(LocalSetID(number: try reader.uint32()))
    case .observeLinks: self = .observeLinks
    case .changeLink:
      let peer = try reader.peer()
      self = .changeLink(peer, try reader.linkRequest())
    case .disconnect: self = .disconnect(try reader.peer())
    }
  }
}
