import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../node_modules/wscat/bin/wscat', import.meta.url));

export interface Wscat {
  /** Lines that wscat has printed, one per message. */
  lines(): string[];
  /** Error output of wscat. */
  errors(): string;
  /** Send a line as a message. */
  say(line: string): void;
  hasEnded(): boolean;
  /** Stop wscat like Ctrl-D. */
  stop(): Promise<void>;
}

/** Run wscat on a stream. Without a terminal, it prints only messages, unchanged. */
export function wscat(url: string, ...options: string[]): Wscat {
  const child = spawn(process.execPath, [bin, ...options, '--connect', url]);
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (texts[name] += chunk));
  child.stdin.on('error', () => undefined); // It has ended, which `hasEnded` reports.
  return {
    // wscat prints its prompt after each sent line.
    lines: () =>
      texts.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => line.replace(/^(> )+/, '')),
    errors: () => texts.stderr,
    say: (line) => child.stdin.write(`${line}\n`),
    hasEnded: () => child.exitCode !== null,
    async stop() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}
