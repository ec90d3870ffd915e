// Off by default: see Package.swift.
#if CB_CFUUID && canImport(CoreFoundation)
  import CoreFoundation

  extension CBUUID {
    /// Creates a 128-bit UUID from `theUUID`.
    @available(*, deprecated, message: "use init(nsuuid:)")
    public convenience init(cfuuid theUUID: CFUUID) {
      self.init(data: withUnsafeBytes(of: CFUUIDGetUUIDBytes(theUUID)) { Data($0) })
    }
  }
#endif
