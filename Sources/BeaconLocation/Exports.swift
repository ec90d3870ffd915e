// Apps import only this module and use Foundation, as they do with Core Location on Apple's systems.
@_exported import Foundation
