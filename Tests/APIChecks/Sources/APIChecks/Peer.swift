import CoreBluetooth

// Compile-time checks for area "Peer". Each line names one symbol with its exact type.
func check_Peer() {
  // CBPeer
  let _: NSObject.Type = CBPeer.self
  let _: any NSCopying.Type = CBPeer.self
  // CBPeer.identifier
  let _: KeyPath<CBPeer, UUID> = \CBPeer.identifier
}
