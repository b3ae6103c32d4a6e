import { rm } from 'node:fs/promises';

export default async function tearDown(): Promise<void> {
  await globalThis.sharedRedis?.server.stop();
  await rm(globalThis.sharedRedis?.dir ?? '', { recursive: true, force: true });
}
