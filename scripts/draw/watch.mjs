// npm run draw:watch: draws docs/watch.svg, the picture of the README, of a real `yardmaster watch`. It starts a service
// of its own, works on a job, and runs the command in a pseudo-terminal, for which it needs util-linux' `script`.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, setUp } from '../set-up.mjs';
import { startService } from './service.mjs';

setUp('apps/standalone', 'apps/cli');
const { default: xterm } = await import('@xterm/headless');
const { svgOf } = await import('./terminal-svg.mjs');

const SIZE = { cols: 80, rows: 11 };

/** Run a command in a pseudo-terminal, and keep what the terminal shows. */
function startTerminal(command, env) {
  const terminal = new xterm.Terminal({ ...SIZE, allowProposedApi: true, convertEol: true });
  terminal.write(`\u001b[32m$\u001b[0m ${command}\n`);
  const run = `stty cols ${SIZE.cols} rows ${SIZE.rows}; exec ${command.replace('npx yardmaster', 'node apps/cli/bin/yardmaster.mjs')}`;
  const child = spawn('script', ['-qec', run, '/dev/null'], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '', ...env },
  });
  child.stdout.on('data', (chunk) => terminal.write(chunk));
  const text = () => Array.from({ length: SIZE.rows }, (_, row) => lineOf(terminal, row)).join('\n');
  return { terminal, text, stop: () => child.kill() };
}

const lineOf = ({ buffer }, row) => buffer.active.getLine(buffer.active.viewportY + row)?.translateToString(true) ?? '';

const service = await startService();
let watch;
try {
  const call = async (path, body = {}) => {
    const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await fetch(`${service.url}/api/v1${path}`, request)).json();
  };
  const { id } = await call('/spaces/demo/jobs', { name: 'render-album' });
  const env = { YARDMASTER_URL: service.url, YARDMASTER_API_KEY: service.key };
  watch = startTerminal(`npx yardmaster watch ${id}`, env);
  const shown = async (part) => {
    while (!watch.text().includes(part)) await sleep(20);
  };
  await shown('pending');
  await call('/spaces/demo/jobs/poll');
  await shown('delivered');
  await call(`/jobs/${id}/ack`);
  await shown('acked');
  await call(`/jobs/${id}/checkpoint`, { page: 7 });
  await shown('checkpoint');
  await call(`/jobs/${id}/event`, { warning: 'no colour profile', file: 'cat.png' });
  await shown('cat.png');
  const subProgress = { decode: { percent: 100 }, scale: { percent: 25, message: 'first pass' } };
  await call(`/jobs/${id}/progress`, { percent: 60, message: 'Page 7 of 12', subProgress });
  await shown('first pass');
  await shown('running  0:04');
  writeFileSync(
    `${root}docs/watch.svg`,
    svgOf(watch.terminal, 'A terminal with a job, its progress bars and its events'),
  );
} finally {
  watch?.stop();
  await service.stop();
}
