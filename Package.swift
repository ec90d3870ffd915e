// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target of this package but one.
var settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("MemberImportVisibility"),
]
// `.ci/run` sets this. A newer compiler's warnings must not stop a user's build.
let warnsAsErrors = Context.environment["COREBLUETOOTH_WARNINGS_AS_ERRORS"] == "1"
if warnsAsErrors {
  settings.append(.treatAllWarnings(as: .error))
}

/// The settings of the modules in which tests of whole worlds spend their time. With COREBLUETOOTH_OPTIMIZED=1, which
/// `.ci/run` sets, they are optimized in debug builds, too; the tests then take a third of the time. SwiftPM refuses such
/// flags in a dependency with a version, so no user's build has them.
var worldSettings = settings
if Context.environment["COREBLUETOOTH_OPTIMIZED"] == "1" {
  worldSettings.append(.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
}

/// The settings of `CoreBluetooth`: language mode 5 with the checks of mode 6. With a module of mode 6, an app's
/// `@preconcurrency import CoreBluetooth` would leave warnings about classes that are not Sendable.
let frameworkSettings =
  [.swiftLanguageMode(.v5), .enableUpcomingFeature("StrictConcurrency")] + settings.dropFirst()

let locks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]
let web: [Target.Dependency] = [
  .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
]
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")

// The trait of this package, by which a program leaves out the adapters that are no controllers: Documentation/Adapters.md.
// The compiler gets a condition with its name. There must not be two of them: SwiftPM names those that are on in another
// order at each build, and would compile the whole package anew.
let allAdapters = "AllAdapters"

/// Returns the dependency on a module that only builds with all adapters have.
func moduleOfAllAdapters(_ name: String) -> Target.Dependency {
  .target(name: name, condition: .when(traits: [allAdapters]))
}

/// The modules that Scripts/client-flags imports into each file of a client that can't be edited.
let standIns = ["AppleNames", "SendableCoreBluetooth"]

