// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized

// Apps import only CoreBluetooth and use Foundation and Dispatch, as on Apple's systems.
@_exported import Dispatch
@_exported import Foundation

// The type that `CBUUID.init(cfuuid:)` takes, with the functions that create its values. Foundation on Linux does not
// export them. The whole module would add hundreds of names to every app.
#if CB_CFUUID && canImport(CoreFoundation)
  @_exported import class CoreFoundation.CFUUID
  @_exported import struct CoreFoundation.CFUUIDBytes
  @_exported import func CoreFoundation.CFUUIDCreate
  @_exported import func CoreFoundation.CFUUIDCreateFromUUIDBytes
  @_exported import func CoreFoundation.CFUUIDCreateWithBytes
  @_exported import func CoreFoundation.CFUUIDGetUUIDBytes
#endif

/// The C name of the dispatch queue type, which Dispatch on Linux does not export.
public typealias dispatch_queue_t = DispatchQueue
