import BluetoothWire
import DequeModule

/// The client side of one ATT bearer: runs the procedures of GATT one after the other · Vol 3, Part G, 4.
struct GATTClient {
  /// For whom a procedure runs.
  enum Owner {
    case above(GATTToken)
    /// The MTU exchange.
    case link
    /// The client's own subscription to Service Changed.
    case watch
  }

  /// Where the current procedure stands: what the request on its way is for.
  enum Procedure {
    case exchangeMTU
    case discoverPrimaryServices
    case discoverPrimaryService(BluetoothUUID)
    case findIncludedServices(in: ClosedRange<AttributeHandle>)
    /// Reads the declaration of an included service whose UUID the include declaration does not hold.
    case readIncludedService(Int)
    case discoverCharacteristics(in: ClosedRange<AttributeHandle>)
    case discoverDescriptors(in: ClosedRange<AttributeHandle>)
    case read(AttributeHandle)
    case readRest(AttributeHandle)
    case write
    case prepareWrite(AttributeHandle, ByteSlice, part: Range<Int>)
    case executeWrite
    /// The prepared parts are given up because of this.
    case cancelWrite(GATTError)
    case writeWithoutResponse
  }

  /// How a procedure goes on.
  enum Step {
    case request(ATT.PDU, Procedure)
    case done(GATTResponse)
    case failed(GATTError)
  }

  /// What a discovery has found so far.
  struct Findings {
    var services: [GATTService] = []
    var includes: [GATTInclude] = []
    /// Those of `includes` whose UUID is to be read.
    var unresolved: [Int] = []
    var characteristics: [GATTCharacteristic] = []
    var descriptors: [GATTDescriptor] = []
  }

  private var transaction = ATTTransaction()
  private var current: (owner: Owner, procedure: Procedure)?
  private var queue: Deque<(token: GATTToken, request: GATTRequest)> = []
  private var confirmations = 0
  var found = Findings()
  /// A long value as far as it has been read.
  var longValue: [UInt8] = []
  private(set) var watch = GATTServiceChangedWatch()

  var deadline: Instant? { transaction.deadline }

  // MARK: Requests

  /// Exchange MTU · Vol 3, Part G, 4.3.1.
  mutating func exchangeMTU(_ context: inout GATTContext) {
    guard current == nil else { return }
    current = (.link, .exchangeMTU)
    transaction.begin(.exchangeMTURequest(clientReceiveMTU: UInt16(context.maximumMTU)))
  }

  mutating func request(_ request: GATTRequest, token: GATTToken, context: inout GATTContext) {
    if let reason = context.closed {
      context.events.append(.completed(token, .failure(reason)))
      return
    }
    queue.append((token, request))
    startNext(&context)
  }

  /// Begins what waits, until something is on its way. The client's own affairs come last.
  private mutating func startNext(_ context: inout GATTContext) {
    while current == nil {
      if let next = queue.popFirst() {
        follow(begin(next.request, context), owner: .above(next.token), &context)
      } else if let request = watch.nextRequest {
        follow(begin(request, context), owner: .watch, &context)
      } else {
        return
      }
    }
  }

  /// Sends what comes next, or tells the result.
  private mutating func follow(_ step: Step, owner: Owner, _ context: inout GATTContext) {
    switch step {
    case .request(let pdu, let procedure):
      current = (owner, procedure)
      transaction.begin(pdu)
    case .done(let response): finish(owner, .success(response), &context)
    case .failed(let error): finish(owner, .failure(error), &context)
    }
  }

  private mutating func finish(
    _ owner: Owner, _ result: Result<GATTResponse, GATTError>, _ context: inout GATTContext
  ) {
    current = nil
    found = Findings()
    switch owner {
    case .above(let token):
      if case .success(.services(let services)) = result { watch.discovered(services) }
      context.events.append(.completed(token, result))
    case .watch: watch.advance(result)
    case .link: break
    }
  }

  /// The bearer is closed: nothing that waits will be answered.
  mutating func close(_ reason: GATTError, _ context: inout GATTContext) {
    transaction.cancel()
    confirmations = 0
    if let current { finish(current.owner, .failure(reason), &context) }
    while let next = queue.popFirst() { context.events.append(.completed(next.token, .failure(reason))) }
  }

  // MARK: PDUs

  /// The next PDU: what was indicated is confirmed first.
  mutating func takePDU(at now: Instant, context: inout GATTContext) -> ATT.PDU? {
    if confirmations > 0 {
      confirmations -= 1
      return .handleValueConfirmation
    }
    guard let pdu = transaction.take(at: now) else { return nil }
    if let current, case .writeWithoutResponse = current.procedure {
      finish(current.owner, .success(.done), &context)
      startNext(&context)
    }
    return pdu
  }

