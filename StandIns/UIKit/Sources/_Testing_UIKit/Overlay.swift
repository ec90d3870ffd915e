// The module that a file gets in place of Testing if it imports UIKit, too.
@_exported import Testing
