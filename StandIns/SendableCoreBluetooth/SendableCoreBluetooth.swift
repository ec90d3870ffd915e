// Makes the classes of CoreBluetooth Sendable, for clients in Swift 6 mode that share them among isolation domains
// without `@preconcurrency import`. `Scripts/client-flags --sendable` imports this module into each file of a client.
//
// Unchecked, because the classes are open. In this package they have locks; a subclass of the app's own must have one,
// too.

public import CoreBluetooth

extension CBManager: @unchecked Sendable {}
extension CBPeer: @unchecked Sendable {}
extension CBAttribute: @unchecked Sendable {}
extension CBATTRequest: @unchecked Sendable {}
extension CBL2CAPChannel: @unchecked Sendable {}
