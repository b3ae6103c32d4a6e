// npm test: install and build, then run jest. Arguments are passed to jest: npm test -- test/api
import { run, setUp } from './set-up.mjs';

setUp();
// Jest runs ES modules only with the first flag; the second hides the warning about it.
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
run(process.execPath, [...node, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)]);
