import Foundation

/// Uses names that Foundation has on Apple's systems.
public func age(of time: CFAbsoluteTime) -> CFAbsoluteTime { CFAbsoluteTimeGetCurrent() - time }
