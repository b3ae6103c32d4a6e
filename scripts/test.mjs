// npm test: install and build, then run Jest. Arguments are passed to Jest: npm test -- test/api
import { JEST, run, setUp } from './set-up.mjs';

setUp();
run(process.execPath, [...JEST, ...process.argv.slice(2)]);
