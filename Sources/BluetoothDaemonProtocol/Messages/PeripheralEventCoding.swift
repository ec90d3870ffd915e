import BluetoothDaemon
import BluetoothWire

extension PeripheralEvent {
  var type: PeripheralEventType {
    switch self {
    case .stateChanged: .stateChanged
    case .advertisingStarted: .advertisingStarted
    case .serviceAdded: .serviceAdded
    case .subscribed: .subscribed
    case .unsubscribed: .unsubscribed
    case .maximumUpdateLengthChanged: .maximumUpdateLengthChanged
    case .readRequested: .readRequested
    case .writeRequested: .writeRequested
    case .centralDisconnected: .centralDisconnected
    case .channelPublished: .channelPublished
    case .channelUnpublished: .channelUnpublished
    case .channelOpened: .channelOpened
    case .readyToUpdate: .readyToUpdate
    case .barrierReached: .barrierReached
    case .restored: .restored
    case .advertisingSetStarted: .advertisingSetStarted
    case .advertisingSetEnded: .advertisingSetEnded
    case .link(_, .changed): .linkChanged
    case .link(_, .ended): .linkEnded
    case .link(_, .requestEnded): .linkRequestEnded
    case .indicationConfirmed: .indicationConfirmed
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .stateChanged(let state): writer.append(state)
    case .advertisingStarted(let error): writer.append(optional: error)
    case .serviceAdded(let id, let error):
      writer.append(id)
      writer.append(optional: error)
    case .subscribed(let central, let id), .unsubscribed(let central, let id),
      .indicationConfirmed(let central, let id):
      writer.append(central)
      writer.append(id)
    case .maximumUpdateLengthChanged(let central), .centralDisconnected(let central): writer.append(central)
    case .readRequested(let request, let central, let id, let offset):
      writer.append(request.number)
      writer.append(central)
      writer.append(id)
      writer.append(count: offset)
    case .writeRequested(let request, let central, let writes):
      writer.append(optional: request) { $0.append($1.number) }
      writer.append(central)
      writer.append(list: writes) { writer, write in
        writer.append(write.characteristic)
        writer.append(count: write.offset)
        writer.append(write.value)
      }
    case .channelPublished(let psm, let error), .channelUnpublished(let psm, let error):
      writer.append(psm)
      writer.append(optional: error)
    case .channelOpened(let central, let channel):
      writer.append(central)
      writer.append(channel)
    case .readyToUpdate: break
    case .barrierReached(let number): writer.append(number)
    case .advertisingSetStarted(let set, let error):
      writer.append(set.number)
      writer.append(optional: error)
    case .advertisingSetEnded(let set): writer.append(set.number)
    case .link(let central, let event):
      writer.append(central)
      writer.append(event)
    case .restored(let restored):
      writer.append(list: restored.services) { $0.append($1) }
      writer.append(list: restored.subscriptions) { writer, subscription in
        writer.append(subscription.central)
        writer.append(subscription.characteristic)
      }
      writer.append(optional: restored.advertising) { writer, advertising in
        writer.append(optional: advertising.localName) { $0.append($1) }
        writer.append(list: advertising.services) { $0.append($1) }
      }
    }
  }

  init(_ type: PeripheralEventType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .stateChanged: self = .stateChanged(try reader.adapterState())
    case .advertisingStarted: self = .advertisingStarted(try reader.optionalError())
    case .serviceAdded:
      let id = try reader.localAttribute()
      self = .serviceAdded(id, try reader.optionalError())
    case .subscribed:
      let central = try reader.centralInfo()
      self = .subscribed(central, try reader.localAttribute())
    case .unsubscribed:
      let central = try reader.centralInfo()
      self = .unsubscribed(central, try reader.localAttribute())
    case .maximumUpdateLengthChanged: self = .maximumUpdateLengthChanged(try reader.centralInfo())
    case .readRequested:
      let request = CentralRequestID(number: try reader.uint64())
      let central = try reader.centralInfo()
      let id = try reader.localAttribute()
      self = .readRequested(request, central, id, offset: try reader.count(atMost: 0xFFFF))
    case .writeRequested:
      let request = try reader.optional { (reader) throws(DecodingError) in
        CentralRequestID(number: try reader.uint64())
      }
      let central = try reader.centralInfo()
      self = .writeRequested(
        request, central,
        try reader.list { (reader) throws(DecodingError) in
          let id = try reader.localAttribute()
          let offset = try reader.count(atMost: 0xFFFF)
          return CentralWrite(characteristic: id, offset: offset, value: try reader.slice())
        })
    case .centralDisconnected: self = .centralDisconnected(try reader.centralInfo())
    case .channelPublished:
      let psm = try reader.uint16()
      self = .channelPublished(psm: psm, try reader.optionalError())
    case .channelUnpublished:
      let psm = try reader.uint16()
      self = .channelUnpublished(psm: psm, try reader.optionalError())
    case .channelOpened:
      let central = try reader.centralInfo()
      self = .channelOpened(central, try reader.channelInfo())
    case .readyToUpdate: self = .readyToUpdate
    case .barrierReached: self = .barrierReached(try reader.uint32())
    case .restored: self = .restored(try reader.restoredPeripheral())
    case .advertisingSetStarted:
      let set = LocalSetID(number: try reader.uint32())
      self = .advertisingSetStarted(set, try reader.optionalError())
    case .advertisingSetEnded: self = .advertisingSetEnded(LocalSetID(number: try reader.uint32()))
    case .linkChanged:
      let central = try reader.centralInfo()
      self = .link(central, .changed(try reader.linkInfo()))
    case .linkEnded:
      let central = try reader.centralInfo()
      self = .link(central, .ended(HCI.ErrorCode(rawValue: try reader.uint8())))
    case .linkRequestEnded:
      let central = try reader.centralInfo()
      let kind = try reader.linkRequestKind()
      self = .link(central, .requestEnded(kind, try reader.optionalError()))
    case .indicationConfirmed:
      let central = try reader.centralInfo()
      self = .indicationConfirmed(central, try reader.localAttribute())
    }
  }
}

extension MessageReader {
  fileprivate mutating func restoredPeripheral() throws(DecodingError) -> RestoredPeripheral {
    let services = try list { (reader) throws(DecodingError) in try reader.localService() }
    let subscriptions = try list { (reader) throws(DecodingError) in
      let central = try reader.centralInfo()
      return RestoredPeripheral.Subscription(central: central, characteristic: try reader.localAttribute())
    }
    return RestoredPeripheral(
      services: services, subscriptions: subscriptions,
      advertising: try optional { (reader) throws(DecodingError) in
        let name = try reader.name()
        return RestoredPeripheral.Advertising(localName: name, services: try reader.uuids())
      })
  }
}
