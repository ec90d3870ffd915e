import BluetoothWire

/// The state of a procedure of the GATT client: the purpose of the request in progress.
enum GATTProcedure {
  case exchangeMTU
  case discoverPrimaryServices
  case discoverPrimaryService(BluetoothUUID)
  case findIncludedServices(in: ClosedRange<AttributeHandle>)
  /// Reads the declaration of an included service whose UUID is missing from the include declaration.
  case readIncludedService(Int)
  case discoverCharacteristics(in: ClosedRange<AttributeHandle>)
  case discoverDescriptors(in: ClosedRange<AttributeHandle>)
  case read(AttributeHandle)
  case readRest(AttributeHandle)
  case readByType(in: ClosedRange<AttributeHandle>)
  case readMultiple
  case readMultipleVariable
  case write(AttributeHandle)
  /// Prepares these octets of the value at this index of `writes`.
  case prepareWrite(Int, Range<Int>)
  case executeWrite
  /// Cancels the prepared writes because of this error.
  case cancelWrite(GATTError)
  case writeWithoutResponse(AttributeHandle)

  /// The continuation of a procedure.
  enum Step {
    case request(ATT.PDU, GATTProcedure)
    case done(GATTResponse)
    case failed(GATTError)
  }
}
