// Limits a process to a part of a core, on any machine and without rights: it is stopped for the rest of each period.

const PERIOD_MS = 20;

/**
 * Let a process run for a part of the time.
 *
 * @param share of a core
 * @returns a function that ends it
 */
export function limitCpu(pid, share) {
  let timer;
  const run = () => {
    process.kill(pid, 'SIGCONT');
    timer = setTimeout(pause, PERIOD_MS * share);
  };
  const pause = () => {
    process.kill(pid, 'SIGSTOP');
    timer = setTimeout(run, PERIOD_MS * (1 - share));
  };
  const free = () => process.kill(pid, 'SIGCONT');
  process.once('exit', free);
  run();
  return () => {
    clearTimeout(timer);
    process.off('exit', free);
    free();
  };
}
