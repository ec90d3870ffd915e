import BluetoothDissection
import BluetoothProfiles
import BluetoothWire
import Foundation

/// A recorded device that a world can replay: its advertising, its services, and the history of its values.
///
/// ```swift
/// let recording = try DeviceRecording(capture: "session.pcapng", device: "Strap")
/// let world = World(seed: 1)
/// world.add(recording: recording)
/// ```
///
/// In the world, each value changes, and is notified or indicated, at its offset in the capture. The capture begins
/// at the time that `start` tells. A notification leaves in the next connection event, as on any device.
///
/// - A read gets the value that the capture shows next: the answer to the captured client's next read, or the value
///   that was notified or indicated before it. After the last captured value, the value stays.
/// - The advertising data change at the times of the capture.
/// - A write is stored and has no other effect. A control point accepts commands and does not answer them.
public struct DeviceRecording: Sendable {
  /// The times from which the offsets of the capture count.
  public enum Start: Hashable, Sendable, CaseIterable {
    /// The first packet of the capture stands for the time at which the device is turned on first.
    case powerOn
    /// The first subscription in the capture stands for the time at which a client subscribes while no other one is
    /// subscribed. The values begin again with each such subscription. If the capture shows no subscription, its first
    /// notification or indication takes the place.
    case subscription
  }

  /// The name of the device. It is the name in the world unless `World.add(recording:named:_:)` gets another one.
  public var name: String
  /// The parts of the device that are not replayed, one line for each kind.
  public let notes: [String]
  /// The time from which the offsets of a capture count. A file of `ble clone` has no history and ignores it.
  public var start = Start.powerOn

  private enum Content: Sendable {
    case captured(ReplayedDevice)
    case described(any Accessory)
  }

  private let content: Content

  /// Creates a recording of a device that is described in another way, such as by a file.
  package init(named name: String, _ accessory: any Accessory) {
    (self.name, notes, content) = (name, [], .described(accessory))
  }

  /// Reads a device from a capture with packets on the air, or those between a host and its controller: pcapng, pcap,
  /// btsnoop, a file of Apple's PacketLogger or a bug report of Android, plain or in a gzip file or a zip archive.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - device: the address or the name of the device, or a part of its name; nil: the only device with a GATT server
  ///     or, if the capture shows no server, the only advertiser.
  /// - Throws: `DeviceRecordingError` if the file can't be read, or has no such device or several ones.
  public init(capture path: String, device: String? = nil) throws(DeviceRecordingError) {
    let file = try Self.openFile(path)
    var reader = CaptureReader()
    do {
      while let octets = try file.read(upToCount: Self.pieceLength), !octets.isEmpty {
        try reader.add(octets)
      }
    } catch let problem as CaptureProblem {
      throw reader.failure(problem, path)
    } catch {
      throw DeviceRecordingError(path, "can't read the file: \(Self.reason(error))")
    }
    try self.init(reader, named: path, device: device)
  }

  /// The octets of one read.
  private static let pieceLength = 1 << 18

  /// Opens a regular file for reading. A FIFO is an error: reading it would wait for a program that writes.
  ///
  /// - Throws: `DeviceRecordingError` if the file can't be read.
  package static func openFile(_ path: String) throws(DeviceRecordingError) -> FileHandle {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw DeviceRecordingError(path, "can't read the file: \(String(cString: strerror(errno)))")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw DeviceRecordingError(path, "can't read the file: not a regular file")
    }
    return file
  }

  /// Reads a device from the octets of a capture.
  ///
  /// - Parameters:
  ///   - octets: the content of a capture file.
  ///   - file: the name of the capture in errors.
  ///   - device: the device, as in `init(capture:device:)`.
  /// - Throws: `DeviceRecordingError` if the octets are no capture, or if it has no such device or several ones.
  public init(
    octets: some Collection<UInt8>, named file: String = "capture", device: String? = nil
  ) throws(DeviceRecordingError) {
    var reader = CaptureReader()
    do throws(CaptureProblem) { try reader.add(octets) } catch { throw reader.failure(error, file) }
    try self.init(reader, named: file, device: device)
  }

  private init(_ reader: CaptureReader, named file: String, device: String?) throws(DeviceRecordingError) {
    let devices = try reader.devices(of: file)
    let found: CapturedDevices.Device
    do throws(CapturedDeviceError) { found = try devices.choose(device) } catch {
      throw DeviceRecordingError(file, ([error.description] + reader.notes).joined(separator: "; "))
    }
    let replayed = ReplayedDevice(found, from: devices.start ?? 0)
    // A Device Name has at most 248 octets · Vol 3, Part C, 12.1.
    name = String(
      decoding: (found.name ?? found.server.deviceName ?? "device").utf8Prefix(248).bytes, as: UTF8.self)
    content = .captured(replayed)
    notes = reader.notes + replayed.notes + found.server.notes
  }

  private static func reason(_ error: any Error) -> String {
    let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError)
    return code.domain == NSPOSIXErrorDomain ? String(cString: strerror(Int32(code.code))) : error.localizedDescription
  }

  /// The device that plays the recording.
  package var accessory: any Accessory {
    switch content {
    case .described(let accessory): return accessory
    case .captured(var device):
      device.start = start
      device.name = name
      return device
    }
  }
}

/// Reads the devices of a capture, piece by piece.
private struct CaptureReader {
  private var decoder = CaptureDecoder()
  private var dissector = Dissector()
  private var devices = CapturedDevices()
  private var count = 0

  mutating func add(_ octets: some Collection<UInt8>) throws(CaptureProblem) {
    decoder.append(octets)
    while let element = try decoder.next() {
      switch element {
      case .packet(let packet):
        devices.add(dissector.describe(packet))
        count = packet.number
      case .unread(let kind): dissector.add(unread: kind)
      case .interface, .dropped: break
      }
    }
  }

  /// The parts of the capture that were not read, one line for each kind.
  var notes: [String] {
    dissector.notes.lines
      + (devices.isIncomplete
        ? ["the capture has more than \(devices.all.count) devices; later ones are left out"] : [])
  }

  /// Returns the devices, after the last piece.
  func devices(of file: String) throws(DeviceRecordingError) -> CapturedDevices {
    do throws(CaptureProblem) { try decoder.finish() } catch { throw failure(error, file) }
    return devices
  }

  func failure(_ problem: CaptureProblem, _ file: String) -> DeviceRecordingError {
    DeviceRecordingError(file, "after packet \(count), at \(problem)")
  }
}

/// The reason why a file has no device to replay: one line with the file, the place in it if it is known, and what is
/// wrong.
public struct DeviceRecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason.
  public let description: String

  package init(_ file: String, _ reason: String) { description = "\(file.printable): \(reason.printable)" }
  /// Creates an error from lines that name the file already.
  package init(lines: String) { description = lines }
}

extension World {
  /// Adds a recorded device to the world, and turns it on.
  ///
  /// - Parameters:
  ///   - recording: the device, from a capture or from a file of `ble clone`.
  ///   - name: identifies the device within the world; nil: the name of the recording. A name that another device has
  ///     stops the program.
  ///   - options: the position, transmit power and chip capabilities, among others.
  @discardableResult
  public func add(
    recording: DeviceRecording, named name: String? = nil, _ options: DeviceOptions = DeviceOptions()
  ) -> RadioDevice {
    var options = options
    if options.gapName == nil { options.gapName = recording.name }
    return add(any: recording.accessory, named: name ?? recording.name, options)
  }

  private func add(any accessory: some Accessory, named name: String, _ options: DeviceOptions) -> RadioDevice {
    add(accessory, named: name, options)
  }
}
