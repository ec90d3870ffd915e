// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Keys that Apple does not have.

/// The adapter that a manager uses, an extension of this package: an option of both managers' `init`.
///
/// The value is a `String` that specifies an adapter, the same as in the environment variable `COREBLUETOOTH_ADAPTER`
/// (`virtual`, `tcp:HOST:PORT` …), or an object that has one, such as a device of a `BluetoothLab` world. A value that
/// names no adapter leaves the manager in the state `unsupported` and logs what would be right.
public let CBManagerOptionAdapterKey: String = "CBManagerOptionAdapter"

/// The HCI error code (Core Specification Vol 1, Part F) behind a `CBError`, an extension of this package: an
/// `NSNumber` in the error's `userInfo`, where there is one.
public let CBErrorHCIErrorCodeKey: String = "CBErrorHCIErrorCode"

/// The ATT error code (Core Specification Vol 3, Part F, 3.4.1.1) behind a `CBATTError`, an extension of this package:
/// an `NSNumber` in the error's `userInfo`.
public let CBErrorATTErrorCodeKey: String = "CBErrorATTErrorCode"
