// npm run build: everything, the tests' types included.
import { setUp } from './set-up.mjs';

setUp();
