// Lets a script import the TypeScript of test/support: `import './typescript.mjs'`, then `await import('…/x.ts')`.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