// The order is the order of the floors in Documentation/Contributing/Design.md; a module imports only modules of lower floors.
let package = Package(
  name: "swift-corebluetooth",
  products: [
    .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
    .library(name: "CoreBluetoothExtras", targets: ["CoreBluetoothExtras"]),
    .library(
      name: "CoreBluetoothDynamic", type: .dynamic,
      targets: ["CoreBluetooth", "CoreBluetoothExtras", "CoreBluetoothWorld", "BluetoothLab"] + standIns),
    // For tests of such clients in virtual time.
    .library(
      name: "CoreBluetoothTestDynamic", type: .dynamic,
      targets: ["CoreBluetooth", "CoreBluetoothExtras", "CoreBluetoothWorld", "BluetoothLab", "BluetoothLabTime"]
        + standIns),
    .library(name: "CoreBluetoothWorld", targets: ["CoreBluetoothWorld"]),
    .library(name: "CoreBluetoothProfiles", targets: ["CoreBluetoothProfiles"]),
    .library(name: "BeaconLocation", targets: ["BeaconLocation"]),
    .library(name: "AccessoryPlayer", targets: ["AccessoryPlayer"]),
    .library(name: "BluetoothLab", targets: ["BluetoothLab"]),
    .library(name: "BluetoothLabTime", targets: ["BluetoothLabTime"]),
    .library(name: "BluetoothProfiles", targets: ["BluetoothProfiles"]),
    .library(name: "BluetoothNumbers", targets: ["BluetoothNumbers"]),
    .library(name: "BluetoothTypes", targets: ["BluetoothTypes"]),
    // What `ble lockstep` loads into programs.
    .library(name: "ble-lockstep", type: .dynamic, targets: ["CLockstepPreload"]),
    .executable(name: "heart-rate", targets: ["heart-rate"]),
    .executable(name: "ble", targets: ["ble"]),
    .executable(name: "btserver", targets: ["btserver"]),
  ],
  traits: [
    .trait(name: allAdapters, description: "The adapters `virtual` and `server`, too. ble and btserver need it."),
    .default(enabledTraits: [allAdapters]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
  ],
  targets: [
    // Floor 0
    .target(name: "BluetoothTypes", swiftSettings: worldSettings),
    // Loads OpenSSL's libcrypto at run time.
    .target(name: "CBluetoothCrypto"),
    .target(name: "BluetoothCrypto", dependencies: ["CBluetoothCrypto"], swiftSettings: worldSettings),
    // The tables become part of the program with #embed.
    .target(name: "CBluetoothNumbers", exclude: ["Tables"]),
    .target(name: "BluetoothNumbers", dependencies: ["CBluetoothNumbers"], swiftSettings: settings),
    // Floor 1
    .target(name: "BluetoothWire", dependencies: ["BluetoothTypes"], swiftSettings: worldSettings),
    .target(
      name: "BluetoothProfiles", dependencies: ["BluetoothNumbers", "BluetoothTypes"], swiftSettings: settings),
    // Floor 2
    .target(name: "BluetoothRadio", dependencies: ["BluetoothWire", locks, deque], swiftSettings: worldSettings),
    .target(
      name: "BluetoothDissection",
      dependencies: ["BluetoothProfiles", "BluetoothWire", "BluetoothNumbers", "BluetoothTypes"],
      swiftSettings: worldSettings),
    .target(name: "CBluetoothTransport"),
    .target(
      name: "BluetoothTransport",
      dependencies: ["CBluetoothTransport", "BluetoothWire", "BluetoothTypes", deque, locks] + nio,
      swiftSettings: settings),
    .target(name: "BluetoothDBus", dependencies: [locks], swiftSettings: settings),
    // Floor 3
    .target(
      name: "BluetoothController", dependencies: ["BluetoothRadio", "BluetoothCrypto", "BluetoothWire", deque],
      swiftSettings: worldSettings),
    .target(
      name: "BluetoothHost", dependencies: ["BluetoothCrypto", "BluetoothWire", deque], swiftSettings: worldSettings),
    .target(
      name: "BluetoothCapture", dependencies: ["BluetoothTransport", "BluetoothWire", locks, deque],
      swiftSettings: worldSettings),
    // Floor 4
    .target(
      name: "BluetoothDaemon",
      dependencies: ["BluetoothHost", "BluetoothCrypto", "BluetoothWire", locks, deque, logging],
      swiftSettings: worldSettings),
    // Floor 5
    .target(
      name: "BluetoothBonds",
      dependencies: ["BluetoothDaemon", "BluetoothHost", "BluetoothTransport", "BluetoothCrypto", "BluetoothWire"],
      swiftSettings: settings),
    .target(
      name: "BluetoothSimulation",
      dependencies: [
        "BluetoothDaemon", "BluetoothHost", "BluetoothController", "BluetoothCapture", "BluetoothRadio",
        "BluetoothWire",
        locks, deque,
      ],
      swiftSettings: worldSettings),
    .target(
      name: "BluetoothDaemonProtocol",
      dependencies: ["BluetoothDaemon", "BluetoothHost", "BluetoothTransport", "BluetoothWire", deque, locks] + nio,
      swiftSettings: settings),
    // Floor 6
    .target(
      name: "BluetoothAdapters",
      dependencies: [
        "BluetoothBonds", moduleOfAllAdapters("BluetoothDaemonProtocol"), moduleOfAllAdapters("BluetoothSimulation"),
        "BluetoothDaemon", "BluetoothHost", "BluetoothTransport", "BluetoothDBus", "BluetoothTypes",
        moduleOfAllAdapters("BluetoothRadio"), "BluetoothCrypto", "BluetoothWire", locks, deque,
      ] + nio,
      swiftSettings: settings),
    // Floor 7
    .target(name: "CCoreBluetooth"),
    .target(
      name: "CoreBluetooth",
      dependencies: [
        "CCoreBluetooth", "BluetoothAdapters", "BluetoothDaemon", "BluetoothHost", "BluetoothTransport",
        "BluetoothNumbers", "BluetoothWire", locks, deque,
      ],
      // Adds `CBUUID.init(cfuuid:)`, whose argument needs a public import of CoreFoundation. In a static release build
      // that import takes `stat` and other structures of the C library from Glibc, so that modules that check the
      // visibility of members, as this package's do, no longer compile.
      swiftSettings: frameworkSettings + (Context.environment["CB_CFUUID"] == "1" ? [.define("CB_CFUUID")] : [])),
    .target(name: "CBluetoothServer"),
    .target(
      name: "BluetoothServer",
      dependencies: [
        "CBluetoothServer", "BluetoothAdapters", "BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothHost",
        "BluetoothTransport", "BluetoothDBus", "BluetoothCapture", "BluetoothWire", locks, metrics,
      ] + nio,
      swiftSettings: settings),
    .target(
      name: "BluetoothBlueZ",
      dependencies: [
        "BluetoothDBus", "BluetoothDaemon", "BluetoothHost", "BluetoothWire", "BluetoothTypes", locks,
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: settings),
    // Floor 8
    .target(
      name: "CoreBluetoothExtras",
      dependencies: [
        "CoreBluetooth", "BluetoothAdapters", "BluetoothDaemon", "BluetoothHost", "BluetoothWire", "BluetoothTypes",
        locks, deque,
      ],
      swiftSettings: settings),
    .target(
      name: "BluetoothLab",
      dependencies: [
        "CoreBluetooth", "BluetoothAdapters", "BluetoothSimulation", "BluetoothBonds", "BluetoothDaemon",
        "BluetoothHost", "BluetoothController", "BluetoothRadio", "BluetoothCapture", "BluetoothDissection",
        "BluetoothTransport", "BluetoothCrypto", "BluetoothProfiles", "BluetoothWire", "BluetoothTypes",
        deque, locks, metrics,
      ],
      swiftSettings: settings),
    // Floor 9
    .target(
      name: "CoreBluetoothProfiles",
      dependencies: ["CoreBluetoothExtras", "CoreBluetooth", "BluetoothProfiles", "BluetoothNumbers", locks],
      swiftSettings: settings),
    .target(
      name: "BeaconLocation",
      dependencies: ["CoreBluetoothExtras", "CoreBluetooth", "BluetoothWire", "BluetoothTypes", locks],
      swiftSettings: settings),
    .target(
      name: "AccessoryPlayer",
      dependencies: [
        "CoreBluetoothExtras", "CoreBluetooth", "BluetoothLab", "BluetoothHost", "BluetoothProfiles", "BluetoothWire",
        locks,
      ],
      swiftSettings: settings),
    // The scheduler of `ble lockstep`, and the library of replaced functions that its programs load.
    .target(name: "CLockstep", cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "CLockstepPreload", dependencies: ["CLockstep"],
      cSettings: [.define("_GNU_SOURCE"), .headerSearchPath("../CLockstep")]),
    // The files of the page become part of the program with #embed.
    .target(name: "CBluetoothAirPage", exclude: ["Page"]),
    .target(
      name: "BluetoothAir",
      dependencies: [
        "CBluetoothAirPage", "CLockstep", .product(name: "NIOEmbedded", package: "swift-nio"), "BluetoothLab",
        "BluetoothSimulation", "BluetoothDaemon", "BluetoothController", "BluetoothTransport", "BluetoothTypes",
        "BluetoothCapture", "BluetoothDissection", "BluetoothRadio", "BluetoothProfiles", "BluetoothWire",
        "BluetoothHost", "BluetoothNumbers", .product(name: "Yams", package: "Yams"), deque, heap, locks,
      ] + nio + web,
      swiftSettings: settings),
    // Replaces functions of the C library and of libdispatch in the program that links it.
    .target(name: "CAppTime"),
    .target(
      name: "BluetoothLabTime",
      dependencies: ["CAppTime", "BluetoothLab", "BluetoothDaemon", "BluetoothRadio", "BluetoothWire"],
      swiftSettings: settings),
    // Floor 10
    // A function that runs before the `main` of a program that contains it.
    .target(name: "CCoreBluetoothWorld"),
    .target(
      name: "CoreBluetoothWorld",
      dependencies: [
        "CCoreBluetoothWorld", "BluetoothAir", "BluetoothLab", "BluetoothAdapters", "BluetoothDaemon",
        "BluetoothTransport", locks,
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "heart-rate",
      dependencies: [
        "CoreBluetooth", "BluetoothLab", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/HeartRate",
      swiftSettings: settings),
    // An app that btserver launches for an event: Documentation/Server.md
    .executableTarget(
      name: "pulse-log", dependencies: ["CoreBluetooth"], path: "Examples/PulseLog", swiftSettings: settings),
    .target(
      name: "AppleNames", dependencies: ["CoreBluetooth"], path: "StandIns/AppleNames",
      swiftSettings: settings),
    .target(
      name: "SendableCoreBluetooth", dependencies: ["CoreBluetooth"], path: "StandIns/SendableCoreBluetooth",
      swiftSettings: settings),
    // Usage patterns, one file each, to be copied: Documentation/Patterns.md
    .target(name: "Patterns", dependencies: ["CoreBluetooth"], path: "Examples/Patterns", swiftSettings: settings),
    .executableTarget(
      name: "ble",
      dependencies: [
        "BluetoothAir", "BluetoothBlueZ", "BluetoothLab", "BluetoothAdapters", "BluetoothBonds",
        "BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothTransport", "BluetoothDBus",
        "BluetoothHost", "BluetoothDissection", "BluetoothCrypto", "BluetoothWire",
        "AccessoryPlayer", "BeaconLocation", "CoreBluetoothProfiles", "CoreBluetoothExtras", "CoreBluetooth",
        "BluetoothProfiles", "BluetoothNumbers", "BluetoothTypes", locks, logging,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + nio,
      swiftSettings: settings),
    .executableTarget(
      name: "btserver",
      dependencies: [
        "BluetoothServer", "BluetoothAir", "BluetoothLab", "BluetoothAdapters", "BluetoothBonds",
        "BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothTransport", "BluetoothDBus", "BluetoothWire",
        "BluetoothTypes", locks, logging, metrics, .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + nio + web,
      swiftSettings: settings),
    // The program that a test runs in the world of a file.
    .executableTarget(
      name: "world-client", dependencies: ["CoreBluetooth", "CoreBluetoothWorld"], path: "Tests/WorldClient",
      swiftSettings: settings),
    // What Interop/run lets foreign stacks meet.
    .executableTarget(
      name: "interop-app",
      dependencies: [
        "CoreBluetoothWorld", "BluetoothAir", "BluetoothLab", "CoreBluetoothProfiles", "CoreBluetoothExtras",
        "CoreBluetooth", "BluetoothTransport", "BluetoothProfiles",
      ],
      path: "Interop/App",
      swiftSettings: settings),
    // Measurements: `swift run -c release benchmarks`
    .target(name: "CAllocationCount", path: "Benchmarks/CAllocationCount"),
    .executableTarget(
      name: "settling", dependencies: ["BluetoothLabTime"], path: "Benchmarks/settling", swiftSettings: settings),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "CAllocationCount", "CoreBluetooth", "BluetoothAir", "BluetoothLab", "BluetoothAdapters", "BluetoothSimulation",
        "BluetoothBonds", "BluetoothServer", "BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothHost",
        "BluetoothController", "BluetoothTransport", "BluetoothCrypto", "BluetoothRadio", "BluetoothWire", logging,
        locks,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + nio,
      path: "Benchmarks/benchmarks",
      swiftSettings: settings),
    .executableTarget(
      name: "air-load",
      dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")] + nio,
      path: "Benchmarks/AirLoad",
      swiftSettings: settings),
    // A long run under faults: `Scripts/soak`
    .executableTarget(
      name: "soak",
      dependencies: [
        "CAllocationCount", "CoreBluetooth", "BluetoothLab", "BluetoothProfiles",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Benchmarks/Soak",
      swiftSettings: settings),
    // Tests
    .target(name: "TestVectors", path: "Tests/TestVectors", resources: [.copy("Vectors")], swiftSettings: settings),
    // The traits by which tests name the rows of the coverage tables that they show.
    .target(name: "Requirements", path: "Tests/Requirements", swiftSettings: settings),
    // Functions of the C library that Swift can't call.
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    // What several test targets share: fixtures, recording apps, scripted controllers.
    .target(
      name: "TestSupport",
      dependencies: ["CoreBluetooth", "BluetoothLab", "BluetoothHost", "BluetoothWire", "TestVectors", locks, logging],
      path: "Tests/TestSupport", swiftSettings: settings),
    // Tests of asynchronous APIs share this target. It runs their tasks in turn with a world.
    .target(
      name: "AsyncTestSupport",
      dependencies: ["CoreBluetoothExtras", "CoreBluetooth", "BluetoothLab", deque, locks],
      path: "Tests/AsyncTestSupport", swiftSettings: settings),
    .testTarget(name: "BluetoothTypesTests", dependencies: ["BluetoothTypes"], swiftSettings: settings),
    .testTarget(
      name: "BluetoothWireTests", dependencies: ["Requirements", "BluetoothWire", "BluetoothTypes", "TestVectors"],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothCryptoTests", dependencies: ["Requirements", "BluetoothCrypto", "TestVectors"],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothNumbersTests", dependencies: ["Requirements", "BluetoothNumbers", "TestVectors"],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothProfilesTests",
      dependencies: ["Requirements", "BluetoothProfiles", "BluetoothNumbers", "BluetoothTypes", "TestVectors"],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothRadioTests", dependencies: ["Requirements", "BluetoothRadio", "BluetoothWire"],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothControllerTests",
      dependencies: [
        "Requirements",
        "BluetoothHost", "BluetoothController", "BluetoothCrypto", "BluetoothRadio", "BluetoothWire", "TestVectors",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothCaptureTests",
      dependencies: ["Requirements", "BluetoothCapture", "BluetoothWire", "TestVectors", locks],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothTransportTests",
      dependencies: [
        "Requirements", "BluetoothTransport", "BluetoothWire", .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + nio,
      swiftSettings: settings),
    .testTarget(name: "BluetoothDBusTests", dependencies: ["BluetoothDBus", locks], swiftSettings: settings),
    .testTarget(
      name: "BluetoothHostTests",
      dependencies: [
        "Requirements", "TestSupport", "BluetoothHost", "BluetoothCrypto", "BluetoothWire", "TestVectors",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothDaemonTests",
      dependencies: [
        "Requirements",
        "TestSupport", "BluetoothBonds", "BluetoothDaemon", "BluetoothHost", "BluetoothCrypto", "BluetoothWire", locks,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothDaemonProtocolTests",
      dependencies: ["BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothHost", "BluetoothWire"],
      swiftSettings: settings),
    // What a test of BluetoothBondsTests kills while it writes.
    .executableTarget(
      name: "bond-writer",
      dependencies: [
        "BluetoothAdapters", "BluetoothSimulation", "BluetoothBonds", "BluetoothDaemon", "BluetoothHost",
        "BluetoothCrypto", "BluetoothWire",
      ],
      path: "Tests/BondWriter", swiftSettings: settings),
    .testTarget(
      name: "BluetoothBondsTests",
      dependencies: [
        "Requirements",
        "TestSupport", "BluetoothBonds", "BluetoothDaemon", "BluetoothHost", "BluetoothCrypto", "BluetoothWire", locks,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothAdaptersTests",
      dependencies: [
        "Requirements",
        "TestSupport", "BluetoothCrypto", "BluetoothAdapters", "BluetoothBonds", "BluetoothDaemon",
        "BluetoothTransport", "BluetoothHost", "BluetoothTypes", "BluetoothDBus",
        "BluetoothController", "BluetoothWire", locks,
      ] + nio,
      swiftSettings: settings),
    .testTarget(
      name: "CoreBluetoothTests",
      dependencies: [
        "Requirements",
        "TestSupport", "CoreBluetooth", "BluetoothLab", "BluetoothAdapters", "BluetoothSimulation", "BluetoothBonds",
        "BluetoothDaemon", "BluetoothWire",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CoreBluetoothExtrasTests",
      dependencies: [
        "Requirements",
        "CoreBluetoothExtras", "CoreBluetooth", "BluetoothLab", "TestSupport", "AsyncTestSupport", deque, locks,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CoreBluetoothProfilesTests",
      dependencies: [
        "Requirements",
        "CoreBluetoothProfiles", "CoreBluetoothExtras", "CoreBluetooth", "BluetoothLab", "BluetoothProfiles",
        "AsyncTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BeaconLocationTests",
      dependencies: [
        "Requirements",
        "BeaconLocation", "CoreBluetoothExtras", "CoreBluetooth", "BluetoothLab", "BluetoothTypes", "AsyncTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "AccessoryPlayerTests",
      dependencies: [
        "AccessoryPlayer", "CoreBluetoothProfiles", "CoreBluetoothExtras", "CoreBluetooth", "BluetoothLab",
        "BluetoothProfiles", "AsyncTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothLabTests",
      dependencies: [
        "Requirements",
        "TestSupport", "BluetoothLab", "CoreBluetooth", "BluetoothAdapters", "BluetoothSimulation", "BluetoothBonds",
        "BluetoothDaemon", "BluetoothHost", "BluetoothController", "BluetoothCrypto",
        "BluetoothRadio", "BluetoothCapture", "BluetoothProfiles", "BluetoothWire", "TestVectors",
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothAirTests",
      dependencies: [
        "Requirements",
        "TestSupport", "BluetoothAir", "BluetoothLab", "BluetoothTransport",
        "BluetoothProfiles", "BluetoothWire", "CoreBluetooth",
      ] + nio,
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothBlueZTests",
      dependencies: [
        "BluetoothBlueZ", "BluetoothDBus", "BluetoothLab", "BluetoothDaemon", "BluetoothWire", locks,
        .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "BluetoothServerTests",
      dependencies: [
        "Requirements",
        "CTestSupport", "TestSupport", "BluetoothServer", "BluetoothLab", "BluetoothAdapters",
        "BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothHost", "BluetoothTransport", "BluetoothDBus",
        "BluetoothWire", locks,
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + nio,
      swiftSettings: settings),
    .testTarget(
      name: "PatternTests", dependencies: ["Requirements", "Patterns", "pulse-log", "BluetoothLab", "CoreBluetooth"],
      swiftSettings: settings),
    .testTarget(
      name: "BleTests",
      dependencies: [
        "Requirements", "TestSupport",
        "ble", "BluetoothAir", "BluetoothLab", "BluetoothDissection", "BluetoothCapture", "BeaconLocation",
        "BluetoothSimulation", "BluetoothRadio", "CoreBluetoothExtras", "CoreBluetooth", "BluetoothTransport",
        "BluetoothCrypto", "BluetoothWire", "BluetoothTypes",
        .product(name: "ArgumentParser", package: "swift-argument-parser"), locks,
      ],
      exclude: ["accessories.yaml", "empty.yaml"], swiftSettings: settings),
    // Runs the programs, which the build makes beside the tests.
    .testTarget(
      name: "ProgramTests", exclude: ["Captures", "Files", "Golden"], swiftSettings: settings),
    // The program of the tests of `ble lockstep`, which names each call that waits.
    .executableTarget(
      name: "lockstep-host", path: "Tests/LockstepHost", exclude: ["calls.tsv"], cSettings: [.define("_GNU_SOURCE")]),
    // Runs `ble lockstep` with small programs.
    .testTarget(name: "LockstepTests", dependencies: ["TestSupport", "lockstep-host"], swiftSettings: settings),
    .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"], swiftSettings: settings),
  ]
)

// These tests change the time of their whole process, so they run alone: `.ci/run app_time`.
if Context.environment["COREBLUETOOTH_APP_TIME"] == "1" {
  package.targets.append(
    .testTarget(
      name: "BluetoothLabTimeTests",
      dependencies: ["BluetoothLabTime", "BluetoothLab", "CoreBluetoothExtras", "CoreBluetooth", locks],
      path: "Tests/BluetoothLabTimeTests",
      swiftSettings: settings))
}

// Only these targets of tests, with commas between their names: all of them take most of a build.
if let names = Context.environment["COREBLUETOOTH_TESTS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// Fuzz targets have no `main` of their own: they link with `--sanitize=fuzzer` only. The build of the checks compiles
// them, too, so that a change that breaks one is noticed at once.
let isFuzzing = Context.environment["COREBLUETOOTH_FUZZ"] == "1"
if isFuzzing || warnsAsErrors {
  package.targets.append(
    .target(
      name: "FuzzSupport", dependencies: ["BluetoothHost", "BluetoothController", "BluetoothRadio", "BluetoothWire"],
      path: "Fuzz/Support", swiftSettings: settings))
  let fuzzTargets: [(name: String, dependencies: [Target.Dependency])] = [
    ("advertising-pdus", ["FuzzSupport", "BluetoothWire"]),
    ("link-layer", ["FuzzSupport", "BluetoothWire"]),
    ("hci-commands", ["FuzzSupport", "BluetoothWire"]),
    ("l2cap-signalling", ["FuzzSupport", "BluetoothHost", "BluetoothWire"]),
    ("credit-channels", ["FuzzSupport", "BluetoothHost", "BluetoothWire"]),
    ("h4-framing", ["FuzzSupport", "BluetoothWire"]),
    ("h5-framing", ["BluetoothTransport", "BluetoothWire"]),
    ("hci-events", ["FuzzSupport", "BluetoothHost", "BluetoothWire"]),
    ("acl-reassembly", ["FuzzSupport", "BluetoothHost", "BluetoothWire"]),
    ("characteristic-values", ["BluetoothProfiles"]),
    ("advertising-data", ["BluetoothWire"]),
    ("capture-files", ["BluetoothDissection"]),
    ("dbus-messages", ["BluetoothDBus"]),
    ("att-client", ["BluetoothHost", "BluetoothCrypto", "BluetoothWire"]),
    ("att-server", ["BluetoothHost", "BluetoothWire"]),
    (
      "daemon-protocol",
      [
        "BluetoothSimulation", "BluetoothDaemonProtocol", "BluetoothDaemon", "BluetoothHost", "BluetoothRadio",
        "BluetoothWire",
      ]
    ),
    ("security-manager", ["BluetoothHost", "BluetoothCrypto", "BluetoothWire"]),
  ]
  for target in fuzzTargets {
    let (name, path) = ("fuzz-" + target.name, "Fuzz/" + target.name)
    package.targets.append(
      isFuzzing
        ? .executableTarget(
          name: name, dependencies: target.dependencies, path: path,
          swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])])
        : .target(name: name, dependencies: target.dependencies, path: path, swiftSettings: settings))
  }
}
