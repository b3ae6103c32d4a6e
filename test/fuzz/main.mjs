// npm run test:long -- fuzz [-- --short] [--seed S] [--requests N] [--path P]: unusual bodies, and bytes that are only nearly HTTP.
import '../../scripts/typescript.mjs';
import { setUp } from '../../scripts/set-up.mjs';

setUp();
const { fuzz } = await import('./fuzz.ts');
process.exitCode = await fuzz(process.argv.slice(2));
