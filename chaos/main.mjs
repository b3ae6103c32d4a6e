// npm run test:long -- faults: load on a whole installation while one part of it fails; see README.md.
import '../scripts/typescript.mjs';
import { run, setUp } from '../scripts/set-up.mjs';

setUp();
// The tests of the suite itself come first, because a wrong checker proves nothing.
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
run(process.execPath, [...node, 'node_modules/jest/bin/jest.js', '--config', 'chaos/jest.config.mjs']);
const { runAll } = await import('./runs/run-all.ts');
process.exitCode = await runAll(process.argv.slice(2));
