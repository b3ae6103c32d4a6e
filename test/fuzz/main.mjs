// npm run test:long -- fuzz [-- --short] [--seed S] [--requests N] [--from I]: malformed and unusual requests to every endpoint.
import '../../scripts/typescript.mjs';
import { setUp } from '../../scripts/set-up.mjs';

setUp();
const { fuzz } = await import('./fuzz.ts');
process.exitCode = await fuzz(process.argv.slice(2));
