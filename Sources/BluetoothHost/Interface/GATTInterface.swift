import BluetoothWire

/// The handle of an attribute on one server, 0x0001 to 0xFFFF · Vol 3, Part F, 3.2.2.
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
  /// Read Characteristic Value or Descriptor, including the rest of a long value · 4.8.1, 4.8.3, 4.12.1, 4.12.2.
  case read(AttributeHandle)
  /// Read Using Characteristic UUID · 4.8.2: the first characteristics in the range, as many as fit into one
  /// response, with each value truncated to fit. Fails with `attributeNotFound` if there is none.
  case readByType(BluetoothUUID, in: ClosedRange<AttributeHandle>)
  /// Read Multiple Characteristic Values · 4.8.4: two or more values, which the server returns concatenated without
  /// separators, truncated to fit into one response.
  case readMultiple([AttributeHandle])
  /// Read Multiple Variable Length Characteristic Values · 4.8.5: two or more values. The response leaves out the first
  /// value that does not fit into the PDU as a whole, and all later ones.
  case readMultipleVariable([AttributeHandle])
  /// Write Characteristic Value or Descriptor with a response, as prepared writes if the value is long · 4.9.3,
  /// 4.9.4, 4.12.3.
  case write(AttributeHandle, ByteSlice)
  /// Write Without Response · 4.9.1. Completes when the controller has accepted it; a value longer than MTU − 3 fails
  /// with `invalidAttributeValueLength`.
  case writeWithoutResponse(AttributeHandle, ByteSlice)
  /// Signed Write Without Response · 4.9.2; on an encrypted link, a Write Without Response. A value that is longer
  /// than MTU − 15 octets or cannot be signed needs an encrypted link, and fails with `insufficientAuthentication` if
  /// the link cannot be encrypted.
  case signedWriteWithoutResponse(AttributeHandle, ByteSlice)
  /// Reliable Writes, and long writes at an offset · 4.9.4, 4.9.5, 4.12.3: the client prepares all parts and compares
  /// each echo; only then does the server write all of them at once, or none.
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
  /// The handle of the include declaration.
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
  package var properties: CharacteristicProperties
  package var uuid: BluetoothUUID
  package init(
    declaration: AttributeHandle, value: AttributeHandle, properties: CharacteristicProperties, uuid: BluetoothUUID
  ) {
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

/// A value that was found by its attribute type.
package struct GATTValue: Hashable, Sendable {
  package var handle: AttributeHandle
  package var value: ByteSlice
  package init(handle: AttributeHandle, value: ByteSlice) {
    self.handle = handle
    self.value = value
  }
}

/// The reason why a GATT procedure failed.
package enum GATTError: Error, Hashable, Sendable {
  /// The server answered with this error code.
  case att(ATT.ErrorCode)
  /// The server violated the protocol, for example with a PDU of the wrong length.
  case invalidResponse
  /// The server sent a handle that can't be: 0, one that does not increase, one outside the requested range, or the end
  /// of a group before its start.
  case invalidHandle
  /// The server did not answer within 30 s; the bearer is closed · Vol 3, Part F, 3.3.3.
  case timeout
}

/// The identifier of a client's `GATTRequest` until the request has completed.
package typealias GATTToken = UInt64

/// The originator of a client's requests. The requesters on one bearer take turns, one procedure each.
@usableFromInline package struct GATTRequester: Hashable, Sendable {
  @usableFromInline let number: UInt64

  /// Creates the requester with a number that no other requester has, below 2⁶⁴ − 1.
  @inlinable package init(number: UInt64) { self.number = number }

  /// The requester of the requests that no app has made.
  @inlinable package static var system: GATTRequester { GATTRequester(number: .max) }
}

/// The priority of a client's request, which determines how requests that can wait give way to it.
package enum GATTPriority: Sendable {
  /// A read or a write by an app. Background requests wait for its end, and then until the bearer has been quiet for a
  /// while.
  case app
  /// A request that the upper layer makes for several apps, such as a discovery. It restarts the quiet time when it
  /// begins and when it ends, but background requests do not wait for its end.
  case system
  /// A request that no app has made; see `Host.awaitBackgroundTurn`.
  case background
}

/// An event of the GATT client or the GATT server on one link.
package enum GATTEvent: Hashable, Sendable {
  // Client and server
  /// The ATT_MTU of the link has changed to this value.
  case mtuChanged(Int)

  // Client
  case completed(GATTToken, Result<GATTResponse, GATTError>)
  /// A Handle Value Notification or a Handle Value Indication (already confirmed) has arrived · Vol 3, Part F, 3.4.7.
  case valueReceived(AttributeHandle, ByteSlice)
  /// The server's attributes in this range have changed: Service Changed · Vol 3, Part G, 7.1. `services` are the ranges
  /// of the known services that overlap the range, in order; the host has forgotten them.
  case servicesChanged(ClosedRange<AttributeHandle>, services: [ClosedRange<AttributeHandle>])
  /// The server requires a higher security level for a request, which waits for `GATTBearer.securityChanged` or
  /// `securityFailed`. The host handles this event and does not report it to the upper layer.
  case securityRequired(SecurityDemand)
  /// The sign counter was incremented for a signature that has not been sent yet. The host stores the counter and
  /// does not report this event to the upper layer.
  case signatureMade
  /// The upper layer may send one background request; the answer to `Host.awaitBackgroundTurn`.
  case backgroundTurn

  // Server
  /// A client reads a dynamic attribute from `offset` on. Answer with `respond`.
  case readRequested(GATTServerRequest, AttributeHandle, offset: Int)
  /// A client writes dynamic attributes: one part for a Write Request or a Write Command, the parts of all prepared
  /// writes for Execute Write. Answer with `respond`, unless the request is nil (Write Command, Signed Write
  /// Command).
  case writeRequested(GATTServerRequest?, GATTWriteParts)
  /// A client has changed its configuration of the characteristic whose value has this handle. A configuration that is
  /// restored on a link of a bonded client is reported, and once more when the client writes the same one.
  case subscriptionChanged(AttributeHandle, GATTSubscription)
  /// A notification was passed to the controller, or an indication was confirmed: there is room for one more.
  case updateSent(AttributeHandle)
  /// A client has configured, for all clients, whether the characteristic whose value has this handle is broadcast:
  /// the characteristic's owner adds the value to the Service Data of the advertising, or removes it
  /// · Vol 3, Part G, 2.7.
  case broadcastChanged(AttributeHandle, Bool)
}

/// The identifier of a peer's request that waits for `respond`.
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

/// The parts of a client's write, one or more, in the order of their arrival. A single part, which is by far the most
/// frequent case, needs no heap allocation.
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
