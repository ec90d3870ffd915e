import BluetoothAir
import BluetoothLab

extension DeviceRecording {
  /// Reads a device from a file that `ble clone` or `ble replay --output` has written.
  ///
  /// ```swift
  /// world.add(recording: try DeviceRecording(cloneFile: "lamp.yaml"))
  /// ```
  ///
  /// - Parameters:
  ///   - path: the file, YAML or JSON.
  ///   - device: the name of the device, if the file has several; nil: the only one.
  /// - Throws: `DeviceRecordingError` with the file, the line and the reason of each problem.
  public init(cloneFile path: String, device: String? = nil) throws(DeviceRecordingError) {
    try self.init(file: path, device: device)
  }
}
