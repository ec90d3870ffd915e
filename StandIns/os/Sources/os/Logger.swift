// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The level of a message.
public struct OSLogType: RawRepresentable, Equatable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let `default` = OSLogType(rawValue: 0)
  public static let info = OSLogType(rawValue: 1)
  public static let debug = OSLogType(rawValue: 2)
  public static let error = OSLogType(rawValue: 16)
  public static let fault = OSLogType(rawValue: 17)
}

/// The privacy of a value in a message. All values are shown here.
public struct OSLogPrivacy: Sendable {
  public enum Mask: Sendable { case hash, none }
  public static let `public` = OSLogPrivacy()
  public static let `private` = OSLogPrivacy()
  public static let sensitive = OSLogPrivacy()
  public static let auto = OSLogPrivacy()
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
  public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
  public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
}

/// A message, with or without interpolated values.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) { text += literal }
    public mutating func appendInterpolation(
      _ value: @autoclosure () -> some Any, privacy: OSLogPrivacy = .auto
    ) {
      text += "\(value())"
    }
  }

  fileprivate let text: String

  public init(stringLiteral value: String) { text = value }
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

/// Writes messages to the standard error.
public struct Logger: Sendable {
  private let name: String

  public init(subsystem: String, category: String) { name = "\(subsystem) \(category)" }
  public init(_ log: OSLog) { name = log.name }
  public init() { name = "app" }

  public func log(level: OSLogType, _ message: OSLogMessage) { write(message.text, level, name) }
  public func log(_ message: OSLogMessage) { log(level: .default, message) }
  public func trace(_ message: OSLogMessage) { log(level: .debug, message) }
  public func debug(_ message: OSLogMessage) { log(level: .debug, message) }
  public func info(_ message: OSLogMessage) { log(level: .info, message) }
  public func notice(_ message: OSLogMessage) { log(level: .default, message) }
  public func warning(_ message: OSLogMessage) { log(level: .error, message) }
  public func error(_ message: OSLogMessage) { log(level: .error, message) }
  public func critical(_ message: OSLogMessage) { log(level: .fault, message) }
  public func fault(_ message: OSLogMessage) { log(level: .fault, message) }
}

/// The older kind of logger.
public final class OSLog: Sendable {
  public static let `default` = OSLog(subsystem: "app", category: "default")
  public static let disabled = OSLog(subsystem: "", category: "")
  fileprivate let name: String

  public init(subsystem: String, category: String) { name = "\(subsystem) \(category)" }
}

/// Writes a message with the values of its format: `%@`, `%{public}@`, `%d` and the other formats of `String(format:)`.
public func os_log(
  _ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ values: any CVarArg...
) {
  os_log(type, log: log, message, values)
}

public func os_log(
  _ type: OSLogType, log: OSLog = .default, _ message: StaticString, _ values: any CVarArg...
) {
  os_log(type, log: log, message, values)
}

private func os_log(_ type: OSLogType, log: OSLog, _ message: StaticString, _ values: [any CVarArg]) {
  let format = "\(message)".replacing(/%\{[^}]*\}/, with: "%")
  write(String(format: format, arguments: values), type, log.name)
}

private func write(_ text: String, _ level: OSLogType, _ name: String) {
  let word =
    switch level {
    case .debug: "debug"
    case .info: "info"
    case .error: "error"
    case .fault: "fault"
    default: "default"
    }
  FileHandle.standardError.write(Data("\(name) \(word): \(text)\n".utf8))
}

/// A lock with a state.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
  private final class Storage {
    let lock = NSLock()
    var state: State
    init(_ state: State) { self.state = state }
  }

  private let storage: Storage

  public init(initialState: State) { storage = Storage(initialState) }

  public func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    storage.lock.lock()
    defer { storage.lock.unlock() }
    return try body(&storage.state)
  }
}

extension OSAllocatedUnfairLock<Void> {
  public init() { self.init(initialState: ()) }
  public func lock() { storage.lock.lock() }
  public func unlock() { storage.lock.unlock() }
}
