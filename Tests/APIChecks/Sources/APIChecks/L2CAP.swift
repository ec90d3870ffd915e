import CoreBluetooth

// Compile-time checks for area "L2CAP". Each line names one symbol with its exact type.
func check_L2CAP() {
  // CBL2CAPChannel
  let _: NSObject.Type = CBL2CAPChannel.self
  // CBL2CAPChannel.peer
  let _: KeyPath<CBL2CAPChannel, CBPeer?> = \CBL2CAPChannel.peer
  let _: (CBL2CAPChannel) -> CBPeer = { $0.peer }
  // CBL2CAPChannel.inputStream
  let _: KeyPath<CBL2CAPChannel, InputStream?> = \CBL2CAPChannel.inputStream
  let _: (CBL2CAPChannel) -> InputStream = { $0.inputStream }
  // CBL2CAPChannel.outputStream
  let _: KeyPath<CBL2CAPChannel, OutputStream?> = \CBL2CAPChannel.outputStream
  let _: (CBL2CAPChannel) -> OutputStream = { $0.outputStream }
  // CBL2CAPChannel.psm
  let _: KeyPath<CBL2CAPChannel, CBL2CAPPSM> = \CBL2CAPChannel.psm
  // CBL2CAPPSM
  let _: UInt16.Type = CBL2CAPPSM.self
}
