// Design: L2CAP channels beside BlueZ
//
// BlueZ has no interface for LE credit-based channels: the kernel's sockets are the channels, for each user. The link is
// that of BlueZ. A socket carries packets, so each SDU of a pipe is one packet. Where the kernel has no Bluetooth, as on
// a bus of `ble bluez`, a channel fails with `notSupported`.

import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import BluetoothWire
import NIOCore

/// An open channel.
struct BlueZChannel {
  let peer: PeerHandle
  /// The PSM at which a session of this process has published the channel; nil: this process has opened it.
  let published: UInt16?
  let pipe: ChannelPipe
  let socket: BlueZSocket
  let maximumLength: Int
  /// The number of packets that the app has not read.
  var unread = 0
  /// True while a packet is on its way into the socket.
  var isSending = false
}

/// A PSM that a peripheral manager has published.
struct BlueZListener {
  let session: PeripheralSessionID
  let descriptor: CInt
  let watch: BlueZDescriptorWatch
}

extension BlueZRunner {
  /// The SPSMs that an LE channel can have · Vol 3, Part A, 4.22.
  private static let possiblePSMs: ClosedRange<UInt16> = 0x0001...0x00FF
  /// The number of packets that may wait for an app. The kernel gives the peer no credits for more.
  private static let maximumUnread = 32

  private var ownAddress: DeviceAddress? {
    adapterPath.flatMap { tree.properties(BlueZName.adapter, at: $0) }.flatMap { DeviceAddress(properties: $0) }
  }

  // MARK: Opening

  func openChannel(_ psm: UInt16, to peer: PeerHandle, _ id: CentralSessionID) {
    func fail(_ error: SessionError) { deliver(.channelOpened(peer, .failure(error)), to: id) }
    guard Self.possiblePSMs.contains(psm) else { return fail(.invalidParameters) }
    guard let own = ownAddress, let device = devices[peer], device.isConnected,
      let address = tree.properties(BlueZName.device, at: device.path).flatMap({ DeviceAddress(properties: $0) })
    else { return fail(.link(.unknownConnectionIdentifier)) }
    let descriptor: CInt
    do throws(L2CAPSocket.Failure) { descriptor = try L2CAPSocket.connect(from: own, to: address, psm: psm) } catch {
      return fail(SessionError(error))
    }
    lastNumber += 1
    let number = lastNumber
    let watch = BlueZDescriptorWatch(descriptor, forWriting: true, on: loop) { [weak self] in
      self?.channelAttemptEnded(number, descriptor, psm, peer, id)
    }
    openingChannels[number] = watch
  }

  private func channelAttemptEnded(
    _ number: UInt64, _ descriptor: CInt, _ psm: UInt16, _ peer: PeerHandle, _ id: CentralSessionID
  ) {
    guard let watch = openingChannels.removeValue(forKey: number) else { return }
    let failure = L2CAPSocket.result(of: descriptor)
    let isWanted = failure == nil && centrals[id] != nil && devices[peer]?.isConnected == true
    let loop = loop
    watch.cancel { [weak self] in
      guard isWanted else { return closeDescriptor(descriptor) }
      loop.execute { [weak self] in
        guard let self, self.centrals[id] != nil else { return closeDescriptor(descriptor) }
        let pipe = self.enter(descriptor, of: peer, published: nil)
        self.deliver(.channelOpened(peer, .success(ChannelInfo(handle: pipe.handle, psm: psm))), to: id)
      }
    }
    if let failure { deliver(.channelOpened(peer, .failure(SessionError(failure))), to: id) }
  }

  private func enter(_ descriptor: CInt, of peer: PeerHandle, published: UInt16?) -> ChannelPipe {
    let pipe = sessions.makePipe()
    let handle = pipe.handle
    let length = max(23, L2CAPSocket.maximumLength(descriptor))
    let socket = BlueZSocket(
      descriptor, on: loop, receive: { [weak self] in self?.received($0, on: handle) },
      ended: { [weak self] in self?.channelEnded(handle) })
    channels[handle] = BlueZChannel(
      peer: peer, published: published, pipe: pipe, socket: socket, maximumLength: length)
    return pipe
  }

  // MARK: Publishing

  func publishChannel(isEncrypted: Bool, _ id: PeripheralSessionID) {
    guard let own = ownAddress else { return deliver(.channelPublished(psm: 0, .notSupported), to: id) }
    let descriptor: CInt
    let psm: UInt16
    do throws(L2CAPSocket.Failure) {
      (descriptor, psm) = try L2CAPSocket.listen(at: own, isEncrypted: isEncrypted)
    } catch { return deliver(.channelPublished(psm: 0, SessionError(error)), to: id) }
    let watch = BlueZDescriptorWatch(descriptor, forWriting: false, on: loop) { [weak self] in self?.accept(psm) }
    listeners[psm] = BlueZListener(session: id, descriptor: descriptor, watch: watch)
    deliver(.channelPublished(psm: psm, nil), to: id)
  }

