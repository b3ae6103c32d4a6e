/** Work that a process does by itself, in addition to serving requests. */
export interface Background {
  /** Whether it gets its work done; a process that does not should be restarted. */
  isLive(): boolean;
  /** Whether it does all of its work by now; not right after its start. In a rollout another process does it until then. */
  isReady(): boolean;
  /** Start the work. Called once Redis is reachable. */
  start(): Promise<void>;
  /**
   * Start nothing new and finish what is open. Safe after a failed start.
   *
   * @param withinMs time after which open work is left as it is
   */
  stop(withinMs: number): Promise<void>;
}
