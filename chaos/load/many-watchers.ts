import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Start a process (many-watchers-process.mjs) for thousands of watchers. */
export function startManyWatchers() {
  const script = fileURLToPath(new URL('./many-watchers-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // The process was stopped.
  /** Numbers of open streams, refused streams, and messages that report a completed job; and of closes by code. */
  let seen = { open: 0, refused: 0, completed: 0, codes: {} as Record<string, number> };
  createInterface({ input: child.stdout }).on('line', (line) => {
    seen = JSON.parse(line);
  });
  const write = (line: string) => void child.stdin.write(`${line}\n`);
  return {
    seen: () => seen, // Counts, at most half a second old.
    watch: write, // Open a stream: `ws://…`
    close: () => write('close'), // Close all open streams, as clients do.
    async stop(): Promise<void> {
      const exited = once(child, 'exit');
      if (child.kill('SIGKILL')) await exited;
    },
  };
}
