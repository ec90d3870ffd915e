/// The adapter's state as apps see it.
package enum AdapterState: Hashable, Sendable {
  case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}
