// The port finder of the tests, which is TypeScript.
import '../scripts/typescript.mjs';

export const { freePort } = await import('../test/support/free-port.ts');
