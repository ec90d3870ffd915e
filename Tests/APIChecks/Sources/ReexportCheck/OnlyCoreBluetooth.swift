// On Apple platforms this single import also gives Foundation and Dispatch.
import CoreBluetooth

func needsNoOtherImport(_ p: CBPeripheral) {
  let _: Data = Data([1])
  let _: UUID = p.identifier
  let _: DispatchQueue = DispatchQueue(label: "q")
  let _: NSObject.Type = CBPeripheral.self
  let _: NSNumber = NSNumber(value: 1)
  let _: (any NSObjectProtocol)? = p
  let _: CFAbsoluteTime = 0
  let _: TimeInterval = 0
  let _: InputStream? = nil
}
