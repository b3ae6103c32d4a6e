import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Start thousands of watchers, in a process of their own (crowd-process.mjs). */
export function startCrowd() {
  const script = fileURLToPath(new URL('./crowd-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // It was ended.
  /** Streams that are open and that were refused, messages that report a completed job, and close codes. */
  let seen = { open: 0, refused: 0, completed: 0, codes: {} as Record<string, number> };
  createInterface({ input: child.stdout }).on('line', (line) => {
    seen = JSON.parse(line);
  });
  const say = (line: string) => void child.stdin.write(`${line}\n`);
  return {
    seen: () => seen, // What it has seen, half a second ago at most.
    watch: say, // Ask for a stream: `ws://…`
    close: () => say('close'), // Close all that are open, as clients do.
    async stop(): Promise<void> {
      const exited = once(child, 'exit');
      if (child.kill('SIGKILL')) await exited;
    },
  };
}
