/// The tables of `FolderTests`.
enum FolderWalls {
  /// The folders of each module, and the folders of the same module whose types they may use. The folder `""` has the
  /// files outside of folders. A folder stands behind the folders that it uses.
  static let walls: [String: [String: Set<String>]] = [
    "BeaconLocation": [
      "": [],
      "Distance": [],
      "Beacons": ["Distance"],
      "Eddystone": [],
      "Regions": ["Distance", "Beacons"],
    ],
    "BluetoothAir": [
      "WorldFile": [],
      "Hosts": ["WorldFile"],
      "Control": ["WorldFile", "Hosts"],
      "Server": ["Hosts", "Control"],
    ],
    "BluetoothBonds": [
      "BlueZ": [],
      "Coding": [],
      "Files": [],
      "Store": ["Coding", "Files"],
    ],
    "BluetoothCapture": [
      "Files": [],
      "Keys": ["Files"],
      "Btsnoop": ["Keys"],
      "Pcapng": ["Keys"],
    ],
    "BluetoothController": [
      "Radio": [],
      "Privacy": [],
      "Events": [],
      "Device": ["Radio", "Privacy", "Events"],
      "HCI": ["Device", "Events"],
      "Connection": ["Radio", "Events", "Device"],
      "Advertising": ["Radio", "Privacy", "Events", "Device", "Connection"],
      "Scanning": ["Radio", "Privacy", "Events", "Device", "Connection"],
      "Interface": ["Radio", "Privacy", "Events", "Device", "HCI", "Connection", "Advertising", "Scanning"],
    ],
    "BluetoothDaemon": [
      "Sessions": [],
      "Apps": ["Sessions"],
      "Bonds": ["Sessions"],
      "Prompts": ["Sessions"],
      "Links": ["Sessions", "Prompts"],
      "Context": ["Sessions", "Apps", "Bonds", "Prompts", "Links"],
      "Scanning": ["Sessions", "Context"],
      "Channels": ["Sessions", "Links", "Context"],
      "GATTClient": ["Sessions", "Links", "Context"],
      "Security": ["Sessions", "Apps", "Bonds", "Prompts", "Links", "Context"],
      "Central": ["Sessions", "Links", "Context", "Scanning", "Channels", "GATTClient"],
      "Peripheral": ["Sessions", "Links", "Context", "Channels"],
      "NotificationCenter": ["Sessions", "Prompts", "Links", "Context", "Security"],
      "SystemServices": ["Links", "Context"],
      "Daemon": [
        "Sessions", "Apps", "Bonds", "Prompts", "Links", "Context", "Channels", "Security", "Central", "Peripheral",
        "NotificationCenter", "SystemServices",
      ],
    ],
    "BluetoothDaemonProtocol": [
      "Frames": [],
      "Values": ["Frames"],
      "Messages": ["Frames", "Values"],
    ],
    "BluetoothDissection": [
      "Octets": [],
      "Compression": ["Octets"],
      "Files": ["Octets", "Compression"],
      "Words": ["Files"],
      "Devices": ["Files", "Words"],
      "Packets": ["Files", "Words"],
    ],
    "BluetoothHost": [
      "Interface": [],
      "ATT": [],
      "Privacy": ["Interface"],
      "SMP": ["Interface", "Privacy"],
      "HCI": ["Interface", "Privacy"],
      "L2CAP": ["Interface"],
      "GATT": ["Interface", "ATT"],
      "Context": ["Interface", "SMP", "HCI", "L2CAP", "GATT"],
      "GAP": ["Interface", "Privacy", "SMP", "HCI", "Context"],
      "Links": ["Interface", "SMP", "HCI", "L2CAP", "GATT", "Context", "GAP"],
      "Host": ["Interface", "Privacy", "SMP", "HCI", "L2CAP", "GATT", "Context", "GAP", "Links"],
    ],
    "btserver": [
      "Metrics": [],
      "": ["Metrics"],
    ],
    "CoreBluetoothProfiles": [
      "Basics": [],
      "Clients": ["Basics"],
    ],
  ]

  /// The modules whose folders still use each other, and the reasons. An entry without such folders fails a test.
  static let tangled: [String: String] = [
    "ble": "Not divided yet.",
    "BluetoothAdapters": "Its folders are being divided anew, by adapter and by server.",
    "BluetoothLab": "Not divided yet.",
    "BluetoothNumbers": "Not divided yet.",
    "BluetoothProfiles": "Not divided yet.",
    "BluetoothRadio": "Not divided yet.",
    "BluetoothServer": "Not divided yet.",
    "BluetoothTransport": "Not divided yet.",
    "BluetoothWire": "Not divided yet.",
    "CoreBluetooth": "Not divided yet.",
    "CoreBluetoothExtras": "Not divided yet.",
  ]
}
