// Limit a process to a part of a core, without privileges: it is stopped for the rest of each period.

/**
 * Let a process run for a part of each period.
 *
 * @param share of a core
 * @param periodMs the process runs once in each period
 * @returns a function that ends the limit
 */
export function limitCpu(pid, share, periodMs = 20) {
  let timer;
  const run = () => {
    process.kill(pid, 'SIGCONT');
    timer = setTimeout(pause, periodMs * share);
  };
  const pause = () => {
    process.kill(pid, 'SIGSTOP');
    timer = setTimeout(run, periodMs * (1 - share));
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
