/// The exit statuses of the verbs.
enum ExitStatus {
  /// No device or attribute matches.
  static let notFound: Int32 = 1
  /// The link was lost, or could not be established; or a device that was found does not advertise any more.
  static let linkLost: Int32 = 2
  /// The peer has refused.
  static let refused: Int32 = 3
  /// A check has found breaches.
  static let breaches: Int32 = 4
  /// The command line is invalid; EX_USAGE of sysexits.h.
  static let usage: Int32 = 64
  /// Several devices match, or a file is invalid; EX_DATAERR of sysexits.h.
  static let ambiguous: Int32 = 65
  /// There is no usable adapter; EX_UNAVAILABLE of sysexits.h.
  static let noAdapter: Int32 = 69
  /// A time limit has ended; the status of timeout(1).
  static let timeLimit: Int32 = 124
  /// The user has interrupted the verb.
  static let interrupted: Int32 = 130
}
