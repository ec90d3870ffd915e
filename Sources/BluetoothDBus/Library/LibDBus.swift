#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The functions of libdbus-1 that this module calls. The library is loaded at the first use, so that a machine without
/// it builds and runs everything else.
struct LibDBus: @unchecked Sendable {
  // Unchecked: the pointers to functions are constants.

  /// The library; nil: this machine has none.
  static let loaded = try? LibDBus()

  /// The library.
  ///
  /// - Throws: a `DBusError` that says what to install.
  static func load() throws(DBusError) -> LibDBus {
    guard let loaded else {
      throw DBusError(
        DBusError.Name.libraryMissing,
        "libdbus-1 is missing: install it, for example with apt install libdbus-1-3 (Debian) or dnf install dbus-libs")
    }
    return loaded
  }

  typealias Object = OpaquePointer
  typealias Iterator = UnsafeMutableRawPointer
  typealias Failure = UnsafeMutableRawPointer
  typealias Text = UnsafePointer<CChar>
  typealias AddWatch = @convention(c) (Object?, UnsafeMutableRawPointer?) -> UInt32
  typealias WatchEvent = @convention(c) (Object?, UnsafeMutableRawPointer?) -> Void

  let errorInit: @convention(c) (Failure) -> Void
  let errorFree: @convention(c) (Failure) -> Void
  let free: @convention(c) (UnsafeMutableRawPointer?) -> Void
  let initThreads: @convention(c) () -> UInt32
  let machineID: @convention(c) () -> UnsafeMutablePointer<CChar>?

  let open: @convention(c) (Text, Failure) -> Object?
  let register: @convention(c) (Object, Failure) -> UInt32
  let uniqueName: @convention(c) (Object) -> Text?
  let close: @convention(c) (Object) -> Void
  let unref: @convention(c) (Object) -> Void
  let setExit: @convention(c) (Object, UInt32) -> Void
  let setMaximumMessageSize: @convention(c) (Object, CLong) -> Void
  let setMaximumReceivedSize: @convention(c) (Object, CLong) -> Void
  let setWatches:
    @convention(c) (Object, AddWatch, WatchEvent, WatchEvent, UnsafeMutableRawPointer?, OpaquePointer?) -> UInt32
  let send: @convention(c) (Object, Object, UnsafeMutablePointer<UInt32>?) -> UInt32
  let popMessage: @convention(c) (Object) -> Object?
  let hasMessagesToSend: @convention(c) (Object) -> UInt32
  let isConnected: @convention(c) (Object) -> UInt32
  let watchDescriptor: @convention(c) (Object) -> CInt
  let watchFlags: @convention(c) (Object) -> CUnsignedInt
  let watchIsEnabled: @convention(c) (Object) -> UInt32
  let handleWatch: @convention(c) (Object, CUnsignedInt) -> UInt32

  let newMessage: @convention(c) (CInt) -> Object?
  let unrefMessage: @convention(c) (Object) -> Void
  let demarshal: @convention(c) (Text, CInt, Failure) -> Object?
  let setSerial: @convention(c) (Object, UInt32) -> Void
  let setReplySerial: @convention(c) (Object, UInt32) -> UInt32
  let setNoReply: @convention(c) (Object, UInt32) -> Void
  let setAutoStart: @convention(c) (Object, UInt32) -> Void
  let setPath: @convention(c) (Object, Text) -> UInt32
  let setInterface: @convention(c) (Object, Text) -> UInt32
  let setMember: @convention(c) (Object, Text) -> UInt32
  let setErrorName: @convention(c) (Object, Text) -> UInt32
  let setDestination: @convention(c) (Object, Text) -> UInt32
  let messageType: @convention(c) (Object) -> CInt
  let serial: @convention(c) (Object) -> UInt32
  let replySerial: @convention(c) (Object) -> UInt32
  let noReply: @convention(c) (Object) -> UInt32
  let path: @convention(c) (Object) -> Text?
  let interface: @convention(c) (Object) -> Text?
  let member: @convention(c) (Object) -> Text?
  let errorName: @convention(c) (Object) -> Text?
  let destination: @convention(c) (Object) -> Text?
  let sender: @convention(c) (Object) -> Text?
  let signature: @convention(c) (Object) -> Text?

