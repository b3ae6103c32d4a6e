import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Kill the processes that a folder lists: each file is named after a process, or a negative process group, and has the signal. */
export function killListed(folder: string): void {
  for (const pid of readdirSync(folder)) {
    try {
      process.kill(Number(pid), readFileSync(join(folder, pid), 'utf8') as NodeJS.Signals);
    } catch {} // The process has already ended.
    rmSync(join(folder, pid), { force: true });
  }
}

/**
 * Create a folder that lists processes, and kill those when this process exits.
 *
 * @returns the folder. As TEST_PROCESSES, it makes other processes that use `killOnExit` list theirs in it
 */
export function killListedOnExit(): string {
  const folder = mkdtempSync(join(tmpdir(), 'yardmaster-processes-'));
  process.on('exit', () => {
    killListed(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

let own: string | undefined;

/**
 * Kill a child when this process exits for any reason other than SIGKILL. Jest's sandbox gets no `exit` event, so under
 * Jest the child is killed when the process that runs Jest exits.
 *
 * @param child its `pid`, negative for a process group
 * @returns a function to call once the child has ended
 */
export function killOnExit(child: { pid?: number | undefined }, signal: NodeJS.Signals = 'SIGKILL'): () => void {
  const { pid } = child;
  if (pid === undefined) return () => undefined; // The process did not start.
  own ??= process.env.TEST_PROCESSES ?? killListedOnExit();
  const file = join(own, String(pid));
  writeFileSync(file, signal);
  return () => rmSync(file, { force: true });
}
