import BluetoothWire

/// An attribute's number on one server, 0x0001 to 0xFFFF · Vol 3, Part F, 3.2.2.
package typealias AttributeHandle = UInt16

/// A procedure of the GATT client · Vol 3, Part G, 4. Procedures on one link run one after the other, in order.
package enum GATTRequest: Sendable {
  /// Discover All Primary Services · 4.4.1.
  case discoverPrimaryServices
  /// Discover Primary Service by Service UUID · 4.4.2.
  case discoverPrimaryService(BluetoothUUID)
  /// Find Included Services · 4.5.1.
  case findIncludedServices(in: ClosedRange<AttributeHandle>)
  /// Discover All Characteristics of a Service · 4.6.1.
  case discoverCharacteristics(in: ClosedRange<AttributeHandle>)
  /// Discover Characteristics by UUID · 4.6.2.
  case discoverCharacteristic(BluetoothUUID, in: ClosedRange<AttributeHandle>)
  /// Discover All Characteristic Descriptors · 4.7.1; the range begins after the characteristic's value.
  case discoverDescriptors(in: ClosedRange<AttributeHandle>)
  /// Read Characteristic Value or Descriptor, to its end · 4.8.1, 4.8.3, 4.12.1, 4.12.2.
  case read(AttributeHandle)
  /// Read Using Characteristic UUID · 4.8.2: the first ones in the range, as many as fit one response; each value cut to
  /// what fits. It fails with `attributeNotFound` where there is none.
  case readByType(BluetoothUUID, in: ClosedRange<AttributeHandle>)
  /// Read Multiple Characteristic Values · 4.8.4: two or more, which come as one value without any mark between them, cut
  /// to what fits.
  case readMultiple([AttributeHandle])
  /// Write Characteristic Value or Descriptor with a response, in prepared parts when it is long · 4.9.3, 4.9.4, 4.12.3.
  case write(AttributeHandle, ByteSlice)
  /// Write Without Response · 4.9.1. Completes when the controller has taken it; a value that is longer than
  /// MTU − 3 fails with `invalidAttributeValueLength`.
  case writeWithoutResponse(AttributeHandle, ByteSlice)
  /// Signed Write Without Response · 4.9.2; on an encrypted link it is a Write Without Response. What is longer than MTU − 15
  /// octets, or nobody signs, wants such a link, and fails with `insufficientAuthentication` where there is none to be had.
  case signedWriteWithoutResponse(AttributeHandle, ByteSlice)
  /// Reliable Writes, and long writes at an offset · 4.9.4, 4.9.5, 4.12.3: all parts are prepared, each echo is compared,
  /// and only then all are written at once, or none.
  case reliableWrite([GATTWritePart])
}

/// The result of a `GATTRequest`.
package enum GATTResponse: Hashable, Sendable {
  case services([GATTService])
  case includedServices([GATTInclude])
  case characteristics([GATTCharacteristic])
  case descriptors([GATTDescriptor])
  case value(ByteSlice)
  case values([GATTValue])
  case done
}

package struct GATTService: Hashable, Sendable {
  package var range: ClosedRange<AttributeHandle>
  package var uuid: BluetoothUUID
  package init(range: ClosedRange<AttributeHandle>, uuid: BluetoothUUID) {
    self.range = range
    self.uuid = uuid
  }
}

package struct GATTInclude: Hashable, Sendable {
  /// The include declaration.
  package var declaration: AttributeHandle
  package var service: GATTService
  package init(declaration: AttributeHandle, service: GATTService) {
    self.declaration = declaration
    self.service = service
  }
}

package struct GATTCharacteristic: Hashable, Sendable {
  package var declaration: AttributeHandle
  package var value: AttributeHandle
  package var properties: GATTProperties
  package var uuid: BluetoothUUID
  package init(declaration: AttributeHandle, value: AttributeHandle, properties: GATTProperties, uuid: BluetoothUUID) {
    self.declaration = declaration
    self.value = value
    self.properties = properties
    self.uuid = uuid
  }
}

package struct GATTDescriptor: Hashable, Sendable {
  package var handle: AttributeHandle
  package var uuid: BluetoothUUID
  package init(handle: AttributeHandle, uuid: BluetoothUUID) {
    self.handle = handle
    self.uuid = uuid
  }
}

/// A value that was found by its type.
package struct GATTValue: Hashable, Sendable {
  package var handle: AttributeHandle
  package var value: ByteSlice
  package init(handle: AttributeHandle, value: ByteSlice) {
    self.handle = handle
    self.value = value
  }
}

