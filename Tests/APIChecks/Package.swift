// swift-tools-version:5.9
import Foundation
import PackageDescription

// COREBLUETOOTH_PACKAGE   path of the package with a `CoreBluetooth` product,
//                         or "system" to check Apple's own framework on a Mac.
// COREBLUETOOTH_IDENTITY  package identity, when it is not the last path component.
// CB_IOS27=1, CB_CFUUID=1 add the two optional sets of names.
let environment = ProcessInfo.processInfo.environment
guard let path = environment["COREBLUETOOTH_PACKAGE"] else {
  fatalError("set COREBLUETOOTH_PACKAGE to the path of a package with a CoreBluetooth product")
}
let identity = environment["COREBLUETOOTH_IDENTITY"] ?? URL(fileURLWithPath: path).lastPathComponent.lowercased()
let system = path == "system"
let flags: [SwiftSetting] = ["CB_IOS27", "CB_CFUUID"].filter { environment[$0] == "1" }.map { .define($0) }
let module: [Target.Dependency] = system ? [] : [.product(name: "CoreBluetooth", package: identity)]

let package = Package(
  name: "checks",
  platforms: [.macOS(.v14), .iOS(.v17)],
  dependencies: system ? [] : [.package(path: path)],
  targets: [
    .target(name: "APIChecks", dependencies: module, swiftSettings: flags),
    .target(name: "OpenCheck", dependencies: module, swiftSettings: flags),
    .target(name: "ReexportCheck", dependencies: module, swiftSettings: flags),
    .target(name: "IdiomCheck", dependencies: module, swiftSettings: flags),
    .executableTarget(
      name: "api-check", dependencies: ["APIChecks", "OpenCheck", "ReexportCheck", "IdiomCheck"] + module,
      swiftSettings: flags),
  ]
)
