/// Runs each job of its tasks at once, on the thread that resumes the task. The code of a task after a call therefore
/// runs while the function that has given the call its result has not returned.
final class ImmediateExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
