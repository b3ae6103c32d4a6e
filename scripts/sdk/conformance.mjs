// npm run test:long -- conformance [-- arguments of sdk/conformance/main.mjs]: build the programs of all languages, and run the
// scenarios with them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setUp } from '../set-up.mjs';
import { BUILD_GO_DRIVER, python } from './test.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

setUp();
const [go, args] = BUILD_GO_DRIVER;
const built = spawnSync(go, args, { cwd: path('sdk/go'), stdio: 'inherit' });
if (built.error) process.stderr.write(`The SDK for Go needs Go: ${built.error.message}\n`);
python();
const play = [path('sdk/conformance/main.mjs'), '--lanes', '4', ...process.argv.slice(2)];
const played = spawnSync(process.execPath, play, { stdio: 'inherit' });
process.exitCode = built.status === 0 ? (played.status ?? 1) : 1;
