#!/usr/bin/env node
import { existsSync } from 'node:fs';

// In a clone, compile on first use, in case neither `npm start` nor `npm run build` ran before.
if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
  const { build } = await import('../../../scripts/set-up.mjs');
  build('apps/cli');
}
await import('../dist/main.js');