  private func accept(_ psm: UInt16) {
    guard let listener = listeners[psm], let (descriptor, address) = L2CAPSocket.accept(listener.descriptor) else {
      return
    }
    guard let peer = peer(with: address) else { return closeDescriptor(descriptor) }
    let pipe = enter(descriptor, of: peer, published: psm)
    let info = central(peer, of: listener.session)
    deliver(.channelOpened(info, ChannelInfo(handle: pipe.handle, psm: psm)), to: listener.session)
  }

  private func peer(with address: DeviceAddress) -> PeerHandle? {
    devices.first { $0.value.isConnected && directory.address(of: $0.key) == address }?.key
  }

  func unpublishChannel(_ psm: UInt16, _ id: PeripheralSessionID) {
    guard listeners[psm]?.session == id else {
      return deliver(.channelUnpublished(psm: psm, .invalidParameters), to: id)
    }
    dropListener(psm)
    deliver(.channelUnpublished(psm: psm, nil), to: id)
  }

  /// Ends what a session has published, with its channels.
  func unpublishChannels(of id: PeripheralSessionID) {
    for (psm, listener) in listeners where listener.session == id { dropListener(psm) }
  }

  private func dropListener(_ psm: UInt16) {
    guard let listener = listeners.removeValue(forKey: psm) else { return }
    listener.watch.cancel { closeDescriptor(listener.descriptor) }
    for channel in channels.values where channel.published == psm { channel.socket.close() }
  }

  // MARK: Data

  private func received(_ packet: [UInt8], on handle: ChannelHandle) {
    guard let channel = channels[handle] else { return }
    // BlueZ's links have no suspended apps: a pipe that takes nothing discards its input.
    guard channel.pipe.receive(ByteSlice(packet)) else { return }
    channels[handle]?.unread += 1
    if channel.unread + 1 >= Self.maximumUnread { channel.socket.setPaused(true) }
    announce(channel.pipe)
  }

  /// Handles the reads and the writes of an app, or its closing of the channel.
  func channelUsed(_ handle: ChannelHandle) {
    guard let channel = channels[handle] else { return }
    let work = channel.pipe.takeWork()
    if work.wantsAnnouncement { announce(channel.pipe) }
    let unread = max(0, channel.unread - work.readSDUs)
    channels[handle]?.unread = unread
    if unread < Self.maximumUnread { channel.socket.setPaused(false) }
    sendWaiting(handle)
  }

  private func sendWaiting(_ handle: ChannelHandle) {
    guard let channel = channels[handle], !channel.isSending else { return }
    guard let sdu = channel.pipe.nextSDU(channel.maximumLength, in: pool) else {
      if channel.pipe.isReleased { channel.socket.closeWhenSent() }
      return
    }
    channels[handle]?.isSending = true
    channel.socket.send(sdu.bytes) { [weak self] isSent in
      guard let self, isSent, channels[handle] != nil else { return }
      channels[handle]?.isSending = false
      if channel.pipe.removeSent(sdu.count) { announce(channel.pipe) }
      sendWaiting(handle)
    }
  }

  private func announce(_ pipe: ChannelPipe) {
    if pipe.beginAnnouncement() { sessions.deliver(.channel(pipe.handle)) }
  }

  private func channelEnded(_ handle: ChannelHandle) {
    guard let channel = channels.removeValue(forKey: handle) else { return }
    let isLost = devices[channel.peer]?.isConnected != true
    channel.pipe.finish(isLost ? .lost(.link(.connectionTimeout)) : .closed, isCut: channel.isSending)
    announce(channel.pipe)
  }

  /// Ends the channels of a link that has ended for this reason.
  func endChannels(of peer: PeerHandle, _ reason: HCI.ErrorCode) {
    let isClosed = reason == .remoteUserTerminatedConnection || reason == .connectionTerminatedByLocalHost
    for (handle, channel) in channels where channel.peer == peer {
      channels[handle] = nil
      channel.socket.close()
      channel.pipe.finish(isClosed ? .closed : .lost(.link(reason)), isCut: channel.isSending)
      announce(channel.pipe)
    }
  }
}

extension SessionError {
  /// The error of a socket for channels.
  init(_ failure: L2CAPSocket.Failure) {
    if failure.isMissing {
      self = .notSupported
    } else if failure.isSecurity {
      self = .att(.insufficientAuthentication)
    } else if failure.isTimeout {
      self = .timeout
    } else if failure.isLoss {
      self = .link(.unknownConnectionIdentifier)
    } else {
      self = .refused
    }
  }
}
