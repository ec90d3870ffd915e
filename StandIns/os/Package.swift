// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "os-stand-in",
  products: [.library(name: "OSStandIn", type: .dynamic, targets: ["os", "OSLog"])],
  targets: [.target(name: "os"), .target(name: "OSLog", dependencies: ["os"])]
)
