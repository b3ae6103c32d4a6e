// npm start: install and build, then run the standalone in this process, so that it gets signals. The command
// `yardmaster` is compiled as well, for use in another terminal.
import { setUp } from './set-up.mjs';

setUp('apps/standalone', 'apps/cli');
await import('../apps/standalone/dist/main.js');
