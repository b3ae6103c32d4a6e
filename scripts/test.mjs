// npm test: install and build, then run jest. Arguments are passed to jest: npm test -- test/api
import { JEST, run, setUp } from './set-up.mjs';

setUp();
run(process.execPath, [...JEST, ...process.argv.slice(2)]);
