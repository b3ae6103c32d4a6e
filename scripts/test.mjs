// npm test: set up what is missing, then run jest. Arguments go to jest: npm test -- test/api
import { run, setUp } from './set-up.mjs';

setUp();
// Jest runs ES modules only with this flag; the warning about it would stand above every run.
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
run(process.execPath, [...node, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)]);