  let iterate: @convention(c) (Object, Iterator) -> UInt32
  let next: @convention(c) (Iterator) -> UInt32
  let argumentType: @convention(c) (Iterator) -> CInt
  let elementType: @convention(c) (Iterator) -> CInt
  let recurse: @convention(c) (Iterator, Iterator) -> Void
  let iteratorSignature: @convention(c) (Iterator) -> UnsafeMutablePointer<CChar>?
  let getBasic: @convention(c) (Iterator, UnsafeMutableRawPointer) -> Void
  let getFixedArray:
    @convention(c) (Iterator, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<CInt>) -> Void
  let iterateAppend: @convention(c) (Object, Iterator) -> Void
  let appendBasic: @convention(c) (Iterator, CInt, UnsafeRawPointer) -> UInt32
  let appendFixedArray: @convention(c) (Iterator, CInt, UnsafeRawPointer, CInt) -> UInt32
  let openContainer: @convention(c) (Iterator, CInt, Text?, Iterator) -> UInt32
  let closeContainer: @convention(c) (Iterator, Iterator) -> UInt32

  let validatePath: @convention(c) (Text, Failure?) -> UInt32
  let validateInterface: @convention(c) (Text, Failure?) -> UInt32
  let validateMember: @convention(c) (Text, Failure?) -> UInt32
  let validateErrorName: @convention(c) (Text, Failure?) -> UInt32
  let validateBusName: @convention(c) (Text, Failure?) -> UInt32
  let validateSignature: @convention(c) (Text, Failure?) -> UInt32

  private struct Missing: Error {}

  private init() throws {
    let names = ["libdbus-1.so.3", "libdbus-1.3.dylib"]
    guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { throw Missing() }
    func function<T>(_ name: String) throws -> T {
      guard let symbol = dlsym(library, "dbus_" + name) else { throw Missing() }
      return unsafeBitCast(symbol, to: T.self)
    }
    errorInit = try function("error_init")
    errorFree = try function("error_free")
    free = try function("free")
    initThreads = try function("threads_init_default")
    machineID = try function("get_local_machine_id")
    open = try function("connection_open_private")
    register = try function("bus_register")
    uniqueName = try function("bus_get_unique_name")
    close = try function("connection_close")
    unref = try function("connection_unref")
    setExit = try function("connection_set_exit_on_disconnect")
    setMaximumMessageSize = try function("connection_set_max_message_size")
    setMaximumReceivedSize = try function("connection_set_max_received_size")
    setWatches = try function("connection_set_watch_functions")
    send = try function("connection_send")
    popMessage = try function("connection_pop_message")
    hasMessagesToSend = try function("connection_has_messages_to_send")
    isConnected = try function("connection_get_is_connected")
    watchDescriptor = try function("watch_get_unix_fd")
    watchFlags = try function("watch_get_flags")
    watchIsEnabled = try function("watch_get_enabled")
    handleWatch = try function("watch_handle")
    newMessage = try function("message_new")
    unrefMessage = try function("message_unref")
    demarshal = try function("message_demarshal")
    setSerial = try function("message_set_serial")
    setReplySerial = try function("message_set_reply_serial")
    setNoReply = try function("message_set_no_reply")
    setAutoStart = try function("message_set_auto_start")
    setPath = try function("message_set_path")
    setInterface = try function("message_set_interface")
    setMember = try function("message_set_member")
    setErrorName = try function("message_set_error_name")
    setDestination = try function("message_set_destination")
    messageType = try function("message_get_type")
    serial = try function("message_get_serial")
    replySerial = try function("message_get_reply_serial")
    noReply = try function("message_get_no_reply")
    path = try function("message_get_path")
    interface = try function("message_get_interface")
    member = try function("message_get_member")
    errorName = try function("message_get_error_name")
    destination = try function("message_get_destination")
    sender = try function("message_get_sender")
    signature = try function("message_get_signature")
    iterate = try function("message_iter_init")
    next = try function("message_iter_next")
    argumentType = try function("message_iter_get_arg_type")
    elementType = try function("message_iter_get_element_type")
    recurse = try function("message_iter_recurse")
    iteratorSignature = try function("message_iter_get_signature")
    getBasic = try function("message_iter_get_basic")
    getFixedArray = try function("message_iter_get_fixed_array")
    iterateAppend = try function("message_iter_init_append")
    appendBasic = try function("message_iter_append_basic")
    appendFixedArray = try function("message_iter_append_fixed_array")
    openContainer = try function("message_iter_open_container")
    closeContainer = try function("message_iter_close_container")
    validatePath = try function("validate_path")
    validateInterface = try function("validate_interface")
    validateMember = try function("validate_member")
    validateErrorName = try function("validate_error_name")
    validateBusName = try function("validate_bus_name")
    validateSignature = try function("signature_validate")
    _ = initThreads()
  }
}
