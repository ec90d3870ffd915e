// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Keys of this package, which Apple does not define.

/// The key for the adapter that a manager uses: an option of both managers' `init`, an extension of this package.
///
/// The value is a `String` that specifies an adapter, in the format of the environment variable
/// `COREBLUETOOTH_ADAPTER` (`virtual`, `tcp:HOST:PORT` …), or an object that has an adapter, such as a device of a
/// `BluetoothLab` world. Without the key, the manager uses the first of these that exists: the device in whose
/// `Device.run` it is created, the default device of a world (`World.makeDefault`), a device of the world file that
/// `COREBLUETOOTH_WORLD` names, the adapter that `COREBLUETOOTH_ADAPTER` specifies, `virtual`. Any other value leaves
/// the manager in the state `unsupported` and logs the expected format.
public let CBManagerOptionAdapterKey: String = "CBManagerOptionAdapter"

/// The key for the HCI error code (Core Specification Vol 1, Part F) that caused a `CBError`, an extension of this
/// package: an `NSNumber` in the error's `userInfo`, present if there is such a code.
public let CBErrorHCIErrorCodeKey: String = "CBErrorHCIErrorCode"

/// The key for the ATT error code (Core Specification Vol 3, Part F, 3.4.1.1) that caused a `CBATTError`, an
/// extension of this package: an `NSNumber` in the error's `userInfo`.
public let CBErrorATTErrorCodeKey: String = "CBErrorATTErrorCode"