  mutating func receiveResponse(_ opcode: ATT.Opcode, _ octets: ByteSlice, context: inout GATTContext) {
    guard let (owner, procedure) = current else { return }
    let step: Step
    switch transaction.receive(opcode, octets) {
    case .unsolicited: return
    case .malformed:
      if case .prepareWrite = procedure {
        step = cancelWrite(.invalidResponse)
      } else {
        step = .failed(.invalidResponse)
      }
    case .refused(let code): step = refused(procedure, code, context)
    case .response(let pdu): step = advance(procedure, with: pdu, &context)
    }
    follow(step, owner: owner, &context)
    startNext(&context)
  }

  /// Notifications and indications; an indication is confirmed in any case · Vol 3, Part F, 3.4.7.
  mutating func receiveValue(_ octets: ByteSlice, context: inout GATTContext) {
    switch try? ATT.PDU.decode(octets) {
    case .handleValueNotification(let handle, let value):
      context.events.append(.valueReceived(handle, value))
    case .multipleHandleValueNotification(let list):
      for element in list { context.events.append(.valueReceived(element.handle, element.value)) }
    case .handleValueIndication(let handle, let value):
      confirmations += 1
      if handle == watch.value {
        if let range = watch.receive(value) { context.events.append(.servicesChanged(range)) }
      } else {
        context.events.append(.valueReceived(handle, value))
      }
    default: break
    }
  }

  // MARK: Procedures

  private mutating func begin(_ request: GATTRequest, _ context: GATTContext) -> Step {
    switch request {
    case .discoverPrimaryServices: return discoverPrimaryServices(from: 1)
    case .discoverPrimaryService(let uuid): return discoverPrimaryService(uuid, from: 1, context)
    case .findIncludedServices(let range): return findIncludedServices(in: range)
    case .discoverCharacteristics(let range): return discoverCharacteristics(in: range)
    case .discoverDescriptors(let range): return discoverDescriptors(in: range)
    case .read(let handle): return .request(.readRequest(handle: handle), .read(handle))
    case .write(let handle, let value): return write(handle, value, context)
    case .writeWithoutResponse(let handle, let value):
      guard value.count <= context.mtu - 3 else { return .failed(.att(.invalidAttributeValueLength)) }
      return .request(.writeCommand(handle: handle, value: value), .writeWithoutResponse)
    }
  }

  /// The step after the response to the request on its way, which is of the right kind.
  private mutating func advance(
    _ procedure: Procedure, with pdu: ATT.PDU, _ context: inout GATTContext
  ) -> Step {
    switch (procedure, pdu) {
    case (.exchangeMTU, .exchangeMTUResponse(let mtu)):
      context.agreeMTU(with: mtu)
      return .done(.done)
    case (.discoverPrimaryServices, .readByGroupTypeResponse(let list)): return found(list)
    case (.discoverPrimaryService(let uuid), .findByTypeValueResponse(let list)): return found(list, uuid, context)
    case (.findIncludedServices(let range), .readByTypeResponse(let list)): return foundIncludes(list, in: range)
    case (.readIncludedService(let index), .readResponse(let value)): return foundUUID(value, ofInclude: index)
    case (.discoverCharacteristics(let range), .readByTypeResponse(let list)):
      return foundCharacteristics(list, in: range)
    case (.discoverDescriptors(let range), .findInformationResponse(let list)):
      return found(list, in: range)
    case (.read(let handle), .readResponse(let value)): return read(handle, value, context)
    case (.readRest(let handle), .readBlobResponse(let part)): return readRest(handle, part, context)
    case (.write, .writeResponse), (.executeWrite, .executeWriteResponse): return .done(.done)
    case (.prepareWrite(let handle, let value, let part), .prepareWriteResponse(let echo, let offset, let octets)):
      let isExact = echo == handle && Int(offset) == part.lowerBound && octets == value[part]
      return isExact ? prepareWrite(handle, value, after: part, context) : cancelWrite(.invalidResponse)
    case (.cancelWrite(let error), _): return .failed(error)
    default: return .failed(.invalidResponse)
    }
  }

  /// The step after the server has refused the request on its way.
  private mutating func refused(_ procedure: Procedure, _ code: ATT.ErrorCode, _ context: GATTContext) -> Step {
    switch procedure {
    case .discoverPrimaryServices where code == .attributeNotFound,
      .discoverPrimaryService where code == .attributeNotFound:
      return .done(.services(found.services))
    case .findIncludedServices where code == .attributeNotFound: return resolveIncludes()
    case .discoverCharacteristics where code == .attributeNotFound:
      return .done(.characteristics(found.characteristics))
    case .discoverDescriptors where code == .attributeNotFound: return .done(.descriptors(found.descriptors))
    case .readRest where Self.endsLongRead(code): return longValueRead(context)
    case .prepareWrite: return cancelWrite(.att(code))
    case .cancelWrite(let error): return .failed(error)
    default: return .failed(.att(code))
    }
  }
}
