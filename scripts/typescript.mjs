// Let a script import TypeScript: `import './typescript.mjs'`, then `await import('…/x.ts')`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
