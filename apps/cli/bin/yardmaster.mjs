#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A clone has no compiled code before the first `npm start` or `npm run build`.
if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
  const { build } = await import('../../../scripts/set-up.mjs');
  build('apps/cli');
}
await import('../dist/main.js');
