/** Work that a process does by itself, beside what it serves. */
export interface Duties {
  /** Whether it gets its work done; a process that does not had better be started anew. */
  isLive(): boolean;
  /** Whether it does all of its work by now; not right after its start. In a rollout another does it until then. */
  isReady(): boolean;
  /** Called once Redis is there. */
  start(): Promise<void>;
  /**
   * Take up nothing new and finish what is open. Safe after a failed start.
   *
   * @param withinMs after which what is still open is left as it is
   */
  stop(withinMs: number): Promise<void>;
}
