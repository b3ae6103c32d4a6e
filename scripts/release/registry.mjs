import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { goCommand } from '../go-command.mjs';

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilItResponds(url, child) {
  while ((await fetch(url).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`the registry ended with code ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Run a registry on this machine, which keeps everything in memory, as long as `use` lasts. It gets its host and port. */
export async function withRegistry(use) {
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(goCommand('crane'), ['registry', 'serve', '--address', address], { stdio: 'ignore' });
  try {
    await untilItResponds(`http://${address}/v2/`, child);
    return await use(address);
  } finally {
    child.kill();
  }
}
