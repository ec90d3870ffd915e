import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

extension World {
  /// Starts to record the calls, callbacks and packets that `trace` returns. The recording changes neither packets nor
  /// instants. A world with many devices runs slower while it records.
  ///
  /// `expect` and the test kit's `TestCentral` and `TestPeripheral` start the recording themselves.
  public func startTrace() {
    guard let recorder = addRecorder() else { return }
    let environment = environment
    requestQueue.perform { engine in
      environment.callObserver = recorder
      engine.recorder = recorder
    }
  }

  /// The latest calls, callbacks, packets and faults since the trace was started: at most 2,000 calls and callbacks,
  /// 1,000 packets of links and 200 packets of advertising. Empty if the trace was not started.
  ///
  /// Read this property while the world is not running, or in one of its callbacks.
  public var trace: WorldTrace {
    guard let recorder else { return WorldTrace(entries: []) }
    var entries = inspect { _ in recorder.entries { self.faults.name(of: $0) } }
    // Most worlds have no faults.
    for event in faultEvents {
      let entry = WorldTrace.Entry(
        time: event.time, device: event.device, kind: .fault, text: "\(event.layer.rawValue): \(event.description)")
      entries.insert(entry, at: entries.firstIndex { $0.time > event.time } ?? entries.endIndex)
    }
    return WorldTrace(entries: entries)
  }
}

extension WorldTrace {
  /// Returns the entries of a device: its calls, its callbacks, the packets that it sent, and its faults.
  public func of(_ device: RadioDevice) -> WorldTrace {
    WorldTrace(entries: entries.filter { $0.device == device.name })
  }
}
