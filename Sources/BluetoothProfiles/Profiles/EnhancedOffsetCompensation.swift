/// The result of an enhanced offset compensation: the parameter of the control point's response · Cycling Power Service
/// 1.1, 3.4, Start Enhanced Offset Compensation.
public struct EnhancedOffsetCompensation: AttributeValue {
  /// The offset: the torque in units of 1/32 N·m if the meter is torque based, else the force in newtons.
  public var offset: Int16
  /// The assigned number of the company that defines `manufacturerData`.
  public var companyIdentifier: UInt16
  /// Data in a format of the company, at most 255 octets.
  public let manufacturerData: [UInt8]

  /// Creates a result. Of the data, the first 255 octets are taken.
  public init(offset: Int16, companyIdentifier: UInt16, manufacturerData: [UInt8] = []) {
    (self.offset, self.companyIdentifier) = (offset, companyIdentifier)
    self.manufacturerData = Array(manufacturerData.prefix(255))
  }

  public init(from reader: inout ValueReader) throws(ValueError) {
    offset = try reader.integer()
    companyIdentifier = try reader.uint16()
    let count = try reader.uint8()
    manufacturerData = try reader.take(Int(count))
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(offset)
    writer.integer(companyIdentifier)
    writer.integer(UInt8(manufacturerData.count))
    writer.append(manufacturerData)
  }
}
