// Import this file first, so that a script can import TypeScript: `await import('…/x.ts')`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
