// npm run test:long -- faults: put load on a whole installation while one part of it fails; see README.md.
import '../scripts/typescript.mjs';
import { JEST, run, setUp } from '../scripts/set-up.mjs';

setUp();
// Test the suite itself first, because a wrong checker proves nothing.
run(process.execPath, [...JEST, '--config', 'chaos/jest.config.mjs']);
const { runAll } = await import('./runs/run-all.ts');
process.exitCode = await runAll(process.argv.slice(2));
