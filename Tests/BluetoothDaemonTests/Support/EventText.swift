import BluetoothHost
import BluetoothWire

@testable import BluetoothDaemon

extension CentralEvent {
  /// The event as text for comparisons: its name and its relevant fields. Attributes are shown as handles.
  var text: String {
    switch self {
    case .restored(let restored): "restored \(restored.peers.count) peers"
    case .stateChanged(let state): "state \(state)"
    case .barrierReached(let number): "barrier \(number)"
    case .discovered(let discovery): "discovered \(discovery.text)"
    case .packetReceived(let packet):
      "packet \(packet.peer.handle.index) \(packet.report.data)\(packet.report.isScanResponse ? " response" : "")"
    case .synchronization(let number, .established(let train), _): "train \(number) every \(train.interval)"
    case .synchronization(let number, .report(let report), _): "train \(number) \(report.data)"
    case .synchronization(let number, .ended(let end), _): "train \(number) \(end)"
    case .connected(let peer, let length): "connected \(peer.index) \(length)"
    case .connectionFailed(let peer, let error): "failed \(peer.index) \(error.text)"
    case .disconnected(let peer, let error, let isReconnecting):
      "disconnected \(peer.index) \(error.text)\(isReconnecting ? " reconnecting" : "")"
    case .connectionEvent(let peer, let isConnected): "event \(peer.handle.index) \(isConnected)"
    case .maximumWriteLengthChanged(let peer, let length): "length \(peer.index) \(length)"
    case .nameChanged(let peer, let name): "name \(peer.index) \(name ?? "none")"
    case .link(let peer, .changed(let link)): "link \(peer.index) mtu \(link.mtu)"
    case .link(let peer, .ended(let reason)): "link \(peer.index) ended \(reason)"
    case .link(let peer, .requestEnded(let kind, let error)): "link \(peer.index) \(kind) \(error.text)"
    case .rssiRead(_, let result): "rssi \(result.text { "\($0)" })"
    case .servicesDiscovered(_, let result): "services \(result.text { "\($0.map(\.uuid))" })"
    case .includedServicesDiscovered(_, _, let result): "includes \(result.text { "\($0.map(\.uuid))" })"
    case .characteristicsDiscovered(_, _, let result): "characteristics \(result.text { "\($0.map(\.uuid))" })"
    case .descriptorsDiscovered(_, _, let result): "descriptors \(result.text { "\($0.map(\.uuid))" })"
    case .valueRead(_, _, let result): "read \(result.text(\.description))"
    case .valueChanged(_, _, let value): "value \(value)"
    case .valueLimitReached(_, _, let isExceeded): "value limit \(isExceeded ? "exceeded" : "near")"
    case .written(_, _, let error): "written \(error.text)"
    case .notifyStateChanged(_, _, let isNotifying, let error): "notifying \(isNotifying) \(error.text)"
    case .notificationSharingChanged: "notification sharing"
    case .readyToWriteWithoutResponse: "ready to write"
    case .servicesModified(_, let services): "modified \(services.count)"
    case .channelOpened(_, let result): "channel \(result.text { "\($0.psm)" })"
    }
  }
}

extension PeripheralEvent {
  /// See `CentralEvent.text`. Attributes are shown as the numbers that the test gave them.
  var text: String {
    switch self {
    case .restored(let restored): "restored \(restored.services.count) services"
    case .stateChanged(let state): "state \(state)"
    case .barrierReached(let number): "barrier \(number)"
    case .advertisingStarted(let error): "advertising \(error.text)"
    case .advertisingSetStarted(let set, let error): "set \(set.number) \(error.text)"
    case .advertisingSetEnded(let set): "set \(set.number) ended"
    case .link(_, .changed(let link)): "link mtu \(link.mtu)"
    case .link(_, .ended(let reason)): "link ended \(reason)"
    case .link(_, .requestEnded(let kind, let error)): "link \(kind) \(error.text)"
    case .serviceAdded(let id, let error): "added \(id.number) \(error.text)"
    case .subscribed(_, let id): "subscribed \(id.number)"
    case .unsubscribed(_, let id): "unsubscribed \(id.number)"
    case .maximumUpdateLengthChanged(let central): "length \(central.maximumUpdateLength)"
    case .readRequested(_, _, let id, let offset): "read \(id.number) from \(offset)"
    case .writeRequested(let request, _, let writes):
      "\(request == nil ? "command" : "write") "
        + writes.map { "\($0.characteristic.number) at \($0.offset): \($0.value)" }.joined(separator: ", ")
    case .centralDisconnected: "central gone"
    case .indicationConfirmed(_, let id): "confirmed \(id.number)"
    case .readyToUpdate: "ready to update"
    case .channelPublished(let psm, let error): "published \(psm) \(error.text)"
    case .channelUnpublished(let psm, let error): "unpublished \(psm) \(error.text)"
    case .channelOpened(_, let channel): "channel \(channel.psm)"
    }
  }
}

extension DiscoveryInfo {
  fileprivate var text: String {
    var parts = ["\(peer.handle.index)"]
    if let localName { parts.append(localName) }
    if !services.isEmpty { parts.append("\(services)") }
    if !overflowServices.isEmpty { parts.append("overflow \(overflowServices)") }
    return parts.joined(separator: " ")
  }
}

extension SessionError {
  fileprivate var text: String {
    switch self {
    case .att(let code): "att \(code)"
    case .link(let code): "link \(code)"
    default: "\(self)"
    }
  }
}

extension SessionError? {
  fileprivate var text: String { self?.text ?? "ok" }
}

extension Result where Failure == SessionError {
  fileprivate func text(_ body: (Success) -> String) -> String {
    switch self {
    case .success(let value): body(value)
    case .failure(let error): error.text
    }
  }
}
