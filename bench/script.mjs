// Scripts of ours that run as processes of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * Run a script, and return the JSON that it prints. It ends with this process.
 *
 * @param url of the script
 * @param args texts; `onStart` is told the process id
 */
export async function runScript(url, args, onStart = () => {}) {
  const child = spawn(process.execPath, [fileURLToPath(url), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => child.kill();
  process.on('exit', end);
  onStart(child.pid);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  process.off('exit', end);
  if (code !== 0) throw new Error(`${url} ended with ${code}`);
  return JSON.parse(output);
}
