import BluetoothWire
import FuzzSupport

/// Fuzzes HCI commands and ACL data of a host.
///
/// Each packet begins with an octet: 0 and 1 (of its low two bits) a command with opcode, length and parameters; 2 ACL
/// data with handle and flags, length and payload; 3 advances the time and delivers a random packet on the air.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHCICommands(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  let station = FuzzStation()
  while !input.isEmpty {
    let kind = input.octet()
    switch kind & 3 {
    case 2:
      let field = input.number()
      let payload = input.slice(Int(input.octet()))
      guard let boundary = HCI.ACLData.Boundary(rawValue: UInt8(field >> 12 & 0b11)) else { continue }
      let handle = HCI.ConnectionHandle(rawValue: field & 0x0FFF)
      station.receive(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: payload)))
    case 3:
      station.run(for: .milliseconds(Int64(kind >> 2)))
      let header = input.number()
      station.hear(header: header, payload: input.slice(Int(header >> 8)))
    default:
      let opcode = HCI.Opcode(rawValue: input.number())
      station.receive(.command(opcode: opcode, parameters: input.slice(Int(input.octet()))))
      let isSilent = opcode == .hostNumberOfCompletedPackets && station.answers == 0
      precondition(station.answers == 1 || isSilent, "\(station.answers) answers to \(opcode)")
    }
  }
  station.run(for: .seconds(1))
  station.send(.reset)
  precondition(station.answers == 1, "no answer to Reset")
  return 0
}
