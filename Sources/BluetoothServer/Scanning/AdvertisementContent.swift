import BluetoothWire

/// What an advertiser says of itself in its advertisement and its scan response together.
struct AdvertisementContent: Equatable {
  struct ServiceData: Equatable {
    var uuid: BluetoothUUID
    var value: ByteSlice
  }

  private(set) var localName: String?
  private(set) var txPowerLevel: Int8?
  private(set) var services: [BluetoothUUID] = []
  private(set) var solicitedServices: [BluetoothUUID] = []
  private(set) var serviceData: [ServiceData] = []
  /// Company identifier first.
  private(set) var manufacturerData: ByteSlice?
  private var nameIsComplete = false

  /// The content of an advertisement and a scan response (either may be empty), which are kept.
  init(advertisement: ByteSlice, scanResponse: ByteSlice) {
    add(advertisement)
    add(scanResponse)
  }

  /// The services of an overflow area that `wanted` asks for: an area can only answer whether one of them may be in it.
  func overflowServices(among wanted: [BluetoothUUID]) -> [BluetoothUUID] {
    guard let manufacturerData, let area = OverflowArea(manufacturerData: manufacturerData) else { return [] }
    return wanted.filter { area.mayContain($0) && !services.contains($0) }
  }

  /// AD structures up to the first that does not fit; a field that makes no sense is left out.
  private mutating func add(_ data: ByteSlice) {
    var reader = ByteReader(data)
    while let length = try? reader.uint8(), length > 0, let structure = try? reader.take(Int(length)) {
      add(type: structure[0], value: structure.dropFirst(1))
    }
  }

  private mutating func add(type: UInt8, value: ByteSlice) {
    switch type {
    case ADType.incomplete16, ADType.complete16: append(value, .bits16, to: \.services)
    case ADType.incomplete32, ADType.complete32: append(value, .bits32, to: \.services)
    case ADType.incomplete128, ADType.complete128: append(value, .bits128, to: \.services)
    case ADType.solicited16: append(value, .bits16, to: \.solicitedServices)
    case ADType.solicited32: append(value, .bits32, to: \.solicitedServices)
    case ADType.solicited128: append(value, .bits128, to: \.solicitedServices)
    case ADType.serviceData16: addServiceData(value, .bits16)
    case ADType.serviceData32: addServiceData(value, .bits32)
    case ADType.serviceData128: addServiceData(value, .bits128)
    case ADType.shortenedName: addName(value, isComplete: false)
    case ADType.completeName: addName(value, isComplete: true)
    case ADType.txPower where value.count == 1: txPowerLevel = Int8(bitPattern: value[0])
    case ADType.manufacturerData where value.count >= 2: manufacturerData = value
    default: break
    }
  }

  private mutating func append(
    _ value: ByteSlice, _ width: BluetoothUUID.Width, to list: WritableKeyPath<Self, [BluetoothUUID]>
  ) {
    var reader = ByteReader(value)
    while let uuid = try? reader.uuid(width) {
      if !self[keyPath: list].contains(uuid) { self[keyPath: list].append(uuid) }
    }
  }

  private mutating func addServiceData(_ value: ByteSlice, _ width: BluetoothUUID.Width) {
    var reader = ByteReader(value)
    guard let uuid = try? reader.uuid(width) else { return }
    let data = ServiceData(uuid: uuid, value: reader.rest())
    if let index = serviceData.firstIndex(where: { $0.uuid == uuid }) {
      serviceData[index] = data
    } else {
      serviceData.append(data)
    }
  }

  /// A complete name is not replaced by a shortened one.
  private mutating func addName(_ value: ByteSlice, isComplete: Bool) {
    guard isComplete || !nameIsComplete,
      let name = value.withUnsafeBytes({ String(validating: $0, as: UTF8.self) })
    else { return }
    localName = name
    nameIsComplete = isComplete
  }

  /// The AD types that become part of an app's advertisement data · Assigned Numbers, 2.3.
  private enum ADType {
    static let incomplete16: UInt8 = 0x02
    static let complete16: UInt8 = 0x03
    static let incomplete32: UInt8 = 0x04
    static let complete32: UInt8 = 0x05
    static let incomplete128: UInt8 = 0x06
    static let complete128: UInt8 = 0x07
    static let shortenedName: UInt8 = 0x08
    static let completeName: UInt8 = 0x09
    static let txPower: UInt8 = 0x0A
    static let solicited16: UInt8 = 0x14
    static let solicited128: UInt8 = 0x15
    static let serviceData16: UInt8 = 0x16
    static let solicited32: UInt8 = 0x1F
    static let serviceData32: UInt8 = 0x20
    static let serviceData128: UInt8 = 0x21
    static let manufacturerData: UInt8 = 0xFF
  }
}
