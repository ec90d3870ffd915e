import AccessoryPlayer
import BluetoothAir
import BluetoothTypes
import CoreBluetooth

/// The handles of a device in a file, which are given in the order of the file.
struct RecordedLayout {
  /// The handle of the GAP service in a world; nil: the usual one.
  let firstHandle: Int?
  /// The declarations of the services.
  private let declarations: Set<UInt16>
  /// The first handle that the next attribute of the file may have.
  private var next = 0
  /// The UUID of the present characteristic.
  private var owner = ""
  /// The characteristics with descriptors that the file has at other handles.
  private var displaced: [String] = []

  /// Creates the layout of a device; nil: a handle is not known, or no handle is left for the GAP service.
  init?(of tree: GATTTree) {
    let services = tree.services.filter { service in
      BluetoothUUID(service.uuid.uuidString).map { !ServiceReader.addedServices.contains($0) } ?? false
    }
    let handles = services.compactMap(\.handle)
    let characteristics = services.flatMap(\.characteristics)
    let attributes = characteristics.compactMap(\.handle) + characteristics.flatMap(\.descriptors).compactMap(\.handle)
    guard handles.count == services.count, let first = handles.min(), let last = (handles + attributes).max() else {
      return nil
    }
    declarations = Set(handles)
    firstHandle = PublishedForm.systemHandles.contains(first) ? Int(last) + 1 : nil
  }

  /// What the file can't describe, or an app can't play, a line for each kind.
  var notes: [String] {
    var notes: [String] = []
    if !displaced.isEmpty {
      notes.append(
        "the file has another order of attributes: their handles differ at \(displaced.joined(separator: ", "))")
    }
    if let firstHandle {
      notes.append(
        "handles of the device are those of the GAP and GATT services of an app: ble serve can't give them, and a world "
          + "has its GAP service at \(firstHandle)")
    }
    return notes
  }

  /// Begins a service. Returns the handles of the included services that are in the file.
  mutating func begin(_ service: GATTTree.Service) -> [UInt16] {
    let included = service.includedHandles.filter { declarations.contains($0) && $0 != service.handle }
    next = Int(service.handle ?? 0) + 1 + included.count
    return included
  }

  /// Returns the handle for the declaration of a characteristic; nil: the next one.
  mutating func place(_ characteristic: GATTTree.Characteristic) -> Int? {
    owner = characteristic.uuid.uuidString
    let handle = place(characteristic.handle.map { Int($0) - 1 })
    next += 1
    // The descriptors that a database adds, or that have fields of their own, in its order.
    let types = ["2902", "2903", "2900", "2901", "2904", "2905"].map { CBUUID(string: $0) }
    for type in types {
      guard let descriptor = characteristic.descriptors.first(where: { $0.uuid == type }) else { continue }
      if descriptor.handle.map(Int.init) != next { noteDisplacement() }
      next += 1
    }
    return handle
  }

  /// Returns the handle for another descriptor of the characteristic; nil: the next one.
  mutating func place(_ descriptor: GATTTree.Descriptor) -> Int? { place(descriptor.handle.map(Int.init)) }

  private mutating func place(_ handle: Int?) -> Int? {
    defer { next += 1 }
    guard let handle, handle >= next else {
      noteDisplacement()
      return nil
    }
    next = handle
    return handle
  }

  private mutating func noteDisplacement() { if displaced.last != owner { displaced.append(owner) } }
}
