// Start the driver of a language, which reads commands as lines of JSON on stdin and prints events as lines of JSON.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Commands that start the drivers. `npm run test:long -- conformance` builds the one in Go and installs what Python needs. */
export const LANGUAGES = {
  TypeScript: [process.execPath, here('../typescript/conformance/driver.mjs')],
  Python: [here('../../.cache/sdk/python/bin/python'), here('../python/conformance/driver.py')],
  Go: [here('../../.cache/sdk/go-driver')],
};

/**
 * Start the driver of a language.
 *
 * @returns its `pid`; `events` so far; `send(command)`; `signal(name)`; `exited`, a promise of the exit code; `errors()`, its stderr;
 *   `kill()`
 */
export function startDriver(language, env) {
  const [command, ...args] = LANGUAGES[language];
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const events = [];
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdin.on('error', () => undefined); // The exit code reveals the failure.
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      events.push(JSON.parse(line));
    } catch {
      events.push({ event: 'not JSON', line });
    }
  });
  const exited = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  return {
    pid: child.pid,
    events,
    exited,
    errors: () => stderr,
    send: (sent) => child.stdin.write(`${JSON.stringify(sent)}\n`),
    signal: (name) => child.kill(name),
    end: () => child.stdin.end(),
    kill: () => child.kill('SIGKILL'),
  };
}
