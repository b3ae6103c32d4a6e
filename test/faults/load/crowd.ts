import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What became of the streams of a crowd so far. */
export interface CrowdTold {
  asked: number;
  open: number;
  refused: number;
  messages: number;
  /** Messages by which jobs ended. */
  ends: Record<string, number>;
  /** Streams that were open and are closed, by their codes. */
  codes: Record<string, number>;
}

/** Thousands of watchers, in a process of their own. */
export interface Crowd {
  /** What it told last, half a second ago at most when it is not too busy. */
  readonly told: CrowdTold;
  /** Ask for a stream: `ws://…`. */
  watch(url: string): void;
  /** Close all that are open, as clients do. */
  close(): void;
  stop(): Promise<void>;
}

/** Handshakes under way at once. */
const AT_ONCE = 50;

export function startCrowd(): Crowd {
  const script = fileURLToPath(new URL('./crowd-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, String(AT_ONCE)], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // It was ended.
  let told: CrowdTold = { asked: 0, open: 0, refused: 0, messages: 0, ends: {}, codes: {} };
  createInterface({ input: child.stdout }).on('line', (line) => {
    told = JSON.parse(line);
  });
  const say = (line: string) => void child.stdin.write(`${line}\n`);
  return {
    get told() {
      return told;
    },
    watch: say,
    close: () => say('close'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
