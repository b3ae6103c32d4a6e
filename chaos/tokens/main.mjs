// npm run test:long -- resends, npm run test:long -- stale-workers: evidence that calls with a delivery token are safe; see ../README.md.
import '../../scripts/typescript.mjs';
import { setUp } from '../../scripts/set-up.mjs';

setUp();
const [suite, ...args] = process.argv.slice(2);
const { run } = await import(`./${suite}.ts`);
process.exitCode = await run(args);
