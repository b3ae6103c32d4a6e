// npm start: install and build, then run the standalone in this process, so that it gets signals. The command
// `yardmaster` and the SDK of the examples are compiled as well, for use in another terminal.
import { setUp } from './set-up.mjs';

setUp('apps/standalone', 'apps/cli', 'sdk/typescript');
await import('../apps/standalone/dist/main.js');
