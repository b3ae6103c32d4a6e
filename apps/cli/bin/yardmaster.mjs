#!/usr/bin/env node
import { existsSync } from 'node:fs';

// In a clone where neither `npm start` nor `npm run build` has compiled anything yet.
if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
  const { build } = await import('../../../scripts/set-up.mjs');
  build('apps/cli');
}
await import('../dist/main.js');
