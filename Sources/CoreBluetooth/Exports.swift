// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

// Clients import CoreBluetooth alone and use Foundation and Dispatch, as they do on Apple's systems.
@_exported import Dispatch
@_exported import Foundation

/// Seconds since 1 January 2001, 00:00 UTC. Foundation on Linux does not show Core Foundation's name.
public typealias CFAbsoluteTime = Double

/// The wall clock's time now.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
  Date().timeIntervalSinceReferenceDate
}

/// The queue's type under the name that C gives it; Dispatch on Linux does not show it.
public typealias dispatch_queue_t = DispatchQueue