/// Characteristic Properties · Vol 3, Part G, 3.3.1.1.
package struct GATTProperties: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let broadcast = GATTProperties(rawValue: 0x01)
  package static let read = GATTProperties(rawValue: 0x02)
  package static let writeWithoutResponse = GATTProperties(rawValue: 0x04)
  package static let write = GATTProperties(rawValue: 0x08)
  package static let notify = GATTProperties(rawValue: 0x10)
  package static let indicate = GATTProperties(rawValue: 0x20)
  package static let authenticatedSignedWrites = GATTProperties(rawValue: 0x40)
  // swift-format-ignore: DontRepeatTypeInStaticProperties
  package static let extendedProperties = GATTProperties(rawValue: 0x80)
}

/// Why a GATT procedure failed.
package enum GATTError: Error, Hashable, Sendable {
  /// The server answered with this code.
  case att(ATT.ErrorCode)
  /// The server broke the protocol, for example with handles that do not increase.
  case invalidResponse
  /// No answer within 30 s; the bearer is closed · Vol 3, Part F, 3.3.3.
  case timeout
}

/// Names a `GATTRequest` of the client until it has completed.
package typealias GATTToken = UInt32

/// What the GATT client and server on one link tell.
package enum GATTEvent: Hashable, Sendable {
  // Both
  /// The ATT_MTU of the link is now this.
  case mtuChanged(Int)

  // Client
  case completed(GATTToken, Result<GATTResponse, GATTError>)
  /// Handle Value Notification or Indication (already confirmed) · Vol 3, Part F, 3.4.7.
  case valueReceived(AttributeHandle, ByteSlice)
  /// The server's attributes in this range changed: Service Changed · Vol 3, Part G, 7.1.
  case servicesChanged(ClosedRange<AttributeHandle>)
  /// The server wants a better protected link for what it was asked; that waits for `GATTBearer.securityChanged` or
  /// `securityFailed`. The host takes care of it, and does not tell those above.
  case securityWanted(SecurityDemand)
  /// A signature was counted that has not left yet. The host keeps the counter, and does not tell those above.
  case signatureMade

  // Server
  /// A client wants the value of a dynamic attribute, from `offset` on. Answer with `respond`.
  case readRequested(GATTServerRequest, AttributeHandle, offset: Int)
  /// A client writes dynamic attributes: one part for a Write Request or Command, the parts of all prepared writes for
  /// Execute Write. Answer with `respond`, unless the request is nil (Write Command, Signed Write Command).
  case writeRequested(GATTServerRequest?, GATTWriteParts)
  /// A client's configuration of a characteristic (by its value's handle) changed.
  case subscriptionChanged(AttributeHandle, GATTSubscription)
  /// A notification left for the controller or an indication was confirmed: there is room for one more.
  case updateSent(AttributeHandle)
  /// A client has configured for all clients whether this characteristic (by its value's handle) is broadcast: its owner
  /// puts its value into the Service Data of the advertising, or takes it out · Vol 3, Part G, 2.7.
  case broadcastChanged(AttributeHandle, Bool)
}

/// Names a request of a peer that waits for `respond`.
package struct GATTServerRequest: Hashable, Sendable {
  package let number: UInt32
  package init(number: UInt32) { self.number = number }
}

package struct GATTWritePart: Hashable, Sendable {
  package var handle: AttributeHandle
  package var offset: Int
  package var value: ByteSlice
  package init(handle: AttributeHandle, offset: Int, value: ByteSlice) {
    self.handle = handle
    self.offset = offset
    self.value = value
  }
}

/// What a client writes at once: one part or more, in the order in which they came. One alone, which is nearly always so,
/// takes nothing from the heap.
package struct GATTWriteParts: RandomAccessCollection, ExpressibleByArrayLiteral, Hashable, Sendable {
  private enum Content: Hashable, Sendable {
    case one(GATTWritePart)
    case several([GATTWritePart])
  }

  private let content: Content

  package init(_ part: GATTWritePart) { content = .one(part) }

  package init(_ parts: [GATTWritePart]) {
    content = parts.count == 1 ? .one(parts[0]) : .several(parts)
  }

  package init(arrayLiteral parts: GATTWritePart...) { self.init(parts) }

  package var startIndex: Int { 0 }

  package var endIndex: Int {
    switch content {
    case .one: 1
    case .several(let parts): parts.count
    }
  }

  package subscript(position: Int) -> GATTWritePart {
    switch content {
    case .one(let part):
      precondition(position == 0, "part \(position) of 1")
      return part
    case .several(let parts): return parts[position]
    }
  }
}

/// Client Characteristic Configuration · Vol 3, Part G, 3.3.3.3.
package struct GATTSubscription: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let notification = GATTSubscription(rawValue: 0x0001)
  package static let indication = GATTSubscription(rawValue: 0x0002)
}
